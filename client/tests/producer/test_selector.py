"""The selector that all threads of a producer share."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from fairlead_client.model import Queue
from fairlead_client.produce.broker_health import BrokerHealth
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.latency_table import TABLE_4
from fairlead_client.produce.selector import FairSelector
from fairlead_client.produce.target import Target

SIX = tuple(Target(Queue("T", broker, number), broker) for broker in "ABC" for number in (0, 1))


def test_eight_threads_take_turns_as_one() -> None:
    """Eight threads at once take turns as one would, while what is known of brokers changes."""
    selector, turns = FairSelector(BrokerHealth()), FairRoundRobin(SIX, 0)
    selector.failed("A", 1, reachable=False, now_ms=0)

    def work(_: int) -> Counter[Target]:
        taken = Counter[Target]()
        for _ in range(1_000):
            target = selector.select(turns, (), 1)
            taken[target] += 1
            assert target.broker is not None
            selector.succeeded(target.broker, 5, now_ms=1)
        return taken

    with ThreadPoolExecutor(8) as pool:
        total = sum(pool.map(work, range(8)), Counter[Target]())
    assert total == dict.fromkeys(SIX[2:], 2_000)


def test_without_avoidance_only_brokers_that_failed_are_skipped() -> None:
    """Without avoidance only the brokers where this very message failed are passed over."""
    selector, turns = FairSelector(BrokerHealth(), avoid=False), FairRoundRobin(SIX, 0)
    selector.failed("A", 1, reachable=False, now_ms=0)
    assert selector.select(turns, (), 1).broker == "A"
    assert selector.select(turns, ("A",), 1).broker == "B"


def test_with_the_table_of_4_a_broker_is_avoided_for_ten_minutes() -> None:
    """With the table of RocketMQ 4 a failed broker is avoided for ten minutes."""
    selector = FairSelector(BrokerHealth(TABLE_4))
    assert selector.failed("A", 1, reachable=False, now_ms=0) == 600_000
    assert selector.succeeded("B", 550, now_ms=0) == 30_000
    selector.forget_except(frozenset("B"))
    assert set(selector.states()) == {"B"}
