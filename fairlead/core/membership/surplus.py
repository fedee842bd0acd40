"""What a group's quota refuses: members, topics and queues beyond it, and state beyond its bytes.

Decides whether a record would make the group greater than its quota allows, or than its part of a
full shard. A quota bounds what comes, never what is there: accepted members, topics and queues
stay, also when the quota is lowered. A refused heartbeat counts for the lease of a known member
(rule H10).

In a barrier no route is refused, and no heartbeat until the engine has heard every live member: the
sender may own queues already, and an owner that the engine does not know would be a second owner.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.membership.strangers import hears_strangers
from fairlead.core.membership.subscriptions import taken_over
from fairlead.core.membership.tombstones import gone_bytes
from fairlead.core.model import Route, Subscription
from fairlead.core.records import Heartbeat
from fairlead.core.rules.quota import QUOTA_MEMBERS, QUOTA_QUEUES, QUOTA_STATE, QUOTA_TOPICS
from fairlead.core.state import GroupState, Member
from fairlead.core.topics.routes import queue_count

__all__ = [
    "SHARE_REMEDY",
    "Surplus",
    "member_bytes",
    "state_bytes",
    "surplus_of_beat",
    "surplus_of_route",
    "without_room",
]

_MEMBER_BYTES = 320
"""About how many bytes a member takes beside its client id and subscriptions."""
_SUBSCRIPTION_BYTES = 80
"""About how many bytes a subscription takes beside its texts."""
_TAG_BYTES = 3
"""How many bytes a tag takes beside its text."""
_QUEUE_BYTES = 90
"""About how many bytes a queue takes beside its name: a grant, a position, a target."""
_ALWAYS = 2**63
"""Later than every clock."""
_RETURNING_BYTES = 1_000
"""A recent client may come back into a full shard if it takes no more than this."""
SHARE_REMEDY: Final = (
    "let the greatest groups have fewer members and topics, or raise the engine's "
    "groups.state_bytes, and engine.java_heap with it"
)
"""What to do when the state of all groups has reached its limit."""
_INCARNATIONS_PER_CLIENT = 2
"""So many incarnations count as one client: a restart must get into a full group."""

Surplus = tuple[str, str, str, str]
"""Why a record is refused: reason, field, detail, remedy."""


def surplus_of_beat(draft: Draft, beat: Heartbeat, clock_ms: int) -> Surplus | None:
    """Return why a heartbeat at this clock asks for more than its group may have; None: it fits."""
    state, quota = draft.state, draft.rules.quota
    if hears_strangers(draft, clock_ms):
        return None
    member = state.members.get(beat.member)
    had = 0 if member is None else len(member.subscriptions)
    if len(beat.subscriptions) > max(quota.topics, had):
        return (
            QUOTA_TOPICS,
            "subscriptions",
            f"a member of this group may subscribe to {quota.topics} topics",
            _remedy("topics", "subscribe to fewer topics"),
        )
    if member is None and _is_full(draft, beat):
        return (
            QUOTA_MEMBERS,
            "client_id",
            f"the group has its {quota.members} members",
            _remedy("members", "stop clients that the group does not need"),
        )
    grown = _growth(state, member, beat)
    part = draft.engine.group_bytes or quota.state_bytes
    if part < quota.state_bytes and _comes_back(draft, beat, clock_ms):
        part = quota.state_bytes
    most = min(part, quota.state_bytes) - gone_bytes(draft, clock_ms)
    if grown and not _fits(draft, grown, most):
        return _no_room(part, quota.state_bytes)
    return None


def without_room(draft: Draft, topics: Iterable[str]) -> set[str]:
    """Return the topics whose routes the group neither requests nor accepts: the shard is full.

    No group adds a topic then: a subscription takes few bytes, but its route brings hundreds of
    queues. The group accepts the route of a topic that it has queues of: it may have forgotten that
    route while nobody subscribed, and the route may change and grow.
    """
    state = draft.state
    if not draft.engine.group_bytes or state.barrier is not None:
        return set()
    unknown = {*topics} - state.routes.keys()
    return unknown - {queue.topic for queue in state.queues} if unknown else unknown


def surplus_of_route(draft: Draft, known: Route | None, route: Route) -> Surplus | None:
    """Return why a route brings more queues than its group may have; None: it fits.

    A route with as many queues as before, or fewer, always fits.
    """
    state, quota = draft.state, draft.rules.quota
    before = 0 if known is None else queue_count(known)
    brought = queue_count(route)
    if state.barrier is not None or brought <= before:
        return None
    there = sum(queue_count(each) for each in state.routes.values())
    if there - before + brought > quota.queues:
        return (
            QUOTA_QUEUES,
            "brokers",
            f"a group that reads {route.topic} may have {quota.queues} queues, and has {there}",
            _remedy("queues", "let the group read fewer topics"),
        )
    if not _fits(draft, (brought - before) * (_QUEUE_BYTES + len(route.topic)), quota.state_bytes):
        return (
            QUOTA_STATE,
            "brokers",
            f"the state of a group that reads {route.topic} may take {quota.state_bytes} bytes",
            _remedy("state_bytes", "let the group read fewer queues"),
        )
    return None


def state_bytes(state: GroupState) -> int:
    """Return about how many bytes the stored group has, without members that are gone.

    The sum uses names and numbers that only a decision changes, so that a replay, which reads all
    records between two decisions at once, gets the same.
    """
    members = sum(member_bytes(member) for member in state.members.values())
    members += sum(member_bytes(each.member) for each in state.awaited.values())
    queues = sum(_QUEUE_BYTES + len(queue.topic) for queue in state.queues)
    return members + queues


def _is_full(draft: Draft, beat: Heartbeat) -> bool:
    members, quota = draft.state.members, draft.rules.quota
    if len(members) < quota.members:
        return False
    if draft.client_ids is None:
        draft.client_ids = {key.client_id for key in members}
    client_id = beat.member.client_id
    if client_id in draft.client_ids or client_id in draft.state.awaited:
        return len(members) >= _INCARNATIONS_PER_CLIENT * quota.members
    return len(draft.client_ids) >= quota.members


def _growth(state: GroupState, member: Member | None, beat: Heartbeat) -> int:
    """Return how many bytes the state grows by a heartbeat."""
    if member is None:
        awaited = state.awaited.get(beat.member.client_id)
        return _beat_bytes(beat) - (0 if awaited is None else member_bytes(awaited.member))
    if member.leaving:
        return 0
    return _room_of(member.key.client_id, taken_over(member, beat)) - member_bytes(member)


def _comes_back(draft: Draft, beat: Heartbeat, clock_ms: int) -> bool:
    """Tell whether a heartbeat is the first one of a small client that was there just now.

    A full shard must not keep a restarted client out.
    """
    if beat.member in draft.state.members or _beat_bytes(beat) > _RETURNING_BYTES:
        return False
    if draft.may_return is None:
        draft.may_return = _who_may_return(draft.state)
    return clock_ms <= draft.may_return.pop(beat.member.client_id, 0)


def _who_may_return(state: GroupState) -> dict[str, int]:
    """Return until when each client may come back: while one incarnation or tombstone is there."""
    incarnations = Counter(key.client_id for key in state.members)
    until_ms = {client_id: _ALWAYS for client_id, number in incarnations.items() if number == 1}
    for key, stone in state.tombstones.items():
        if key.client_id not in incarnations:
            until_ms[key.client_id] = max(until_ms.get(key.client_id, 0), stone.until_ms)
    return until_ms


def _fits(draft: Draft, more: int, most: int) -> bool:
    """Tell whether ``more`` bytes fit below ``most``, and count them if so; less always fits."""
    if draft.state_bytes is None:
        draft.state_bytes = state_bytes(draft.state)
    if more > 0 and draft.state_bytes + more > most:
        return False
    draft.state_bytes += more
    return True


def _no_room(part: int, quota: int) -> Surplus:
    """Return the refusal of a record by which a group exceeds its part of a shard or its quota."""
    if part < quota:
        detail = f"the state of all groups has reached its limit; this group may take {part} bytes"
        return QUOTA_STATE, "group", detail, SHARE_REMEDY
    return (
        QUOTA_STATE,
        "group",
        f"the state of the group may take {quota} bytes",
        _remedy("state_bytes", "let the group have fewer members and topics"),
    )


def member_bytes(member: Member) -> int:
    """Return about how many bytes are stored of a member."""
    return _room_of(member.key.client_id, member.subscriptions)


def _beat_bytes(beat: Heartbeat) -> int:
    return _room_of(beat.member.client_id, beat.subscriptions)


def _room_of(client_id: str, subscriptions: Sequence[Subscription]) -> int:
    texts = sum(
        _size(each.topic)
        + _size(each.expression)
        + sum(map(_size, each.tags))
        + _TAG_BYTES * len(each.tags)
        for each in subscriptions
    )
    return _MEMBER_BYTES + _size(client_id) + texts + _SUBSCRIPTION_BYTES * len(subscriptions)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _remedy(field: str, instead: str) -> str:
    return f"{instead}, or raise the group's quota: fairlead group set GROUP --quota {field}=NUMBER"
