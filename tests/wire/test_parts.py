"""Long sets are cut into parts, none of them too long."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.handover.staggered_release import TURNS_MS_MAX
from fairlead.core.outputs import (
    ENTRIES_PER_PART,
    Add,
    After,
    Assignment,
    Drop,
    Holding,
    Request,
)
from fairlead.core.records import OffsetsKnown, QueueOffsets
from fairlead.core.rules.group_rules import CHAIN_CAP
from fairlead.wire.encode import OversizeError, encode
from fairlead.wire.encode_bridge import encode_offsets
from fairlead.wire.limits import CAUSES_MAX, DECISION_ENTRIES_PER_PART, INT64_MAX, RECORD_BYTES_MAX
from fairlead.wire.raw import OutgoingRecord, Partitions
from fairlead.wire.topics import TopicNames
from tests.kit.longest_names import (
    EPOCH,
    LONGEST,
    RULE,
    START,
    decision_of_the_longest_names,
    longest_queues,
)
from tests.kit.protocol_page import validator

NAMES = TopicNames()
PARTITIONS = Partitions(shards=4, assignments=64)
LIFE = "i" * 255
AFTER = (After(LONGEST, EPOCH),) * (CHAIN_CAP - 1)
"""As many as a chain of the greatest length allows."""


def _assignment(count: int, *, parts: int, parts_before: int = 0) -> Assignment:
    queues = longest_queues(count)
    return Assignment(
        group="g" * 120,
        member=LONGEST,
        generation=INT64_MAX,
        epoch=EPOCH,
        drop=tuple(Drop(queue, EPOCH, LONGEST.client_id, TURNS_MS_MAX) for queue in queues),
        add=tuple(Add(queue, EPOCH, START, "first_offset", AFTER, LIFE) for queue in queues),
        assigned=tuple(
            Holding(queue, EPOCH, "gated", START, "first_offset", AFTER, LIFE) for queue in queues
        ),
        cause=(RULE,) * 100,
        at_ms=9_999_999_999_999,
        parts=parts,
        parts_before=parts_before,
    )


def _bodies(records: list[OutgoingRecord], kind: str) -> list[dict[str, Any]]:
    """Return what the records say; each must fit, and be what its schema says."""
    bodies = []
    for record in records:
        assert record.value is not None
        assert len(record.value) <= RECORD_BYTES_MAX
        body = orjson.loads(record.value)
        assert [error.message for error in validator(kind).iter_errors(body)] == []
        bodies.append(body)
    return bodies


@pytest.mark.parametrize("count", [1, ENTRIES_PER_PART, ENTRIES_PER_PART + 1, 1000])
def test_a_long_set_goes_into_parts_that_fit(count: int) -> None:
    """A set of the longest names goes into parts that fit, whole and in order."""
    parts = -(-count // ENTRIES_PER_PART)
    told = _assignment(count, parts=parts)
    bodies = _bodies(encode(told, NAMES, PARTITIONS), "assignment")
    assert [(body["part"], body["parts"]) for body in bodies] == [
        (part, parts) for part in range(parts)
    ]
    for name in ("drop", "add", "assigned"):
        entries = [entry["queue"][2] for body in bodies for entry in body[name]]
        assert entries == list(range(count)), name
    assert [len(body["cause"]) for body in bodies] == [CAUSES_MAX] + [0] * (parts - 1)


def test_a_shrunk_set_leaves_nulls_under_unused_keys() -> None:
    """A set that needs fewer parts than before leaves a null under each key not used any more."""
    records = encode(_assignment(1, parts=1, parts_before=3), NAMES, PARTITIONS)
    assert [record.value is None for record in records] == [False, True, True]
    assert len({record.key for record in records}) == 3
    assert len({(record.topic, record.partition) for record in records}) == 1


@pytest.mark.parametrize("count", [0, DECISION_ENTRIES_PER_PART, 500])
def test_a_long_decision_goes_into_parts_that_fit(count: int) -> None:
    """A decision of the longest names goes into parts that fit, one after another under one key."""
    records = encode(decision_of_the_longest_names(count), NAMES, PARTITIONS)
    bodies = _bodies(records, "decision")
    assert [body["part"] for body in bodies] == list(range(len(bodies)))
    assert {body["parts"] for body in bodies} == {len(bodies)}
    assert {record.key for record in records} == {b"g" * 120}
    assert [move["queue"][2] for body in bodies for move in body["moves"]] == list(range(count))
    assert [int(name) for body in bodies for name in body["members"]] == list(range(count))
    assert sum(len(body["failures"]) for body in bodies) == count
    assert [*bodies[0]["cut"]["positions"]["fairlead.heartbeats"]] == ["9", "10"]


def test_a_request_for_many_queues_becomes_several() -> None:
    """A request for many queues becomes several, each standing alone."""
    queues = tuple(longest_queues(2 * ENTRIES_PER_PART + 1))
    request = Request("g" * 120, "offsets", "t" * 249, queues, 1781000000000)
    bodies = _bodies(encode(request, NAMES, PARTITIONS), "request")
    assert [queue[2] for body in bodies for queue in body["queues"]] == list(range(len(queues)))
    assert len(bodies) == 3
    [whole] = _bodies(encode(replace(request, queues=None), NAMES, PARTITIONS), "request")
    assert whole["queues"] is None


def test_an_answer_for_many_queues_becomes_several() -> None:
    """A bridge's answer for many queues becomes several records with keys of their own."""
    known = tuple(
        QueueOffsets(queue, 0, INT64_MAX, START, (9_999_999_999_999, INT64_MAX))
        for queue in longest_queues(ENTRIES_PER_PART + 1)
    )
    records = encode_offsets(OffsetsKnown("g" * 120, "t" * 249, "i" * 255, known), NAMES)
    bodies = _bodies(records, "offsets")
    assert [len(body["queues"]) for body in bodies] == [ENTRIES_PER_PART, 1]
    keys = [orjson.loads(record.key or b"") for record in records]
    assert keys == [["t" * 249, "g" * 120, part] for part in (0, 1)]


def test_a_record_too_long_is_not_written() -> None:
    """A record that would be too long is a named error, and is not written."""
    with pytest.raises(OversizeError, match="the limit is 524288"):
        encode(
            replace(decision_of_the_longest_names(1), strategy="s" * RECORD_BYTES_MAX),
            NAMES,
            PARTITIONS,
        )
