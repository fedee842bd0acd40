"""What the engine writes is byte for byte what the page shows."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Process, Source
from fairlead.core.outputs import (
    Add,
    After,
    Assignment,
    Cause,
    Cut,
    Decision,
    Drop,
    Gone,
    GroupSummary,
    Holding,
    Move,
    Notice,
    Request,
)
from fairlead.wire.encode import encode
from fairlead.wire.raw import OutgoingRecord, Partitions
from fairlead.wire.topics import TopicNames
from tests.wire.page import labelled, validator
from tests.wire.wire_records import example

NAMES = TopicNames()
PARTITIONS = Partitions(shards=4, assignments=64)
MEMBER = MemberKey("10.0.0.7@4121#1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")
OTHER = MemberKey("10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03")
Q1, Q2, Q3 = (MessageQueue("orders", "main", number) for number in (1, 2, 3))
AFTER = (After(OTHER, Epoch(3, 39)),)
CAUSES = (
    Cause("client_joined", MEMBER.client_id, None, Source("fairlead.heartbeats", 0, 88123, 1)),
)
LIFE = "W3XrV0pUSt2Qh0nHkS5ZtQ"
ASSIGNMENT = Assignment(
    group="orders",
    member=MEMBER,
    generation=3,
    epoch=Epoch(3, 41),
    drop=(Drop(Q3, Epoch(3, 38), "10.0.0.9@18#1", 4),),
    add=(Add(Q2, Epoch(3, 41), Position(0, 9120), "progress", AFTER, LIFE),),
    assigned=(
        Holding(Q1, Epoch(3, 36), "held"),
        Holding(Q3, Epoch(3, 38), "draining"),
        Holding(Q2, Epoch(3, 41), "gated", Position(0, 9120), "progress", AFTER, LIFE),
    ),
    cause=CAUSES,
    at_ms=1781000000000,
)
NOTICE = Notice(
    group="orders",
    member=MEMBER,
    generation=3,
    code="duplicate_client_id",
    message="another process uses this client id; give each process its own",
    winner=Process(1780999999000, "1f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d05"),
    at_ms=1781000000000,
)
DECISION = Decision(
    group="orders",
    epoch=Epoch(3, 41),
    previous_epoch=Epoch(3, 40),
    triggers=("client_joined",),
    cause=CAUSES,
    strategy="AVG",
    members=(OTHER.client_id, MEMBER.client_id),
    moves=(
        Move(Q2, "dropped", OTHER, Epoch(3, 39)),
        Move(Q2, "gated", MEMBER, Epoch(3, 41), Position(0, 9120), "progress"),
    ),
    state=GroupSummary("handing_over", 4, 0, 1, 0),
    failures=(),
    alarms=(),
    clock_ms=86123,
    at_ms=1781000000000,
    cut=Cut(
        3,
        0,
        17,
        positions={"fairlead.releases": {0: 912}, "fairlead.heartbeats": {0: 88124}},
        begin={"fairlead.releases": {0: 912}, "fairlead.heartbeats": {0: 88117}},
    ),
)
REQUEST = Request("orders", "offsets", "orders", (Q2,), None)

KEY = b'["orders","10.0.0.7@4121#1","6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11",%s]'


def _encoded(output: Any) -> list[OutgoingRecord]:
    return encode(output, NAMES, PARTITIONS)


@pytest.mark.parametrize(
    "kind, output, topic, partition, key",
    [
        ("assignment", ASSIGNMENT, "fairlead.assignments", 43, KEY % b"0"),
        ("notice", NOTICE, "fairlead.assignments", 43, KEY % b'"notice"'),
        ("decision", DECISION, "fairlead.decisions", 0, b"orders"),
        ("request", REQUEST, "fairlead.requests", 0, b"orders"),
    ],
)
def test_each_output_is_written_as_on_the_page(
    kind: str, output: Any, topic: str, partition: int, key: bytes
) -> None:
    """An output is written as the page shows it, under its key, in its partition."""
    value = orjson.dumps(example(kind))
    assert _encoded(output) == [OutgoingRecord(topic, partition, key, value)]


def test_an_unsafe_grant_says_so() -> None:
    """What is granted beside somebody who may still be working says so, as the schema has it."""
    moves = (DECISION.moves[0], replace(DECISION.moves[1], unsafe=True))
    cause = Cause("reset", queue=Q2, at=CAUSES[0].at, by="alice", because="a bad batch")
    unsafe = replace(
        DECISION,
        moves=moves,
        cause=(cause,),
        alarms=("mute_member",),
        state=replace(DECISION.state, unsafe=1),
    )
    [record] = _encoded(unsafe)
    assert record.value is not None
    body = orjson.loads(record.value)
    assert [error.message for error in validator("decision").iter_errors(body)] == []
    assert [move.get("unsafe") for move in body["moves"]] == [None, True]
    assert body["state"]["unsafe"] == 1
    assert (body["cause"][0]["by"], body["cause"][0]["because"]) == ("alice", "a bad batch")


def test_an_empty_set_is_a_record() -> None:
    """An empty set is a record with empty lists: it says own nothing."""
    empty = replace(ASSIGNMENT, drop=(), add=(), assigned=(), cause=())
    [record] = _encoded(empty)
    assert record.value == orjson.dumps(
        example("assignment", drop=[], add=[], assigned=[], cause=[])
    )


def test_a_gone_member_leaves_a_null_under_each_key() -> None:
    """A member that is gone leaves a null under each of its keys, the notice's if it was told."""
    gone = Gone("orders", MEMBER, parts=2, notice=True)
    records = _encoded(gone)
    assert [record.key for record in records] == [KEY % b"0", KEY % b"1", KEY % b'"notice"']
    assert {(record.topic, record.partition, record.value) for record in records} == {
        ("fairlead.assignments", 43, None)
    }
    assert [record.key for record in _encoded(Gone("orders", MEMBER, 0))] == [KEY % b"0"]


def test_cause_without_place() -> None:
    """A cause names only what it has."""
    told = replace(ASSIGNMENT, cause=(Cause("trigger"), Cause("route_changed", None, "orders")))
    [record] = _encoded(told)
    assert record.value is not None
    causes = orjson.loads(record.value)["cause"]
    assert causes == [{"kind": "trigger"}, {"kind": "route_changed", "topic": "orders"}]


def test_notice_of_waiting() -> None:
    """Why a member waits is written as the page shows it; another notice has no reason."""
    words = "topic payments does not exist on cluster main; create it there, or correct the "
    told = replace(
        NOTICE, code="waiting", winner=None, reason="topic", message=f"{words}subscription"
    )
    (record,) = encode(told, NAMES, PARTITIONS)
    assert orjson.loads(record.value or b"") == labelled("waiting")
    (over,) = encode(replace(told, reason=None), NAMES, PARTITIONS)
    body = orjson.loads(over.value or b"")
    assert body["reason"] is None
    assert validator("notice").is_valid(labelled("waiting"))
    assert validator("notice").is_valid(body)
    assert not validator("notice").is_valid(body | {"code": "rejected"})


def test_an_explanation_is_one_line() -> None:
    """An explanation is written as one line of limited length, whatever it was."""
    told = replace(NOTICE, message="two\nlines\x1b[31m \ud800 " + "x" * 1000)
    [record] = _encoded(told)
    assert record.value is not None
    message = orjson.loads(record.value)["message"]
    assert message.startswith("two lines [31m ? xxx")
    assert len(message) == 300


def test_the_prefix_of_topics_is_a_setting() -> None:
    """The topics' prefix is a setting."""
    [record] = encode(REQUEST, TopicNames("demo-7."), PARTITIONS)
    assert record.topic == "demo-7.requests"
