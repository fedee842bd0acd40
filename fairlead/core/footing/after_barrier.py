"""On which footing a group is when a barrier ends: its members alone know (rule H33).

A state that was put back may be older than what members have read since, and none may be left. So
each member that stands by says in its heartbeats what it does, and takes nothing of an older engine
once it has named the new generation. What one of them holds without a grant only it knows, so the
most cautious word counts.
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.footing.attachment import sharing
from fairlead.core.footing.follow import let_go
from fairlead.core.footing.transitions import Event, move, standing_of
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Cause
from fairlead.core.standby_records import StandbyState
from fairlead.core.standing import Footing

__all__ = ["find_footing", "silent_members"]


def silent_members(draft: Draft, generation: int) -> list[MemberKey]:
    """Return the members that stand by and have not said yet what they do under a generation."""
    said = standing_of(draft).said
    return [
        member.key
        for member in sharing(draft.state)
        if member.profile.follows is not None
        and (member.key not in said or said[member.key].generation < generation)
    ]


def find_footing(draft: Draft, *, lost: bool) -> None:
    """Put the group on the footing that its members show, when their claims have become grants.

    ``lost``: nothing is known from before.
    """
    standing = draft.state.standing
    if standing is None:
        return
    states = {
        standing.said[member.key].state
        for member in sharing(draft.state)
        if member.profile.follows is not None and member.key in standing.said
    }
    found = _found(draft, states)
    if lost and found is not Footing.OWN:
        _forget_resets(draft)
    if found is standing.footing and found is not Footing.FOLLOWING:
        return
    failed = standing.footing is Footing.FREEZING
    move(draft, Event.FOUND, found)
    if found is not Footing.FOLLOWING:
        return
    let_go(draft)
    if failed:
        draft.because_of(Cause(Event.FAILED, because="another engine has begun"))
    elif standing.footing is not Footing.FOLLOWING:
        draft.because_of(Cause(Event.STANDING_BY, because="members follow, as they say"))
    # A newer engine goes on waiting where the one before did.
    draft.state.standing = replace(standing_of(draft), because=standing.because)


def _found(draft: Draft, states: set[StandbyState]) -> Footing | None:
    """Return the footing that members show which say this of themselves."""
    footing = standing_of(draft).footing
    if states & {"follow", "freeze"}:
        return Footing.CONFIRMING if _others_work(draft) else Footing.FOLLOWING
    if "own" in states or footing in (Footing.OWN, Footing.RETURNING):
        return Footing.OWN
    return None


def _forget_resets(draft: Draft) -> None:
    """Forget resets that nobody can have followed by what is known: they may be years old.

    After a loss the engine reads each reset again. Members with grants show which they follow; who
    follows RocketMQ shows none.
    """
    for queue, value in sorted(draft.state.queues.items()):
        if value.asked is not None and not value.chain:
            draft.set_queue(queue, replace(value, asked=None, set_aside=None))


def _others_work(draft: Draft) -> bool:
    """Tell whether a member that cannot follow works on a queue: RocketMQ gives it to another."""
    members = draft.state.members
    return any(
        members[grant.member].profile.follows is None
        for value in draft.state.queues.values()
        for grant in value.grants
    )
