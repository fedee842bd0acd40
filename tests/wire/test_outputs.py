"""What the engine writes is byte for byte what the page shows."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.outputs import (
    Cause,
    Gone,
)
from fairlead.wire.encode import encode
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.topics import TopicNames
from tests.kit.protocol_page import labelled, validator
from tests.kit.wire_outputs import (
    ASSIGNMENT,
    CAUSES,
    DECISION,
    MEMBER,
    NAMES,
    NOTICE,
    PARTITIONS,
    Q2,
    REQUEST,
)
from tests.kit.wire_records import example

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
    """A member that is gone leaves a null under each of its keys, the notice's if it had one."""
    gone = Gone("orders", MEMBER, parts=2, notice=True)
    records = _encoded(gone)
    assert [record.key for record in records] == [KEY % b"0", KEY % b"1", KEY % b'"notice"']
    assert {(record.topic, record.partition, record.value) for record in records} == {
        ("fairlead.assignments", 43, None)
    }
    assert [record.key for record in _encoded(Gone("orders", MEMBER, 0))] == [KEY % b"0"]


def test_a_cause_names_only_what_it_has() -> None:
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
