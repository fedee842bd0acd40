"""One attempt to step one group, and the search for the records on which a step fails.

An attempt has no effect except its result. It starts from the group's bytes, and everything that
can fail for one group (the step, its invariants, encoding state and records) happens inside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairlead.codec.group import encode_group, same_body
from fairlead.codec.liveness import encode_liveness
from fairlead.codec.shard import GroupSlot
from fairlead.core.invariants import check
from fairlead.core.model import Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import Decision, Output
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import due_ms, step
from fairlead.engine.context import ShardContext
from fairlead.engine.outgoing import Stamp, records_of, stamped
from fairlead.engine.parsed_row import Beat, ParsedRow
from fairlead.wire.raw import OutgoingRecord

__all__ = ["POISON_MAX", "Attempt", "Stepped", "dated", "find_poison"]

POISON_MAX = 3
"""The engine gives up so many records of a batch to save their group; beyond: quarantine."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A group after its step: its slot (None: it is forgotten) and what it writes.

    ``ignored``: the places of the records that changed nothing.
    """

    slot: GroupSlot | None
    state: GroupState | None
    outputs: tuple[Output, ...]
    records: tuple[OutgoingRecord, ...]
    counts: Mapping[tuple[str, str], int]
    ignored: frozenset[Source]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Everything that a group's step depends on, except its records.

    ``slot`` and ``state`` are the group before the batch; ``stamp`` goes on every decision.
    """

    group: str
    slot: GroupSlot | None
    state: GroupState | None
    moment: Moment
    engine: EngineRules
    context: ShardContext
    stamp: Stamp

    def run(self, lines: Sequence[ParsedRow]) -> Stepped:
        """Step the group with these records; an exception leaves the group as it was."""
        arrivals = [line.arrival for line in lines]
        result = step(self.state, arrivals, self.moment, self.engine)
        outputs = stamped(result.outputs, self.stamp)
        records = tuple(records_of(outputs, lines, self.context))
        slot = None if result.state is None else self._slot(result.state, outputs)
        return Stepped(slot, result.state, outputs, records, result.counts, result.ignored)

    def passes(self, lines: Sequence[ParsedRow]) -> bool:
        """Tell whether a step with these records succeeds."""
        try:
            self.run(lines)
        except Exception as error:  # noqa: BLE001 - whatever a step raises is its failure
            return reraise_unless_own(error)
        return True

    def _slot(self, state: GroupState, outputs: tuple[Output, ...]) -> GroupSlot:
        check(state, self.engine)
        before = self.slot
        if before is not None and self.state is not None and same_body(self.state, state):
            body, liveness = before.body, encode_liveness(state)
        else:
            body, liveness = encode_group(state)
        phase = before.phase if before is not None else ""
        for output in outputs:
            if isinstance(output, Decision):
                phase = output.state.phase
        return GroupSlot(
            self.group, topics_of(state), phase, due_ms(state, self.engine), body, liveness
        )


def reraise_unless_own(error: Exception) -> bool:
    """Return False for a failure of the step; raise an error again that is not the group's."""
    if isinstance(error, MemoryError):
        raise error
    return False


def topics_of(state: GroupState) -> tuple[str, ...]:
    """Return the topics whose routes concern a group: subscribed by a member, or known."""
    subscribed = {topic for member in state.members.values() for topic in member.topics}
    return tuple(sorted(subscribed | state.routes.keys()))


def dated(state: GroupState | None, beats: Sequence[Beat]) -> GroupState | None:
    """Return the group with these heartbeats counted for leases, and for nothing else.

    The client counts each appended heartbeat, so the engine does too, even if it refuses the
    content (rule H10). The sequence stays, so that the content can still be applied later.
    """
    if state is None or not beats:
        return state
    liveness = dict(state.liveness)
    for member, clock_ms in beats:
        alive = liveness.get(member)
        if alive is not None and alive.seen_ms < clock_ms:
            liveness[member] = replace(alive, seen_ms=clock_ms)
    return replace(state, liveness=liveness)


def find_poison(
    attempt: Attempt, lines: Sequence[ParsedRow]
) -> tuple[Stepped, list[ParsedRow]] | None:
    """Find the few records without which the step succeeds: (the step, those records).

    A step with all of ``lines`` has failed. Lapses count after all records (rule H9), so records
    are never stepped one by one for their effect: the search halves the batch until it has a record
    whose addition makes the step fail. None: the step fails without any record, or on more than
    :data:`POISON_MAX`.
    """
    if not lines or not attempt.passes([]):
        return None
    rest, poison = list(lines), list[ParsedRow]()
    while len(poison) < POISON_MAX:
        passing, failing = 0, len(rest)
        while failing - passing > 1:
            middle = (passing + failing) // 2
            if attempt.passes(rest[:middle]):
                passing = middle
            else:
                failing = middle
        poison.append(rest.pop(failing - 1))
        if attempt.passes(rest):
            return attempt.run(rest), poison
    return None
