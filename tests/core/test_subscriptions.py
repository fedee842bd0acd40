"""Which subscription of a topic counts, by its version."""

from fairlead.core.model import MemberKey, Subscription
from tests.kit.group_world import GroupWorld, key_of, settled


def _subscribed(world: GroupWorld, member: MemberKey) -> dict[str, str]:
    assert world.state is not None
    subscriptions = world.state.members[member].subscriptions
    return {subscription.topic: subscription.expression for subscription in subscriptions}


def _with(expression: str, sub_version: int, topic: str = "orders") -> Subscription:
    return Subscription(topic, "tag", expression, sub_version=sub_version)


def test_an_older_version_is_ignored_and_counted() -> None:
    """A heartbeat whose subscription is older than the known one changes nothing of that topic."""
    world = settled("a")
    world.beat("a", topics=[_with("new", 9)])
    world.run()
    world.beat("a", topics=[_with("old", 8), _with("x", 1, "payments")])
    result = world.run()
    assert _subscribed(world, key_of("a")) == {"orders": "new", "payments": "x"}
    assert result.counts["subscription", "stale"] == 1
    world.beat("a", topics=[_with("newest", 10)])
    assert ("subscription", "stale") not in world.run().counts
    assert _subscribed(world, key_of("a")) == {"orders": "newest"}


def test_an_ignored_subscription_decides_nothing() -> None:
    """A client that says again and again what is too old makes no decision by it."""
    world = settled("a")
    world.beat("a", topics=[_with("new", 9)])
    world.run()
    world.beat("a", topics=[_with("old", 8)])
    assert world.run().outputs == ()


def test_an_equal_version_takes_the_place_of_what_was_known() -> None:
    """Heartbeats of an incarnation are in order: at one version the later word holds."""
    world = settled("a")
    world.beat("a", topics=[_with("x", 9)])
    world.beat("a", topics=[_with("y", 9)])
    world.run()
    assert _subscribed(world, key_of("a")) == {"orders": "y"}


def test_a_new_incarnation_starts_afresh() -> None:
    """What another life of the client said before it is not held against it."""
    world = settled("a")
    world.beat("a", topics=[_with("new", 9)])
    world.beat("a", topics=[_with("old", 8)], life=2)
    world.run()
    assert _subscribed(world, key_of("a", 2)) == {"orders": "old"}


def test_a_topic_that_is_dropped_is_unsubscribed_whatever_the_versions() -> None:
    """The newest heartbeat says which topics; one that comes back may have any version."""
    world = GroupWorld()
    world.beat("a", topics=[_with("*", 9), _with("*", 9, "payments")])
    world.publish(1, "orders", "payments")
    world.beat("a", topics=[_with("*", 5)])
    world.run()
    assert [drop.queue.topic for drop in world.told("a").drop] == ["payments"]
    world.beat("a", topics=[_with("*", 5), _with("again", 1, "payments")])
    world.run()
    assert _subscribed(world, key_of("a")) == {"orders": "*", "payments": "again"}
