"""Until when a member that the engine does not know may own a queue."""

from fairlead.core.draft import Draft
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import GroupState

__all__ = ["hears_strangers", "may_have_strangers"]


def hears_strangers(draft: Draft, clock_ms: int) -> bool:
    """Tell whether an unknown member that speaks at a clock may work on queues, in this step."""
    moment = draft.moment
    marker = (moment.marker, moment.marker_ms)
    return may_have_strangers(draft.state, draft.rules, clock_ms, marker)


def may_have_strangers(
    state: GroupState,
    rules: GroupRules,
    clock_ms: int,
    marker: tuple[int, int | None],
) -> bool:
    """Tell whether an unknown member that speaks at a clock may work on queues.

    It may in a group's barrier, until lease and margin after the driver's marker: by then the
    engine has heard every live member (rule H18). A mute member may hold the barrier open for
    longer, and quotas would not hold meanwhile.

    Args:
        state: the group.
        rules: those in force for it.
        clock_ms: the clock at a record of heartbeats.
        marker: the highest generation whose marker was read, and the clock at the marker's own
            record; None: not known.
    """
    barrier = state.barrier
    if barrier is None:
        return False
    marked_ms = barrier.marked_ms
    if marked_ms is None and marker[0] >= barrier.generation:
        marked_ms = marker[1]
    if marked_ms is None:
        return True
    since_ms = max(barrier.started_ms, marked_ms)
    return clock_ms <= since_ms + rules.lease_ms + rules.margin_ms
