"""The written records as facts: each has a number, and a set of facts is a set of bits.

A fact stays for ever. Each of its readers may read it late, in any order and again.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from fairlead_client.session import events as on

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.outputs import Assignment, Notice
from fairlead.core.records import (
    Arrival,
    Claims,
    GroupRecord,
    Heartbeat,
    Leave,
    Progress,
    Release,
    Reset,
)
from fairlead_proof.sim.wire_shim import event_of, released

__all__ = ["Fact", "Facts", "bits", "epoch_text", "position_text"]

FIRST = Position(0, 0)

Holding = tuple[MessageQueue, MemberKey, Epoch]
"""One grant: the queue, who has it, under which epoch."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A record and how its readers see it. ``text`` is its name in a run."""

    text: str
    arrival: Arrival | None = None
    """What the engine reads; None: it ignores this."""
    event: on.Event | None = None
    """What clients read; None: they ignore this."""
    sender: MemberKey | None = None
    reader: MemberKey | None = None
    """The one client that reads it; None: all do."""
    gates: frozenset[Holding] = frozenset()
    """The grants whose releases it waits for."""
    holding: Holding | None = None
    """The grant that it ends."""
    generation: int = 0


@dataclass(slots=True)
class Facts:
    """Every fact of a search, by number; fact i is bit ``1 << i`` of a set."""

    known: list[Fact] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    for_engines: int = 0
    for_clients: int = 0
    lasting: int = 0
    """Facts that matter to an engine without any grant: members, leaves, and positions beyond the
    first message."""
    unread: int = 0
    """Progress: nothing waits for it."""
    gated: int = 0
    """The facts that wait for releases."""
    resets: int = 0
    releases: dict[Holding, int] = field(default_factory=dict)
    """The releases of each grant."""
    of_member: dict[MemberKey, int] = field(default_factory=dict)
    """The facts of each member that engines read."""

    def sent(self, record: GroupRecord) -> int:
        """Return the bit of a client's record."""
        bit = self._bit(record)
        return bit if bit is not None else self._add(record, _fact_of_sent(record))

    def written(self, output: Assignment | Notice) -> int:
        """Return the bit of an engine's record to a client."""
        event = event_of(output)
        bit = self._bit(event)
        return bit if bit is not None else self._add(event, _fact_of_written(output, event))

    def wanted(self, reset: Reset, number: int) -> int:
        """Return the bit of an operator's reset; ``number``: how many came before it."""
        name = (reset, number)
        bit = self._bit(name)
        if bit is not None:
            return bit
        text = f"the reset of {reset.queue.queue_id} to {number + 1}:{reset.offset}"
        made = self._add(name, Fact(text, arrival_of(reset, number)))
        self.resets |= made
        return made

    def claimed(self, generation: int) -> int:
        """Return the bit of a driver's claim of a generation."""
        event = on.GenerationRead(generation)
        bit = self._bit(event)
        if bit is not None:
            return bit
        text = f"the claim of generation {generation}"
        return self._add(event, Fact(text, event=event, generation=generation))

    def _bit(self, name: Hashable) -> int | None:
        number = self.numbers.get(name)
        return None if number is None else 1 << number

    def _add(self, name: Hashable, fact: Fact) -> int:
        number = len(self.known)
        bit = 1 << number
        self.known.append(fact)
        self.numbers[name] = number
        if fact.arrival is not None:
            self.for_engines |= bit
            self.lasting |= bit * _lasts(fact.arrival.record)
            self.unread |= bit * isinstance(fact.arrival.record, Progress)
            if fact.sender is not None:
                self.of_member[fact.sender] = self.of_member.get(fact.sender, 0) | bit
        if fact.event is not None:
            self.for_clients |= bit
        if fact.gates:
            self.gated |= bit
        if fact.holding is not None:
            self.releases[fact.holding] = self.releases.get(fact.holding, 0) | bit
        return bit


def _lasts(record: GroupRecord) -> bool:
    match record:
        case Release():
            beyond = record.position is not None and record.position > FIRST
            return beyond or record.last_started is not None
        case Progress():
            return any(entry.position > FIRST for entry in record.queues)
    return True


def bits(facts: int) -> Iterator[int]:
    """Yield the numbers of the facts in a set, in order."""
    while facts:
        lowest = facts & -facts
        yield lowest.bit_length() - 1
        facts ^= lowest


def epoch_text(epoch: tuple[int, int]) -> str:
    """Return an epoch as text."""
    return f"{epoch[0]}.{epoch[1]}"


def position_text(position: tuple[int, int]) -> str:
    """Return a position as text, with its reset if there is one."""
    return f"{position[1]}" if position[0] == 0 else f"{position[0]}:{position[1]}"


def arrival_of(record: GroupRecord, offset: int = 0) -> Arrival:
    """Return a record as an arrival; its offset matters only for resets."""
    return Arrival(Source("explored", 0, offset, 0), 0, record)


def _fact_of_sent(record: GroupRecord) -> Fact:
    arrival = arrival_of(record)
    match record:
        case Release():
            where = "never started" if record.position is None else position_text(record.position)
            text = (
                f"{record.member.incarnation}'s release of"
                f" {record.queue.queue_id}@{epoch_text(record.epoch)} ({where})"
            )
            if record.last_started is not None:
                text += f" as it leaves, {_last(record.last_started)}"
            holding = (record.queue, record.member, record.epoch)
            event = on.ReleaseRead(released(record))
            return Fact(text, arrival, event, sender=record.member, holding=holding)
        case Progress():
            entry = record.queues[0]
            text = (
                f"{record.member.incarnation}'s progress on"
                f" {entry.queue.queue_id}@{epoch_text(entry.epoch)}: {entry.position.offset}"
            )
        case Claims():
            claims = ", ".join(
                f"{each.queue.queue_id}@{epoch_text(each.epoch)}"
                f" {'runs' if each.running else 'ended'} at {position_text(each.position)}"
                for each in record.queues
            )
            text = (
                f"{record.member.incarnation}'s acknowledgement of generation"
                f" {record.generation} ({claims or 'nothing'})"
            )
            return Fact(text, arrival, sender=record.member, generation=record.generation)
        case Heartbeat():
            text = f"{record.member.incarnation}'s first heartbeat"
        case Leave():
            text = f"{record.member.incarnation}'s leave"
            if record.last_started is not None:
                text += f", {_last(record.last_started)}"
        case _:
            message = f"nobody sends a {type(record).__name__}"
            raise AssertionError(message)
    return Fact(text, arrival, sender=record.member)


def _last(last_started: Epoch) -> str:
    return f"newest start {epoch_text(last_started)}"


def _fact_of_written(output: Assignment | Notice, event: on.Event) -> Fact:
    reader, generation = output.member, output.generation
    if isinstance(output, Notice):
        return Fact(f"the notice {output.code}", event=event, reader=reader, generation=generation)
    words = [f"drop {drop.queue.queue_id}@{epoch_text(drop.epoch)}" for drop in output.drop]
    gates: set[Holding] = set()
    for add in output.add:
        after = [f"{gate.member.incarnation}@{epoch_text(gate.epoch)}" for gate in add.after]
        behind = f" after {', '.join(after)}" if after else ""
        start = position_text(add.position)
        words.append(f"add {add.queue.queue_id}@{epoch_text(add.epoch)} from {start}{behind}")
    waits = [(entry.queue, entry.after) for entry in output.add]
    waits += [(entry.queue, entry.after) for entry in output.assigned]
    for queue, holders in waits:
        gates.update((queue, holder.member, holder.epoch) for holder in holders)
    text = f"assignment {epoch_text(output.epoch)} of generation {generation}"
    return Fact(
        f"{text} ({'; '.join(words) or 'nothing new'})",
        event=event,
        reader=reader,
        gates=frozenset(gates),
        generation=generation,
    )
