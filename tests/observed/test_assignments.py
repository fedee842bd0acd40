"""What stands in the assignments topic, read back as the engine wrote it."""

from dataclasses import replace

import orjson
import pytest

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.outputs import ENTRIES_PER_PART, After, Assignment, Gone, Holding, Notice
from fairlead.observed.assignments import GroupAssignments
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.wire.encode import encode
from fairlead.wire.raw import OutgoingRecord, Partitions, RawRecord
from fairlead.wire.topics import TopicNames

ONE = MemberKey("c1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")
TWO = MemberKey("c2", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03")
AT_MS = 1_781_000_000_000
FIRST = Epoch(1, 1)


def queue(number: int) -> MessageQueue:
    """Return a queue of orders."""
    return MessageQueue("orders", "main", number)


def told(member: MemberKey, *held: Holding, epoch: Epoch = FIRST, parts: int = 1) -> Assignment:
    """Return an assignment that gives a member these queues."""
    return Assignment("g", member, epoch.generation, epoch, (), (), held, (), AT_MS, parts)


def rows(*outputs: Assignment | Gone | Notice) -> list[RawRecord]:
    """Return the records of outputs, as they are read back."""
    written = [
        record
        for output in outputs
        for record in encode(output, TopicNames(), Partitions(shards=1, assignments=1))
    ]
    return [row_of(record, offset) for offset, record in enumerate(written)]


def row_of(record: OutgoingRecord, offset: int = 0) -> RawRecord:
    """Return a record as it is read back."""
    stamp = (offset, AT_MS, False)
    return RawRecord(record.topic, record.partition, *stamp, record.key, record.value)


def read_sets(written: list[RawRecord], group: str) -> GroupAssignments:
    """Return what these records tell of a group's members."""
    return groups_of(written, group).fold(group).assignments


def groups_of(written: list[RawRecord], group: str) -> ObservedGroups:
    """Return the groups that these records name."""
    groups = ObservedGroups(TopicNames(), Partitions(shards=1, assignments=1), 1_000, only=group)
    groups.apply(written)
    return groups


def test_states() -> None:
    """Each entry has its queue, epoch and state; the newest epoch of a queue counts."""
    gate = After(ONE, Epoch(1, 1))
    gated = Holding(queue(1), Epoch(1, 2), "gated", Position(0, 5), "progress", (gate,))
    found = read_sets(
        rows(
            told(
                ONE,
                Holding(queue(0), Epoch(1, 1), "held"),
                Holding(queue(1), Epoch(1, 1), "draining"),
            ),
            told(TWO, gated, Holding(queue(0), Epoch(0, 9), "held"), epoch=Epoch(1, 2)),
        ),
        "g",
    )
    newest = found.newest()
    assert {each.queue_id: (newest[each][0], newest[each][1].state) for each in newest} == {
        0: (ONE, "held"),
        1: (TWO, "gated"),
    }
    assert found.sets[ONE].at_ms == AT_MS


def test_parts() -> None:
    """A set of several records is whole when all parts of its newest epoch are there."""
    number = 2 * ENTRIES_PER_PART + 7
    held = tuple(Holding(queue(each), Epoch(1, 1), "held") for each in range(number))
    written = rows(told(ONE, *held, parts=3))
    assert len(written) == 3
    whole = read_sets(written, "g").sets[ONE]
    assert (len(whole.entries), whole.complete) == (number, True)
    newer = rows(told(ONE, *held, parts=3, epoch=Epoch(1, 2)))
    part = read_sets([*written, *newer[:2]], "g").sets[ONE]
    assert (len(part.entries), part.complete) == (2 * ENTRIES_PER_PART, False)
    assert read_sets(written[1:], "g").sets == {}


def test_gone() -> None:
    """Who is no more has no set; the newest record of a key counts."""
    member = told(ONE, Holding(queue(0), Epoch(1, 1), "held"))
    assert read_sets(rows(member, Gone("g", ONE)), "g").sets == {}
    assert read_sets(rows(Gone("g", ONE), member), "g").sets.keys() == {ONE}


@pytest.mark.parametrize(
    "key, value",
    [
        (None, b"{}"),
        (b"\xff", b"{}"),
        (b"1", b"{}"),
        (b"[]", b"{}"),
        (b'["g","c1"]', b"{}"),
        (b'["g","c1"]', b"nonsense"),
        (b'["g","c1"]', b"[]"),
        (b'["g","c1"]', b'{"kind":"assignment","group":"g"}'),
    ],
)
def test_what_the_engine_did_not_write(key: bytes | None, value: bytes) -> None:
    """Whatever else stands in the topic is passed over, as clients do."""
    stranger = row_of(OutgoingRecord("fairlead.assignments", 0, key, value), 9)
    groups = groups_of([*rows(told(ONE)), stranger], "g")
    assert set(groups.fold("g").assignments.sets) == {ONE}
    assert groups.other_groups <= {""}


def test_other_groups_and_notices() -> None:
    """Sets of other groups are not read, but their names are known; a notice is no set."""
    notice = Notice("g", ONE, 1, "lapsed", "stop", None, AT_MS)
    written = rows(notice, replace(told(TWO), group="other"))
    groups = groups_of(written, "g")
    assert groups.fold("g").assignments.sets == {}
    assert groups.other_groups == {"other"}
    assert orjson.loads(written[0].key or b"")[3] == "notice"


def test_set_of_a_superseded_engine() -> None:
    """What an older engine writes last is passed over, in place of a newer one's or beside it."""
    newer = told(ONE, Holding(queue(0), Epoch(2, 5), "held"), epoch=Epoch(2, 5))
    older = told(ONE, Holding(queue(1), Epoch(1, 9), "held"), epoch=Epoch(1, 9))
    found = read_sets(rows(newer, older), "g").sets[ONE]
    assert [entry.queue for entry in found.entries] == [queue(0)]
    assert found.epoch == Epoch(2, 5)


def test_parts_that_a_dead_engine_left() -> None:
    """What is left of a dead engine's larger set, not deleted yet, is no part of the new one."""
    many = [Holding(queue(number), Epoch(1, 1), "held") for number in range(ENTRIES_PER_PART + 5)]
    older = told(ONE, *many, parts=2)
    newer = told(ONE, Holding(queue(0), Epoch(2, 5), "held"), epoch=Epoch(2, 5))
    found = read_sets(rows(older, newer), "g").sets[ONE]
    assert [entry.queue for entry in found.entries] == [queue(0)]
    assert found.complete
