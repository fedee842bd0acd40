"""`fairlead group check --all` where nobody answers what was asked of a bridge."""

import contextlib
import re
import time
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from fairlead.core.outputs import Request
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.encode import encode
from fairlead.wire.raw import OutgoingRecord, Partitions
from streaming.record_writer import write_records
from tests.cli.command import Command

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames
    from tests.streaming.log import Log

ONE = Partitions(1, 1)


@pytest.fixture
def command(settings: Settings, log: "Log", capsys: pytest.CaptureFixture[str]) -> Command:
    """The command on topics that are there, without engine and bridge."""
    del log
    return Command("group", settings, capsys)


def test_silent_bridge(
    command: Command, settings: Settings, topics: "TopicNames", bootstrap: str
) -> None:
    """Requests that nobody answers are told by check --all, with since when and what to do."""
    asked = f"{topics.prefix}asked"
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.create_topics({asked: {"num_partitions": 1, "replication_factor": 1}})
        admin.wait_for_topics([asked])
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for topic, age_s in ((asked, 60), (f"{asked}-not", 50), (asked, 5)):
            (record,) = encode(Request("orders", "route", topic, None, None), topics, ONE)
            producer.send(
                record.topic,
                key=record.key,
                value=record.value,
                partition=0,
                timestamp_ms=round((time.time() - age_s) * 1_000),
            ).get(10)
    found = command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)
    assert found["verdict"] == "problems"
    row = found["bridge"]
    assert (row["problem"], row["for"]) == ("bridge_silent", asked)
    assert re.match(
        "no bridge has answered for 6[0-9] s: no route or offsets were ever", row["says"]
    )
    assert "fairlead bridge kafka --supervise" in row["do"]
    assert "the bridge is silent" in command.text
    write_records(settings.kafka, [OutgoingRecord(topics.name("routes"), 0, b"x", None)])
    assert command("check", "--all")["bridge"] is None
