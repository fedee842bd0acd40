"""Which of two subscriptions of a topic counts, by their versions.

Source of the rule: RocketMQ's ConsumerGroupInfo#updateSubscription: a subscription replaces the
known one of its topic only if its subVersion is greater, and a topic that a heartbeat no longer
names is forgotten. Here an equal version replaces too: heartbeats of one incarnation are in order,
and a late one has no effect at all.
"""

from fairlead.core.draft import Draft
from fairlead.core.model import Subscription
from fairlead.core.records import Heartbeat
from fairlead.core.state import Member

__all__ = ["SUBSCRIPTION", "newest_subscriptions", "taken_over"]

SUBSCRIPTION = "subscription"
"""Counter of ignored subscriptions: ``stale``, in each heartbeat that says one."""


def newest_subscriptions(draft: Draft, member: Member, beat: Heartbeat) -> tuple[Subscription, ...]:
    """Return a member's subscriptions after a newer heartbeat, and count the stale ones."""
    newest = taken_over(member, beat)
    pairs = zip(newest, beat.subscriptions, strict=True)
    stale = sum(kept.sub_version > sent.sub_version for kept, sent in pairs)
    if stale:
        draft.counts[SUBSCRIPTION, "stale"] += stale
    return newest


def taken_over(member: Member, beat: Heartbeat) -> tuple[Subscription, ...]:
    """Return a member's subscriptions after a newer heartbeat of the same incarnation.

    The heartbeat says which topics. A known subscription with a greater version stays: the sender
    is late with its own change, or its clock was set back.
    """
    if member.subscriptions == beat.subscriptions:
        return member.subscriptions
    known = {subscription.topic: subscription for subscription in member.subscriptions}
    return tuple(
        max(known.get(sent.topic, sent), sent, key=lambda each: (each.sub_version, each is sent))
        for sent in beat.subscriptions
    )
