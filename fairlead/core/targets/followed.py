"""Who should own which queue while a group goes back to RocketMQ: as its members would decide.

Each client of RocketMQ computes its share from all ids that the brokers list, whether or not they
subscribe to the topic (RebalanceImpl#rebalanceByTopic). So the strategy sees those ids in place of
client ids, foreign members too: what is theirs has no owner here.
"""

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest, Candidate
from fairlead.core.allocation import described as description_of
from fairlead.core.draft import Draft
from fairlead.core.membership.members import sharing_members
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, Member
from fairlead.core.targets.strategy_answer import STRATEGY_ERROR, read_answer

__all__ = ["allocate_as_followed", "followed_text", "is_returning"]


def is_returning(state: GroupState) -> bool:
    """Tell whether the group goes back to the strategy that its members follow."""
    return state.standing is not None and state.standing.footing is Footing.RETURNING


def followed_text(state: GroupState) -> str:
    """Return what the allocation of a returning group depends on, as one comparable text."""
    assert state.standing is not None, "a returning group stands somewhere"
    names = sorted({member.profile.follows or "" for member in sharing_members(state).values()})
    return " ".join(("returning", *names, *state.standing.foreign))


def allocate_as_followed(draft: Draft, queues: dict[str, tuple[MessageQueue, ...]]) -> Allocation:
    """Ask the strategy that all members follow; only a group with one returns."""
    state = draft.state
    named = {_id_of(member): name for name, member in sharing_members(state).items()}
    follows = {member.profile.follows for member in sharing_members(state).values()}
    strategy = draft.engine.strategies.get(next(iter(follows)) or "") if len(follows) == 1 else None
    if strategy is None:
        missing = AllocationError("unknown_strategy", "the members follow none that is known here")
        return Allocation({}, dict.fromkeys(queues, missing))
    foreign = state.standing.foreign if state.standing is not None else ()
    candidates = tuple(
        Candidate(each, frozenset(queues)) for each in sorted({*named, *foreign}, key=java_order)
    )
    try:
        request = AllocationRequest(state.group, candidates, queues, slots="group")
        answer = read_answer(strategy.allocate(request), queues)
    except AllocationError as error:
        return Allocation({}, dict.fromkeys(queues, error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a user's strategy may raise anything, and must not end the program
        failed = AllocationError(STRATEGY_ERROR, description_of(error))
        return Allocation({}, dict.fromkeys(queues, failed))
    topics = {
        topic: {named[each]: held for each, held in shares.items() if each in named}
        for topic, shares in answer.topics.items()
    }
    return Allocation(topics, answer.failures)


def _id_of(member: Member) -> str:
    plane = member.profile.data_plane
    assert plane is not None, "a member that stands by says where it reads"
    return plane.member
