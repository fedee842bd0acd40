"""What each step of the script did to the owners: moves, time to converge, queues left."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Closing, EngineKilled, History, StepBegun
from fairlead.verify.tenures import Tenure, Tenures
from fairlead_proof.demo.shares import owners_under
from fairlead_proof.demo.verdict import StepOutcome


def follow_steps(history: History, tenures: Tenures) -> tuple[StepOutcome, ...]:
    """Return the outcome of each step: its window ends where the next one, or the closing, begins.

    When a step is over, every queue that ever had an owner must have one; after the last step,
    every queue of the source. AVG's moves are between its own shares, not from the real ones.
    """
    marks = [record for record in history.steps if isinstance(record, StepBegun | Closing)]
    outcomes: list[StepOutcome] = []
    shares: dict[MessageQueue, str] = {}
    for begun, following in pairwise(marks):
        if not isinstance(begun, StepBegun):
            continue
        end_ns = following.t_ns
        queues: set[MessageQueue] = {
            queue
            for queue, owner_tenures in tenures.by_queue.items()
            if any(tenure.begin_ns < end_ns for tenure in owner_tenures)
        }
        if isinstance(following, Closing):
            queues |= history.source.keys()
        owner_tenures = {queue: tenures.owner(queue, end_ns) for queue in queues}
        owners = {queue: each.client_id if each else None for queue, each in owner_tenures.items()}
        before, shares = shares, _shares_of_avg(owners)
        moved_by_avg = sum(before.get(queue) != owner for queue, owner in shares.items())
        outcomes.append(_outcome(begun, end_ns, owners, moved_by_avg, tenures))
    return tuple(outcomes)


def _shares_of_avg(owners: Mapping[MessageQueue, str | None]) -> dict[MessageQueue, str]:
    """Return who would have which queue under AVG, among those who have any."""
    members = {owner for owner in owners.values() if owner is not None}
    return owners_under("AVG", members, owners) if members else {}


def _outcome(
    step: StepBegun,
    end_ns: int,
    owners: Mapping[MessageQueue, str | None],
    moved_by_avg: int,
    tenures: Tenures,
) -> StepOutcome:
    moved = {
        tenure.queue: tenure
        for tenure in _starts(step.t_ns, end_ns, tenures)
        if _owner_before(tenure.queue, step.t_ns, tenures) != tenure.client_id
    }
    ends = [tenure.begin_ns for tenure in moved.values()]
    return StepOutcome(
        name=step.name,
        moved=len(moved),
        converged_ms=(max(ends) - step.t_ns) / 1e6 if ends else None,
        unowned=tuple(str(queue) for queue in sorted(owners) if owners[queue] is None),
        moved_by_avg=moved_by_avg,
    )


def _starts(begin_ns: int, end_ns: int, tenures: Tenures) -> Iterator[Tenure]:
    for owner_tenures in tenures.by_queue.values():
        yield from (t for t in owner_tenures if begin_ns <= t.begin_ns < end_ns)


def _owner_before(queue: MessageQueue, t_ns: int, tenures: Tenures) -> str | None:
    """The client that owned the queue last before this moment."""
    before = [t.client_id for t in tenures.by_queue[queue] if t.begin_ns < t_ns]
    return before[-1] if before else None


def unanswered_drops(history: History, tenures: Tenures) -> dict[int, tuple[str, ...]]:
    """Per killed generation, the drops that nobody had answered when the engine died.

    A drop was decided by the killed engine, so before its death; and a queue is released only
    after its work stopped, so a stop after the death proves that the answer came after the death.
    No clock of the broker takes part in this.
    """
    owner_tenures: dict[int, tuple[str, ...]] = {}
    for kill in history.steps:
        if isinstance(kill, EngineKilled):
            owner_tenures[kill.generation] = tuple(sorted(_unanswered(kill, history, tenures)))
    return owner_tenures


def _unanswered(kill: EngineKilled, history: History, tenures: Tenures) -> Iterator[str]:
    for decision in history.decisions:
        if decision.generation > kill.generation:
            continue
        for move in decision.moves:
            if move.stage != "dropped":
                continue
            for tenure in tenures.by_queue.get(move.queue, ()):
                dropped = (tenure.client_id, tenure.epoch) == (move.client_id, move.epoch)
                stopped_after = tenure.end_ns is not None and tenure.end_ns > kill.dead_ns
                if dropped and stopped_after and tenure.begin_ns < kill.sent_ns:
                    yield f"{move.queue} dropped by {move.client_id} under {move.epoch}"
