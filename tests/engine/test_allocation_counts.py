"""Failed attempts to allocate a topic are counted, each one, and nothing else with them."""

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest
from strategies.registry import STRATEGIES
from tests.kit.world import World

SECONDS = 70


class Fails:
    """Allocates like AVG, but fails for one topic, and knows how often it did."""

    name = "AVG"

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.attempts = 0

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Allocate everything but the topic."""
        allocated = STRATEGIES["AVG"].allocate(request)
        if self.topic not in request.queues:
            return allocated
        self.attempts += 1
        others = {name: owned for name, owned in allocated.topics.items() if name != self.topic}
        return Allocation(others, {self.topic: AllocationError("room_unknown", "no room")})


def _settled() -> World:
    """Return two clients that share two topics, and after them a strategy that fails for one."""
    world = World()
    world.topics.tick(1)
    for client_id in ("c1", "c2"):
        world.join(client_id, subscribed=("orders", "payments"))
    world.pass_seconds(6)
    return world


def test_a_topic_that_keeps_failing_counts_each_time() -> None:
    """A topic that fails again and again counts each time, though the alarm is raised once."""
    world, strategy = _settled(), Fails("orders")
    world.strategies = {"AVG": strategy}
    world.pass_seconds(SECONDS)
    assert strategy.attempts > 2
    assert world.counts["allocation_failures/room_unknown"] == strategy.attempts
    assert world.counts["alarms/allocation_failed"] == 1


def test_a_decision_without_an_attempt_counts_nothing() -> None:
    """A decision without an attempt counts nothing, though it names the topic that failed."""
    world, strategy = _settled(), Fails("orders")
    world.strategies = {"AVG": strategy}
    world.join("c3", subscribed=("orders", "payments"))
    world.pass_seconds(SECONDS)
    naming = [entry for entry in world.decisions if entry["failures"]]
    assert len(naming) > world.counts["alarms/allocation_failed"]
    assert world.counts["allocation_failures/room_unknown"] == strategy.attempts
