"""Which of two subscriptions of a topic counts, by their versions.

Source of the rule: RocketMQ's ConsumerGroupInfo#updateSubscription: a subscription replaces the
known one of its topic only if its subVersion is greater, and a topic that a heartbeat no longer
names is forgotten. Here an equal version replaces too: heartbeats of one incarnation are in order,
and one that was overtaken has no effect at all.
"""

from fairlead.core.draft import Draft
from fairlead.core.model import Subscription
from fairlead.core.records import Heartbeat
from fairlead.core.state import Member

__all__ = ["SUBSCRIPTION", "newest_subscriptions", "taken_over"]

SUBSCRIPTION = "subscription"
"""What a subscription counts as that is ignored: ``stale``, in each heartbeat that says it."""


def newest_subscriptions(draft: Draft, member: Member, beat: Heartbeat) -> tuple[Subscription, ...]:
    """Return what a member subscribes to after a newer heartbeat, and count what of it is late."""
    newest = taken_over(member, beat)
    pairs = zip(newest, beat.subscriptions, strict=True)
    stale = sum(kept.sub_version > told.sub_version for kept, told in pairs)
    if stale:
        draft.counts[SUBSCRIPTION, "stale"] += stale
    return newest


def taken_over(member: Member, beat: Heartbeat) -> tuple[Subscription, ...]:
    """Return what a member subscribes to after a newer heartbeat of the same incarnation.

    Which topics, the heartbeat says. Of a topic that was known with a greater version what was
    known stays: its sender is late in telling itself, or its clock was set back.
    """
    if member.subscriptions == beat.subscriptions:
        return member.subscriptions
    known = {subscription.topic: subscription for subscription in member.subscriptions}
    return tuple(
        max(known.get(told.topic, told), told, key=lambda each: (each.sub_version, each is told))
        for told in beat.subscriptions
    )
