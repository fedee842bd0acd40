"""A live group, from what stands in Fairlead's topics: members, what they hold, rules and routes.

Decides what of it is sure. Members are those whose heartbeats the engine counts; owners are those
of the newest assignment records. A plan takes a moving queue as already at its destination, whether
or not it was released.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.state import Grant, QueueState
from fairlead.observed.core_group import CoreGroup, core_group
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.forecast import forecast
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.ownership import Share
from fairlead.observed.planned_group import SOMEWHERE, PlannedGroup
from fairlead.wire.assignment_sets import IssuedSet

__all__ = ["LiveGroup", "MovingQueue", "UnknownGroupError", "live_group"]


class UnknownGroupError(LookupError):
    """No record is of this group; ``known``: groups that have records."""

    def __init__(self, group: str, known: frozenset[str]) -> None:
        super().__init__(group)
        self.group = group
        self.known = known


@dataclass(frozen=True, slots=True)
class MovingQueue:
    """A moving queue. ``holder`` None: nobody holds it; ``successor`` None: nobody gets it."""

    queue: MessageQueue
    holder: str | None
    successor: str | None


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """A group as it is now.

    Attributes:
        observed: everything that is known of it.
        planned: the group with each queue where it is or goes to.
        in_force: its rules, and where they come from.
        core: who is in it, as the core knows it.
        passing: the moving queues.
        newest_ms: when the newest heartbeats record of its partition was appended.
        measured_ms: how long a time of progress was read to weigh queues; 0: none was.
        others: other groups that records name.
    """

    observed: ObservedGroup
    planned: PlannedGroup
    in_force: RulesInForce
    core: CoreGroup
    passing: tuple[MovingQueue, ...]
    newest_ms: int | None
    measured_ms: int = 0
    others: frozenset[str] = frozenset()

    @property
    def assigned(self) -> Mapping[MemberKey, IssuedSet]:
        """What each member has to hold."""
        return self.observed.assignments.sets

    def engine(self, now_ms: int) -> EngineLiveness:
        """Return whether an engine runs for the group; ``now_ms``: until when silence counts."""
        return self.observed.facts.engine(self.observed.name, self.core.rules, now_ms)


def live_group(
    observed: ObservedGroup,
    core: CoreGroup | None = None,
    weighed: Callable[[PlannedGroup], PlannedGroup] = lambda planned: planned,
) -> LiveGroup:
    """Return a live group.

    Args:
        observed: what was observed of it.
        core: the group as the core knows it, if that is known already.
        weighed: weighs the queues, which decides where they go.
    """
    core, shares = core or core_group(observed), observed.shares()
    in_force = observed.facts.rules.of(observed.name)
    planned = weighed(_planned_group(core, in_force, shares))
    calm = _calm(planned, shares, observed.assignments.sets)
    passing = tuple(_passing(planned, calm, shares))
    return LiveGroup(observed, calm, in_force, core, passing, observed.newest_beat_ms)


_Shares = Mapping[MessageQueue, list[Share]]
"""Per queue, every member that has a share in it, oldest grant first; at least one."""


def _planned_group(core: CoreGroup, in_force: RulesInForce, shares: _Shares) -> PlannedGroup:
    """Return the group with every grant of its members that may not have ended."""
    state = core.state
    for queue in sorted(shares, key=queue_order):
        newest = shares[queue][-1]
        if newest.member not in state.members:
            continue
        grant = Grant(newest.member, newest.epoch, dropped=newest.state == "draining")
        state.queues[queue] = QueueState(base=SOMEWHERE, chain=(grant,))
    return PlannedGroup(state, core.engine, in_force.values_of_all, core.clock_ms)


def _calm(
    planned: PlannedGroup, shares: _Shares, assigned: Mapping[MemberKey, IssuedSet]
) -> PlannedGroup:
    """Return the group as it will be when everything under way is over.

    A group at rest stays as it is: the plan does not question what the engine decided. If a queue
    is moving or a member waits, the engine's own functions decide where queues go. A paused group
    decides nothing, so every queue stays where it is.
    """
    if planned.rules.pause:
        return planned.owned(planned.owners)
    held, goes_to = planned.owners, forecast(planned).planned.owners
    waits = any(member.key not in assigned for member in planned.members.values())
    moving = any(
        queue not in held and (queue in shares or queue in goes_to) for queue in planned.queues
    )
    return planned.owned(goes_to if waits or moving else held)


def _passing(planned: PlannedGroup, calm: PlannedGroup, shares: _Shares) -> Iterator[MovingQueue]:
    held, goes_to = planned.owners, calm.owners
    for queue in planned.queues:
        successor, of_queue = goes_to.get(queue), shares.get(queue, [])
        holder = of_queue[-1].member.client_id if of_queue else None
        stays = queue in held and held[queue] == successor
        if len(of_queue) > 1 and of_queue[-1].state == "gated":
            holder, stays = of_queue[-2].member.client_id, False
        if not stays and (holder is not None or successor is not None):
            yield MovingQueue(queue, holder, successor)
