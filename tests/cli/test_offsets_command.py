"""`fairlead offsets` on a real broker without an engine: what it reads, shows, checks, writes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.core.model import MessageQueue
from fairlead.core.records import Reset, RuleSet
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode_rule
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import raw_record
from tests.kit.client import Client
from tests.kit.command import Command
from tests.kit.kafka_log import SHARDS, Log
from tests.kit.kafka_topics import commit
from tests.kit.live_system import NOW_MS
from tests.kit.routed_topic import routed_topic

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def command(settings: Settings, capsys: Capture) -> Command:
    """The command of the test."""
    return Command("offsets", settings, capsys)


@pytest.fixture
def topic(bootstrap: str, topics: "TopicNames") -> Iterator[str]:
    """A topic of two queues with ten messages each, a second apart, whose route is published."""
    with routed_topic(bootstrap, topics) as name:
        yield name


def _resets(log: Log) -> list[Reset]:
    """Return what stands in the control topic, read as the engine reads it."""
    found = []
    for record in log.records("control"):
        reset = decode("control", raw_record(record), WireLimits(SHARDS))
        assert isinstance(reset, Reset)
        found.append(reset)
    return found


def test_the_newest_of_commit_progress_and_reset_is_shown(
    command: Command, log: Log, bootstrap: str, topic: str
) -> None:
    """The newest of commit, progress and reset is the position; of another life nothing counts."""
    group = f"{topic}-group"
    commit(bootstrap, group, topic, {0: (4, '{"v":1,"reset":0}'), 1: (2, "")})
    rows = command("show", group)
    assert [(row["position"], row["why"], row["lag_messages"]) for row in rows] == [
        ([0, 4], "committed", 6),
        ([0, 2], "committed", 8),
    ]
    assert [row["queue"] for row in rows] == [[topic, "main", 0], [topic, "main", 1]]
    assert [(row["earliest"], row["end"]) for row in rows] == [(0, 10), (0, 10)]

    client = Client(log, group, "c1", subscribed=(topic,))  # type: ignore[arg-type]
    client.beat()
    client.held = {(topic, "main", 0): ([1, 1], "held")}
    client.work(7)
    log.append_of("heartbeats", group, _told_of_another_life(client, topic))
    (first, second) = command("show", group)
    assert (first["position"], first["why"], first["lag_messages"]) == ([0, 7], "progress", 3)
    assert (second["position"], second["why"]) == ([0, 2], "committed")

    command(
        *("reset", group, "--queue", f"{topic}/1", "--to", "1", "--apply", "--wait", "0"),
        code=ExitCode.ENVIRONMENT,
    )
    offset = log.records("control")[0].offset
    (_, second) = command("show", group)
    assert (second["position"], second["why"]) == ([offset + 1, 1], "reset")


def _told_of_another_life(client: Client, topic: str) -> dict[str, Any]:
    entry = {"queue": [topic, "main", 1], "epoch": [1, 1], "position": [0, 9], "identity": "old"}
    names = {"client_id": client.client_id, "incarnation": client.incarnation}
    return {"kind": "progress", "group": client.group, **names, "queues": [entry]}


def test_without_apply_nothing_is_written(
    command: Command, log: Log, bootstrap: str, topic: str
) -> None:
    """Without --apply it shows what is skipped and read again, per queue, and writes nothing."""
    group = f"{topic}-group"
    commit(bootstrap, group, topic, {0: (4, ""), 1: (9, "")})
    rows = command("reset", group, "--to", f"{NOW_MS + 5_500}ms")
    assert [
        (row["to_offset"], row["skipped_messages"], row["repeated_messages"]) for row in rows
    ] == [
        (6, 2, 0),
        (6, 0, 3),
    ]
    assert {row["answer"] for row in rows} == {"not_written"}
    assert "a dry run: nothing is written; --apply writes it" in command.text
    (row,) = command("reset", group, "--queue", "1", "--to", "latest")
    assert (row["queue"], row["skipped_messages"]) == ([topic, "main", 1], 1)
    assert log.records("control") == []


def test_without_an_engine_the_resets_stand_in_the_log(
    command: Command, log: Log, bootstrap: str, topic: str
) -> None:
    """Without an engine the resets stand in the log, signed and with the topic's life."""
    group = f"{topic}-group"
    rows = command(
        *("reset", group, "--topic", topic, "--to", "5", "--apply", "--wait", "1", "--new-group"),
        *("--by", "alice", "--because", "a bad deploy"),
        code=ExitCode.ENVIRONMENT,
    )
    assert [(row["answer"], row["position"], row["skipped_messages"]) for row in rows] == [
        ("unanswered", None, None),
        ("unanswered", None, None),
    ]
    assert f"{topic}/main/0 and 1 more: no answer within 1 s" in command.text
    assert "No engine runs" in command.text
    data = DataCluster(bootstrap, timeout_ms=10_000, options={})
    identity = data.identity(topic)
    data.close()
    assert _resets(log) == [
        Reset(group, MessageQueue(topic, "main", number), 5, "alice", "a bad deploy", identity)
        for number in (0, 1)
    ]
    records = log.records("control")
    assert [row["at"] for row in rows] == [
        [record.topic, partition_of_group(group, SHARDS), record.offset] for record in records
    ]


def test_a_mistake_is_refused_before_anything_is_written(
    command: Command, log: Log, topic: str
) -> None:
    """The refusal names the flag or queue and what would do, before anything is written."""
    group = f"{topic}-group"
    named, new = ("--topic", topic), (group, "--new-group")
    for arguments, said in (
        ((group, *named, "--to", "oldest"), ["--to: 'oldest' is no place", "earliest, latest"]),
        ((group, *named, "--to", "2026-05-04T10:00:00"), ["a time without its zone", "Z for UTC"]),
        (("*", *named, "--to", "0"), ["GROUP: '*' is no group name"]),
        ((group, "--topic", "a b", "--to", "0"), ["--topic: 'a b' is no topic name"]),
        ((*new, "--topic", "nowhere", "--to", "0"), ["nowhere: no bridge has published a route"]),
        ((*new, "--queue", f"{topic}/3", "--to", "0"), [f"--queue: {topic}/3: the group has no"]),
        (
            (*new, "--queue", f"{topic}/main/2", "--to", "0"),
            [f"{topic}/main/2: no route has this queue", f"{topic} has main/0 to 1"],
        ),
        ((*new, "--to", "0"), ["no member has heartbeat and nothing was committed", "--topic"]),
        ((*new, *named, "--to", "0", "--because", "two\nlines"), ["--because: "]),
    ):
        assert command("reset", *arguments, "--apply", code=ExitCode.USAGE) == []
        for words in said:
            assert words in command.text
    assert log.records("control") == []


def test_a_group_that_nobody_knows(command: Command, log: Log, bootstrap: str, topic: str) -> None:
    """A mistyped group is refused with the nearest that there are; --new-group lets it begin."""
    committed, ruled, member = (f"{topic}-{name}" for name in ("billing", "bills", "orders"))
    commit(bootstrap, committed, topic, {0: (4, "")})
    rule = RuleSet(ruled, "pause", (), True, "alice")  # noqa: FBT003 - the value of the rule
    place = rule_key(ruled, "pause", ()), partition_of_group(ruled, SHARDS)
    log.append("control", encode_rule(rule), *place)
    Client(log, member, "c1", subscribed=(topic,)).beat()  # type: ignore[arg-type]
    log.append("assignments", b"{}", orjson.dumps([f"{topic}-biling-eu", "c1", "i1", 0]))
    reset = ("--topic", topic, "--to", "5", "--apply", "--wait", "0")
    before = len(log.records("control"))
    assert command("reset", f"{topic}-biling", *reset, code=ExitCode.USAGE) == []
    assert f"there is no group {topic}-biling at {bootstrap}" in command.text
    # Who has commits alone may be a native group: it is taken by its name, and not offered.
    nearest = ", ".join((f"{topic}-biling-eu", ruled))
    assert f"The nearest are {nearest}; `fairlead group list` shows all." in command.text
    assert "--new-group" in command.text
    assert command("reset", f"{topic}-biling", *reset[:-3], code=ExitCode.USAGE) == []
    assert command("show", f"{topic}-biling", code=ExitCode.USAGE) == []
    assert f"there is no group {topic}-biling at {bootstrap}" in command.text
    assert len(log.records("control")) == before

    for group in (committed, ruled, member):
        command("reset", group, *reset, code=ExitCode.ENVIRONMENT)
    command("reset", f"{topic}-biling", *reset, "--new-group", code=ExitCode.ENVIRONMENT)
    # By now it is known: its reset stands in the log.
    command("reset", f"{topic}-biling", *reset, code=ExitCode.ENVIRONMENT)
    assert len(log.records("control")) > before
