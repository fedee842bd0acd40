"""From targets to commands: which queue this decision drops where, and grants to whom.

:mod:`fairlead.core.targets.compute` says who should own a queue, and
:mod:`fairlead.core.handover.chain` how it passes from one member to the next. This module walks
over the queues, in order, and asks both.
"""

from fairlead.core.draft import GATE, HANDOVER, Draft
from fairlead.core.footing.looks import reads_rocketmq
from fairlead.core.handover.chain import aim, is_behind_doubt
from fairlead.core.handover.forced_handover import aim_past, is_eager
from fairlead.core.membership.member_disagreement import kept_profile
from fairlead.core.membership.members import shared_topics, sharing_members, subscribed_topics
from fairlead.core.membership.surplus import without_room
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.outputs import Request, What
from fairlead.core.state import GroupState, Member, PendingRequest, QueueState
from fairlead.core.targets.compute import shared_queues
from fairlead.core.targets.queue_measures import forget
from fairlead.core.topics.partitions_added import queues_without_start
from fairlead.core.topics.retry_topic import ON_SUBSCRIPTION, own_retry_topic
from fairlead.core.topics.routes import is_lacking

__all__ = ["aim_queues", "repeat_grants", "request_missing", "request_wait_ms"]

REQUEST_WAIT_MS = 1_000
REQUEST_DOUBLINGS_MAX = 4
MEMBERS_WAIT_MS = 240_000
"""A bridge goes on looking at the members for ten minutes after each request."""
RETRY_DOUBLINGS_MAX = 9
"""For a retry topic that nobody has needed yet: 512 s, while bridges look for it."""


def aim_queues(draft: Draft) -> None:
    """Aim every queue of the group at its target.

    A queue is forgotten when no member subscribes to its topic any more. One that left its topic's
    route keeps its position: it comes back with its broker, or with its permission.
    """
    state = draft.state
    routed = shared_queues(state)
    shared = {queue for held in routed.values() for queue in held}
    winners = sharing_members(state)
    unknown = set(shared_topics(state)) - state.routes.keys()
    topics = {client_id: member.topics for client_id, member in winners.items()}
    eager, cap, clock_ms = is_eager(draft), draft.engine.chain_cap, draft.moment.clock_ms
    epoch = draft.next_epoch()
    for queue in sorted(shared | set(state.queues), key=queue_order):
        if queue.topic in unknown:
            # After a loss the engine may know the owner before the route: the owner goes on.
            continue
        value = state.queues.get(queue, QueueState())
        if winners and queue not in shared and not (value.chain or value.overtaken):
            forget(draft, queue)
            if not _is_kept(value, hidden=queue.topic in routed):
                state.queues.pop(queue, None)
            continue
        owner = state.targets.get(queue) if queue in shared else None
        target = None
        if owner is not None and queue.topic in topics.get(owner, ()):
            winner = winners[owner]
            target = winner.key if eager else _target_if_informed(draft, value, winner)
        if target is not None and _is_at_rest(value, target) and queue in state.queues:
            # Most queues at most times need nothing.
            continue
        if eager:
            aimed = aim_past(draft, value, target)
        else:
            aimed = aim(value, target, epoch, cap, clock_ms)
        draft.set_queue(queue, aimed.queue)
        if aimed.drop is not None:
            draft.new_epoch()
            draft.command_drop(queue, aimed.drop, aimed.add)
            if len(aimed.queue.chain) > 1 and aimed.add is None:
                draft.counts[HANDOVER, "blocked"] += 1
        if aimed.add is not None:
            draft.new_epoch()
            draft.command_add(queue, aimed.add, aimed.queue)


def repeat_grants(draft: Draft) -> None:
    """Write the add of each grant that lost a gate again, with the gates that are left (rule H4).

    This follows the decision: a successor that was dropped meanwhile gets nothing, and the others
    get one add, from the greatest position that is known by now.
    """
    for queue in draft.shortened:
        value = draft.state.queues.get(queue)
        newest = value.chain[-1] if value is not None and value.chain else None
        if value is None or newest is None or newest.dropped:
            continue
        if not draft.epoch_drawn or newest.epoch != draft.state.epoch:
            draft.counts[GATE, "by_engine"] += 1
            draft.command_add(queue, newest, value)


def _is_kept(value: QueueState, *, hidden: bool) -> bool:
    """Tell whether to remember a queue that nobody shares or holds.

    It is kept for a pending reset, and for its position if the route of a topic that the group
    reads does not show it (``hidden``). Another identity of the topic has other queues.
    """
    return value.has_pending_reset or (hidden and value.base is not None)


def _target_if_informed(draft: Draft, value: QueueState, owner: Member) -> MemberKey | None:
    """Return the owner as the target; None while it would wait for a release that it never read."""
    if not value.doubts:
        return owner.key
    # A client looks where the releases end before its first heartbeat. The clock tells its age: it
    # moves by two ticks at most where it stood still before.
    began_ms = draft.moment.append_ms - (draft.moment.clock_ms - owner.joined_ms)
    is_behind = is_behind_doubt(value, owner.key, began_ms + draft.rules.margin_ms)
    return None if is_behind else owner.key


def _is_at_rest(value: QueueState, target: MemberKey) -> bool:
    """Tell whether a queue's only grant is its target's, and not dropped."""
    return len(value.chain) == 1 and not value.chain[0].dropped and value.chain[0].member == target


def request_missing(draft: Draft) -> None:
    """Request the routes and offsets that the group lacks, again if no answer came in time.

    A deleted topic counts as lacking while a member subscribes to it: a bridge may have forgotten
    it when somebody creates it again. Only under a rule the group asks a bridge to create its own
    retry topic: otherwise the member with a message to send back asks for it.
    """
    state = draft.state
    retry = own_retry_topic(state.group)
    to_be_made = draft.rules.retry_topics == ON_SUBSCRIPTION
    wanted: dict[tuple[What, str], tuple[MessageQueue, ...] | None] = {}
    shared = {*shared_topics(state)}
    subscribed = subscribed_topics(state)
    roomless = without_room(draft, subscribed)
    for topic in subscribed:
        if topic in roomless:
            continue
        if draft.ask_routes or is_lacking(state.routes, topic):
            wanted["retry" if to_be_made and topic == retry else "route", topic] = None
        if topic in shared and topic not in state.routes and (topic != retry or to_be_made):
            wanted["offsets", topic] = None
    if any(map(reads_rocketmq, state.members.values())):
        wanted |= {("members", topic): None for topic in subscribed if topic != retry}
    for queue in _pending_queues(state):
        wanted["offsets", queue.topic] = (*(wanted.get(("offsets", queue.topic)) or ()), queue)
    requests: dict[tuple[What, str], PendingRequest] = {}
    for (what, topic), queues in sorted(wanted.items(), key=lambda item: item[0]):
        open_request = state.requests.get((what, topic))
        clock = draft.moment.clock_ms
        if open_request is not None and clock < open_request.asked_ms + request_wait_ms(
            state.group, what, topic, open_request
        ):
            requests[what, topic] = open_request
            continue
        times = 0 if open_request is None else open_request.times
        first = None if open_request is None else open_request.unanswered
        requests[what, topic] = PendingRequest(clock, times + 1, clock if first is None else first)
        draft.requests.append(_request(draft, what, topic, queues))
    state.requests = requests


def request_wait_ms(group: str, what: What, topic: str, request: PendingRequest) -> int:
    """Return how long a request waits for its answer before it is sent again."""
    if what == "members" and request.unanswered is None:
        return MEMBERS_WAIT_MS
    may_be_long = what == "route" and topic == own_retry_topic(group)
    doublings_max = RETRY_DOUBLINGS_MAX if may_be_long else REQUEST_DOUBLINGS_MAX
    return REQUEST_WAIT_MS << min(request.times - 1, doublings_max)


def _pending_queues(state: GroupState) -> list[MessageQueue]:
    pending = [
        queue
        for queue, value in state.queues.items()
        if (value.base is None and not value.chain and queue in state.targets) or value.doubts
    ]
    if state.growing_since_ms is not None:
        pending = list({*pending, *queues_without_start(state)})
    return sorted(pending, key=queue_order)


REQUEST_QUEUES_MAX = 500
"""A request for more queues than this is one for all of the topic."""


def _request(
    draft: Draft, what: What, topic: str, queues: tuple[MessageQueue, ...] | None
) -> Request:
    state = draft.state
    timestamps = [
        kept_profile(state, member.profile).consume_timestamp_ms
        for _, member in sorted(sharing_members(state).items())
        if topic in member.topics
    ]
    if queues is not None and len(queues) > REQUEST_QUEUES_MAX:
        queues = None
    return Request(
        state.group,
        what,
        topic,
        queues,
        timestamps[0] if timestamps and what == "offsets" else None,
    )
