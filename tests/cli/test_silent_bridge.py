"""`fairlead group check --all` where nobody answers what was asked of a bridge."""

import contextlib
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer

from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import BridgeSign, RouteChanged
from fairlead.errors import ExitCode
from fairlead.kafka.record_writer import write_records
from fairlead.settings import Settings
from fairlead.wire.encode import encode
from fairlead.wire.encode_bridge import encode_route, encode_sign
from fairlead.wire.raw import OutgoingRecord, Partitions
from tests.kit.client import Client
from tests.kit.command import Command
from tests.kit.kafka_topics import make_topic

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames
    from tests.kit.kafka_log import Log

ONE = Partitions(1, 1)


@pytest.fixture
def command(settings: Settings, log: "Log", capsys: pytest.CaptureFixture[str]) -> Command:
    """The command on topics that are there, without engine and bridge."""
    del log
    return Command("group", settings, capsys)


def test_check_all_reports_a_silent_bridge(
    command: Command, settings: Settings, topics: "TopicNames", bootstrap: str
) -> None:
    """`check --all` names requests that nobody answers, since when, and what to do."""
    asked = f"{topics.prefix}asked"
    make_topic(bootstrap, asked)
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
    (row,) = found["problem_list"]
    assert (row["problem"], row["for"]) == ("bridge_silent", asked)
    assert re.match("no bridge has answered for [6-9][0-9] s: no bridge has ever told", row["says"])
    assert "fairlead bridge kafka --supervise" in row["remedy"]
    assert "the bridge is silent" in command.text
    write_records(settings.kafka, [OutgoingRecord(topics.name("routes"), 0, b"x", None)])
    assert command("check", "--all")["problem_list"] == []


def test_a_dead_bridge_is_a_finding(
    command: Command, log: "Log", settings: Settings, topics: "TopicNames", bootstrap: str
) -> None:
    """A bridge that died while nobody asked is a finding; one that was stopped is a warning."""
    broker = RouteBroker("main", 6, 1, 1)
    route = encode_route(RouteChanged("orders", Route("orders", "one", (broker,))), topics)
    write_records(settings.kafka, [route])
    sign = BridgeSign("main", "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11", "running", 10_000)
    record = encode_sign(sign, topics)
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        minute_ago = round((time.time() - 60) * 1_000)
        place = {"key": record.key, "value": record.value, "partition": 0}
        producer.send(record.topic, **place, timestamp_ms=minute_ago).get(10)
    found = command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)
    assert (found["verdict"], found["problem_list"][0]["problem"]) == ("problems", "bridge_dead")
    assert "gave its last sign of life at" in found["problem_list"][0]["says"]
    assert "the bridge is dead" in command.text
    assert [each["verdict"] for each in found["bridges"]] == ["dead"]
    # A group that waits for this bridge has the finding too; one that lacks nothing has not.
    for group, topic in (("waits", f"{topics.prefix}new"), ("calm", "orders")):
        make_topic(bootstrap, topic) if group == "waits" else None
        Client(log, group, "c1", subscribed=(topic,)).beat()  # type: ignore[arg-type]
    one = command("check", "waits", code=ExitCode.VERDICT_NEGATIVE)
    (dead,) = [each for each in one["problem_list"] if each["problem"] == "bridge_dead"]
    # How long ago that was has changed since.
    assert {**dead, "says": ""} == {**found["problem_list"][0], "says": ""}
    assert "gave its last sign of life at" in dead["says"]
    calm = command("check", "calm", code=ExitCode.VERDICT_NEGATIVE)
    assert {each["problem"] for each in calm["problem_list"]} == {"engine_silent"}
    write_records(settings.kafka, [encode_sign(replace(sign, state="stopped"), topics)])
    assert command("check", "--all", code=ExitCode.VERDICT_NEGATIVE)["problem_list"] == []
    said = "warning: the bridge of cluster main was stopped at"
    assert said in command.text
    one = command("check", "waits", code=ExitCode.VERDICT_NEGATIVE)
    assert "bridge_dead" not in {each["problem"] for each in one["problem_list"]}
    assert said in command.text
    assert said.removeprefix("warning: ") in str(one["notes"])
