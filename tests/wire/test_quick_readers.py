"""The quick readers see in what an engine writes what the strict ones see."""

from dataclasses import replace
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.outputs import (
    Add,
    After,
    Assignment,
    Cause,
    Cut,
    Decision,
    Drop,
    Failure,
    GroupSummary,
    Holding,
    Move,
    Origin,
)
from fairlead.wire.assignment_records import read_assignment
from fairlead.wire.decision_parts import DecisionParts
from fairlead.wire.decision_records import decisions_of
from fairlead.wire.encode import encode
from fairlead.wire.quick_assignments import part_of
from fairlead.wire.quick_decisions import Part, read_part
from fairlead.wire.raw import RawRecord
from tests.kit.wire_outputs import NAMES, PARTITIONS

INT64_MAX = 2**63 - 1
NUMBERS = st.integers(0, INT64_MAX)
TOPICS = st.sampled_from(("orders", "payments", "%RETRY%g", "t" * 249))
CLIENTS = st.text(min_size=1, max_size=40).map(
    lambda text: "c" + text.encode("utf-8", "ignore").hex()
)
QUEUES = st.builds(
    MessageQueue, TOPICS, st.sampled_from(("main", "b" * 120)), st.integers(0, 2**31 - 1)
)
EPOCHS = st.builds(Epoch, st.integers(1, 2**40), NUMBERS)
POSITIONS = st.builds(Position, NUMBERS, NUMBERS)
MEMBERS = st.builds(MemberKey, CLIENTS, st.uuids().map(str))
TEXTS = st.text(max_size=30)
WHYS = st.sampled_from(("progress", "release", "committed", "first_offset"))
SOURCES = st.builds(Source, TOPICS, st.integers(0, 63), NUMBERS, NUMBERS)
ENDS = st.dictionaries(TOPICS, st.dictionaries(st.integers(0, 63), NUMBERS, max_size=3), max_size=3)
IDENTITIES = st.none() | st.just("W3XrV0pUSt2Qh0nHkS5ZtQ")
CAUSES = st.builds(
    Cause,
    st.sampled_from(("client_joined", "trigger", "rule_set")),
    st.none() | CLIENTS,
    st.none() | TOPICS,
    st.none() | SOURCES,
    st.none() | QUEUES,
)
MOVES = st.builds(
    Move,
    QUEUES,
    st.sampled_from(("dropped", "gated", "granted", "resolved")),
    MEMBERS,
    EPOCHS,
    st.none() | POSITIONS,
    st.none() | WHYS,
    st.booleans(),
)
COUNTS = st.integers(0, 1_000_000)


def _some(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(entries, max_size=7).map(tuple)


DECISIONS = st.builds(
    Decision,
    group=st.just("orders"),
    epoch=EPOCHS,
    previous_epoch=EPOCHS,
    triggers=_some(st.sampled_from(("client_joined", "trigger"))),
    cause=_some(CAUSES),
    strategy=st.sampled_from(("AVG", "STICKY")),
    members=_some(CLIENTS),
    moves=_some(MOVES),
    state=st.builds(
        GroupSummary,
        st.sampled_from(("stable", "handing_over", "empty")),
        COUNTS,
        COUNTS,
        COUNTS,
        COUNTS,
        COUNTS,
    ),
    failures=_some(st.builds(Failure, TOPICS, st.just("raised"), TEXTS)),
    alarms=_some(st.just("barrier_mute")),
    clock_ms=NUMBERS,
    at_ms=NUMBERS,
    cut=st.builds(
        Cut,
        st.integers(1, 2**40),
        st.integers(0, 3),
        NUMBERS,
        ENDS,
        ENDS,
        st.none() | st.builds(Origin, st.integers(1, 2**40), ENDS),
    ),
)
AFTERS = _some(st.builds(After, MEMBERS, EPOCHS))
ASSIGNMENTS = st.builds(
    Assignment,
    group=st.just("orders"),
    member=MEMBERS,
    generation=st.integers(1, 2**40),
    epoch=EPOCHS,
    drop=_some(
        st.builds(Drop, QUEUES, EPOCHS, st.none() | CLIENTS, st.none() | st.integers(0, 99))
    ),
    add=_some(st.builds(Add, QUEUES, EPOCHS, POSITIONS, WHYS, AFTERS, IDENTITIES)),
    assigned=_some(
        st.builds(Holding, QUEUES, EPOCHS, st.sampled_from(("held", "draining")))
        | st.builds(Holding, QUEUES, EPOCHS, st.just("gated"), POSITIONS, WHYS, AFTERS, IDENTITIES)
    ),
    cause=_some(CAUSES),
    at_ms=st.integers(10**12, 10**13 - 1),
)


@given(DECISIONS, st.integers(1, 40))
def test_both_readers_agree_on_decisions(written: Decision, times: int) -> None:
    """Parts, moves, counts and the place of the cut are the same, in however many parts."""
    records = encode(replace(written, moves=written.moves * times), NAMES, PARTITIONS)
    rows = [
        RawRecord(each.topic, each.partition, offset, 5 + offset, False, each.key, each.value)  # noqa: FBT003
        for offset, each in enumerate(records)
    ]
    (strict,) = decisions_of("orders", rows)
    joined: DecisionParts[Part] = DecisionParts()
    wholes = []
    for row in rows:
        group, part = read_part(row)
        assert group == "orders"
        wholes.append(joined.join(part.name, part))
    assert all(each is None for each in wholes[:-1])
    whole = wholes[-1]
    assert whole is not None
    first = whole.parts[0]
    steps = [each for part in whole.parts for each in part.steps]
    assert [tuple(step) for step in steps] == [
        (each.queue, each.stage, each.client_id, each.epoch, each.why, each.unsafe)
        for each in strict.moves
    ]
    state = strict.state
    assert tuple(first.counts) == (
        *(state.queues, state.unassigned, state.in_handover, state.pending, state.unsafe),
    )
    began = 1 if strict.cut.origin is None else strict.cut.origin.generation
    assert (first.epoch, tuple(first.cut)) == (
        strict.epoch,
        (strict.generation, began, strict.cut.step),
    )
    causes = [cause for part in whole.parts for cause in part.body["cause"]]
    assert causes == [*strict.causes]


@given(ASSIGNMENTS)
def test_both_readers_agree_on_assignments(written: Assignment) -> None:
    """Both readers read the same assignment."""
    (record,) = encode(written, NAMES, PARTITIONS)
    assert record.value is not None
    assert part_of(orjson.loads(record.value)) == read_assignment(record.value)
