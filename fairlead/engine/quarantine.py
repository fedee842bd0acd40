"""Quarantine: a group whose step raises does not stop the others.

First the engine looks for the few records on which the step fails, and refuses them. If that does
not help, it rolls the group back to its state before the batch and sets it aside: heartbeats still
count for leases, nobody lapses, and rows wait (rule H20). The engine tries again at each trigger
period, when a driver starts, and when the rules of all groups change. Every failed attempt is in
the audit record, so that a replay tries at the same cuts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from traceback import format_exception

from fairlead.codec.liveness import encode_liveness
from fairlead.codec.quarantine import Quarantine
from fairlead.codec.shard import GroupSlot
from fairlead.core.draft import GATE, HANDOVER, HANDOVER_MS, SLOW_HANDOVER
from fairlead.core.handover.fencing import FENCED
from fairlead.core.handover.pull_idle import PULL_IDLE
from fairlead.core.model import Source
from fairlead.core.outputs import Decision, Output
from fairlead.core.state import GroupState
from fairlead.core.targets.compute import FAILED_ALLOCATION
from fairlead.engine.audit import decision_of
from fairlead.engine.context import StepFailure
from fairlead.engine.group_step import Attempt, Stepped, dated, find_poison, reraise_unless_own
from fairlead.engine.outgoing import STEP_FAILED, records_of, rejection_of, stamped
from fairlead.engine.parsed_row import ParsedRow
from fairlead.engine.quarantine_rows import Held, hold
from fairlead.engine.reading import beats_of
from fairlead.wire.raw import OutgoingRecord

__all__ = ["GroupResult", "advance", "counted_name", "set_aside"]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """What a batch did with one group. ``slot`` None: the group is unknown or forgotten.

    ``ignored``: the places of the records that changed nothing. ``waits``: it is in quarantine, and
    its records wait.
    """

    slot: GroupSlot | None
    outputs: tuple[Output, ...] = ()
    records: tuple[OutgoingRecord, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    failure: StepFailure | None = None
    ignored: frozenset[Source] = frozenset()
    waits: bool = False


def advance(attempt: Attempt, lines: Sequence[ParsedRow]) -> GroupResult:
    """Step a group with its records, and with those that waited if it is in quarantine."""
    held = hold(lines) if _quarantine_of(attempt) is not None else Held(list(lines), 0, 0)
    try:
        stepped = attempt.run(held.lines)
    except Exception as error:  # noqa: BLE001 - whatever a step raises concerns its group alone
        reraise_unless_own(error)
        return _after_failure(attempt, held, error)
    return _after_success(attempt, stepped, held)


def set_aside(attempt: Attempt, lines: Sequence[ParsedRow]) -> GroupResult:
    """Let the records of a group in quarantine wait; count its heartbeats for leases."""
    quarantine = _quarantine_of(attempt)
    assert quarantine is not None
    held = hold(lines)
    waiting = replace(
        quarantine,
        overflow=quarantine.overflow or held.given_up > 0,
        rows=tuple(line.row for line in held.lines),
    )
    state = dated(attempt.state, beats_of(lines))
    return GroupResult(_aside(attempt, state, waiting), counts=_count_held(held), waits=True)


def _quarantine_of(attempt: Attempt) -> Quarantine | None:
    return None if attempt.slot is None else attempt.slot.quarantine


def _count_held(held: Held) -> tuple[tuple[str, int], ...]:
    counts = ("rows/superseded", held.superseded), ("rows/given_up", held.given_up)
    return tuple((name, number) for name, number in counts if number)


_FAMILIES = {
    FENCED: FENCED,
    FAILED_ALLOCATION: "allocation_failures",
    HANDOVER: "handovers",
    SLOW_HANDOVER: "slow_handovers",
    GATE: "gates",
}
"""Counter of a step -> metric family; every other counter is a kind of records."""


def counted_name(kind: str, outcome: str) -> str:
    """Return the shard's name of a step's counter."""
    if kind in (HANDOVER_MS, PULL_IDLE):
        return kind
    family = _FAMILIES.get(kind, f"events/{kind}")
    return f"{family}/{outcome}"


def _after_success(attempt: Attempt, stepped: Stepped, held: Held) -> GroupResult:
    counts = [
        (counted_name(kind, outcome), number)
        for (kind, outcome), number in sorted(stepped.counts.items())
        if number
    ]
    left: tuple[Output, ...] = ()
    slot = stepped.slot
    if _quarantine_of(attempt) is not None:
        decision = decision_of(attempt, stepped.state, "quarantine_left")
        slot = None if slot is None else slot._replace(phase=decision.state.phase)
        left = stamped((decision,), attempt.stamp)
        counts.append(("groups/quarantine_left", 1))
    return GroupResult(
        slot,
        (*stepped.outputs, *left),
        (*stepped.records, *records_of(left, (), attempt.context)),
        (*counts, *_count_held(held), ("groups/stepped", 1)),
        ignored=stepped.ignored,
    )


def _after_failure(attempt: Attempt, held: Held, error: Exception) -> GroupResult:
    trace = "".join(format_exception(error))
    failure = StepFailure(attempt.group, type(error).__name__, trace)
    state = dated(attempt.state, beats_of(held.lines))
    saved = find_poison(replace(attempt, state=state), held.lines)
    if saved is None:
        return _quarantined(attempt, state, held, failure)
    stepped, poison = saved
    visit = _after_success(attempt, stepped, held)
    letters = tuple(rejection_of(line, failure.error) for line in poison)
    return GroupResult(
        visit.slot,
        (*visit.outputs, *letters),
        (*visit.records, *records_of(letters, poison, attempt.context)),
        (*visit.counts, ("steps/failed", 1), ("steps/saved", 1)),
        failure,
        visit.ignored,
    )


def _quarantined(
    attempt: Attempt, state: GroupState | None, held: Held, failure: StepFailure
) -> GroupResult:
    before = _quarantine_of(attempt)
    clock_ms = attempt.moment.clock_ms
    if before is None:
        held = hold(held.lines)
        before = Quarantine(clock_ms, clock_ms, 0, failure.error)
    elif state is None and _is_forsaken(attempt, held.lines):
        visit = GroupResult(None, counts=(("steps/failed", 1),), failure=failure, waits=True)
        return _with_decision(attempt, decision_of(attempt, None, "group_evicted"), visit)
    waiting = Quarantine(
        before.since_ms,
        clock_ms + attempt.engine.defaults.trigger_ms,
        before.failures + 1,
        failure.error,
        before.overflow or held.given_up > 0,
        tuple(line.row for line in held.lines),
    )
    counts = [("steps/failed", 1), *_count_held(held)]
    if waiting.failures == 1:
        counts.append(("groups/quarantined", 1))
    slot = _aside(attempt, state, waiting)
    visit = GroupResult(slot, counts=tuple(counts), failure=failure, waits=True)
    alarms = (STEP_FAILED,)
    decision = decision_of(attempt, state, "quarantined", phase="quarantined", alarms=alarms)
    return _with_decision(attempt, decision, visit)


def _is_forsaken(attempt: Attempt, lines: Sequence[ParsedRow]) -> bool:
    """Tell whether a group without state got no record for as long as groups are kept."""
    newest = max((line.row.clock_ms for line in lines), default=0)
    return attempt.moment.clock_ms - newest >= attempt.engine.evict_after_ms


def _with_decision(attempt: Attempt, decision: Decision, visit: GroupResult) -> GroupResult:
    outputs = stamped((decision,), attempt.stamp)
    return replace(visit, outputs=outputs, records=tuple(records_of(outputs, (), attempt.context)))


def _aside(attempt: Attempt, state: GroupState | None, quarantine: Quarantine) -> GroupSlot:
    before = attempt.slot
    if before is None:
        before = GroupSlot(attempt.group, (), "", 0, b"", b"")
    return before._replace(
        phase="quarantined",
        due_ms=quarantine.retry_ms,
        liveness=b"" if state is None else encode_liveness(state),
        quarantine=quarantine,
    )
