"""The doctor with real brokers: what is there, what is set otherwise, and what does not answer."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType

from fairlead.cli.main import main
from fairlead.core.outputs import Request
from fairlead.core.records import Generation, Tick
from fairlead.doctor import Answer, CheckContext, Status, examine_all
from fairlead.doctor.catalogue import CHECKS, Scope
from fairlead.errors import ExitCode
from fairlead.settings import load_settings
from fairlead.wire.encode import encode, encode_generation, encode_tick
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames
from tests.answers.schema import assert_answers
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen
from tests.kit.kafka_topics import delete_topics

BEFORE = {
    "broker": Status.OK,
    "topics": Status.OK,
    "copies": Status.OK,
    "lease": Status.OK,
    "permissions": Status.OK,
    "engine": Status.WARN,
    "clock": Status.UNKNOWN,
    "bridge": Status.UNKNOWN,
    "state": Status.OK,
}
OF_CLUSTER = [check for check in CHECKS if check.scope is Scope.CLUSTER]


def _context(bootstrap: str, prefix: str, folder: Path) -> CheckContext:
    own = {
        "kafka.bootstrap": bootstrap,
        "kafka.topic_prefix": prefix,
        "engine.checkpoint": str(folder / "checkpoint"),
        "engine.tick_ms": 200,
    }
    return CheckContext(load_settings(overrides={**FEW_PARTITIONS, **own}))


def _statuses(context: CheckContext) -> Mapping[str, list[tuple[Status, str]]]:
    found: dict[str, list[tuple[Status, str]]] = {}
    for each in examine_all(context, OF_CLUSTER):
        found.setdefault(each.check, []).append((each.answer.status, each.answer.says))
    context.cluster.close()
    return found


@pytest.fixture
def producer(bootstrap: str) -> Iterator[KafkaProducer]:
    """A producer of records of anybody's."""
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap, acks="all")) as producer:
        yield producer


def test_before_and_with_an_engine(
    topics: TopicNames, bootstrap: str, producer: KafkaProducer, tmp_path: Path
) -> None:
    """Topics as they must be are well; an engine is seen by its ticks, a missing bridge by none."""

    def look() -> Mapping[str, list[tuple[Status, str]]]:
        return _statuses(_context(bootstrap, topics.prefix, tmp_path))

    def are_before(found: Mapping[str, list[tuple[Status, str]]]) -> bool:
        statuses = {name: [status for status, _ in answers] for name, answers in found.items()}
        return statuses == {name: [status] for name, status in BEFORE.items()}

    # A check has its time: on a busy machine it says that it was out of it, and is asked again.
    await_seen(look, are_before, what="answers before there is an engine")

    claim = encode_generation(
        Generation("6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11", time.time_ns() // 1_000_000, "1"), topics
    )
    producer.send(claim.topic, key=claim.key, value=claim.value, partition=0).get(10)
    old_ms = time.time_ns() // 1_000_000 - 60_000
    # Of a topic that is there: nobody is silent about another one.
    asked = Request("orders", "route", topics.name("control"), None, None)
    for record in encode(asked, topics, Partitions(4, 4)):
        place = {"key": record.key, "value": record.value, "partition": 0}
        producer.send(record.topic, **place, timestamp_ms=old_ms).get(10)

    def look_after_ticks() -> Mapping[str, list[tuple[Status, str]]]:
        for shard in range(4):
            # Any client may write the second one, and no engine has claimed its generation.
            for generation in (1, 1_000_000):
                tick = encode_tick(Tick(generation))
                producer.send(topics.name("heartbeats"), value=tick, partition=shard)
        producer.flush()
        return look()

    found = await_seen(
        look_after_ticks,
        lambda found: found["engine"][0][0] is Status.OK and found["bridge"][0][0] is Status.FAIL,
        what="an engine that ticks, and a bridge that does not answer",
    )
    assert "of generation 1, in every shard" in found["engine"][0][1]


WRONG = ("message.timestamp.type is CreateTime", "retention.ms is 1000", "missing: ")


def _answers(context: CheckContext) -> list[Answer]:
    checks = [check for check in OF_CLUSTER if check.name in ("broker", "topics")]
    return [each.answer for each in examine_all(context, checks) if each.check == "topics"]


def test_a_wrong_topic_fails_and_a_costly_one_warns(
    topics: TopicNames, bootstrap: str, tmp_path: Path
) -> None:
    """What makes decisions wrong fails, what only costs is a warning; each says how to mend it."""
    changes = {
        "heartbeats": {"message.timestamp.type": "CreateTime"},
        "decisions": {"retention.ms": "1000"},
    }
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.alter_configs(
            [
                ConfigResource(ConfigResourceType.TOPIC, topics.name(suffix), configs=configs)
                for suffix, configs in changes.items()
            ]
        )
        admin.delete_topics([topics.name("rejects")])

    def told() -> dict[str, Answer]:
        context = _context(bootstrap, topics.prefix, tmp_path)
        found = {
            part: answer for part in WRONG for answer in _answers(context) if part in answer.says
        }
        context.cluster.close()
        return found

    # Brokers learn of changes one after another.
    found = await_seen(told, lambda found: len(found) == len(WRONG), what="three answers")
    date, kept, missing = (found[part] for part in WRONG)
    assert date.status is Status.FAIL
    assert f"--topic '{topics.name('heartbeats')}'" in date.remedy
    assert date.remedy.endswith("--add-config message.timestamp.type=LogAppendTime")
    assert kept.status is Status.WARN
    assert (missing.status, topics.name("rejects") in missing.says) == (Status.FAIL, True)


def test_deleted_while_looked_at(topics: TopicNames, bootstrap: str, tmp_path: Path) -> None:
    """A topic deleted after it was described is missing, and its rights are no failure."""
    context = _context(bootstrap, topics.prefix, tmp_path)
    assert "rejects" in context.cluster.described
    delete_topics(context.cluster.admin, [topics.name("rejects")])
    missing, rest = _answers(context)
    context.cluster.close()
    assert (missing.status, missing.says) == (Status.FAIL, f"missing: {topics.name('rejects')}")
    assert rest.status is Status.OK


@pytest.mark.parametrize("broker", ["closed", "silent"])
def test_without_brokers_it_ends_in_time_with_3(
    broker: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With brokers that are gone, or take connections and say nothing, it ends in time, with 3."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        if broker == "silent":
            listening.listen()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        config = tmp_path / "mine.toml"
        config.write_text(f'[engine]\ncheckpoint = "{tmp_path}/state"\n', encoding="utf-8")
        begun = time.monotonic()
        with pytest.raises(SystemExit) as end:
            main(["doctor", "--bootstrap", address, "--config", str(config), "-o", "json"])
        assert time.monotonic() - begun < 15
    written = capsys.readouterr()
    assert end.value.code == ExitCode.ENVIRONMENT
    answers = json.loads(written.out)
    assert_answers("Examined", answers)
    rows = {row["check"]: row for row in answers}
    assert rows["broker"]["status"] == "FAIL"
    assert rows["broker"]["remedy"]
    assert rows["topics"]["status"] == "unknown"
    assert rows["java"]["status"] == "ok"
    assert "no broker answers" in written.err
