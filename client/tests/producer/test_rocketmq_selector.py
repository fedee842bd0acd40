"""A producer that chooses as RocketMQ does: each line's order, and what it makes of failures."""

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.latency_table import TABLE_4, TABLE_5
from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.produce.target import Target
from fairlead_client.rocketmq.rocketmq_selector import Line, RocketMQSelector

SIX = tuple(Target(Queue("T", broker, number), broker) for broker in "ABC" for number in (0, 1))
A0, A1, B0, B1, C0, C1 = SIX
LINES: tuple[Line, ...] = ("4.9", "5")


def selector(line: Line, *, avoid: bool = True, random: int = 5) -> RocketMQSelector:
    """Return a selector with its line's table, whose every random number is the same."""
    table = TABLE_5 if line == "5" else TABLE_4
    return RocketMQSelector(line, table, lambda: random, avoid=avoid)


def taken(chosen: RocketMQSelector, turns: FairRoundRobin, count: int, now_ms: int) -> list[Target]:
    """Return the next so many queues."""
    return [chosen.select(turns, (), now_ms) for _ in range(count)]


@pytest.mark.parametrize("avoid", [True, False])
@pytest.mark.parametrize("line", LINES)
def test_queues_take_turns_from_a_random_one_on(line: Line, *, avoid: bool) -> None:
    """Queues take turns from a random one on; without any there is a named error."""
    chosen, turns = selector(line, avoid=avoid), FairRoundRobin(SIX, 0)
    assert taken(chosen, turns, 7, 0) == [*SIX, A0]
    with pytest.raises(NoQueueError):
        chosen.select(FairRoundRobin((), 0), (), 0)


@pytest.mark.parametrize("line", LINES)
def test_without_avoidance_the_next_broker_follows_a_failure(line: Line) -> None:
    """The next after a failed A1 is the next broker's first, each time; later messages forget."""
    chosen, turns = selector(line, avoid=False, random=0), FairRoundRobin(SIX, 0)
    after = list[Target]()
    while len(after) < 3:
        if chosen.select(turns, (), 0) == A1:
            assert chosen.failed("A", 1, reachable=False, now_ms=0) == 0
            after.append(chosen.select(turns, ("A",), 0))
    assert after == [B0] * 3
    assert chosen.states() == {}


def test_line_4_may_shorten() -> None:
    """A failed broker is avoided for ten minutes by 4.9, and free after one fast success."""
    chosen, turns = selector("4.9"), FairRoundRobin(SIX, 0)
    assert chosen.failed("A", 1, reachable=False, now_ms=0) == 600_000
    assert {target.broker for target in taken(chosen, turns, 12, 599_999)} == {"B", "C"}
    assert chosen.succeeded("A", 5, now_ms=10) == 0
    assert {target.broker for target in taken(chosen, turns, 6, 10)} == {"A", "B", "C"}
    assert chosen.succeeded("B", 550, now_ms=10) == 30_000


def test_line_5_never_shortens() -> None:
    """A failed broker is avoided for ten seconds by 5, whatever succeeds there meanwhile."""
    chosen, turns = selector("5"), FairRoundRobin(SIX, 0)
    assert chosen.failed("A", 1, reachable=False, now_ms=0) == 10_000
    assert chosen.succeeded("A", 5, now_ms=10) == 9_990
    assert {target.broker for target in taken(chosen, turns, 12, 9_999)} == {"B", "C"}
    assert {target.broker for target in taken(chosen, turns, 6, 10_000)} == {"A", "B", "C"}


def test_line_5_starts_anew_after_a_failure() -> None:
    """A repeated attempt starts from a random index, at another broker than the last."""
    chosen, turns = selector("5", random=3), FairRoundRobin(SIX, 0)
    first = chosen.select(turns, (), 0)
    assert first == C0
    assert chosen.select(turns, ("C",), 0) == A0
    assert chosen.select(turns, ("A",), 0) == C0


def test_when_all_are_avoided_a_silent_broker_comes_last() -> None:
    """When all are avoided, one that answered with an error is passed over, one silent is not."""
    chosen, turns = selector("5"), FairRoundRobin(SIX, 0)
    for broker, is_error in (("A", True), ("B", False), ("C", True)):
        chosen.failed(broker, 1, reachable=is_error, now_ms=0)
    assert {name: state.reachable for name, state in chosen.states().items()} == {
        "A": False,
        "B": True,
        "C": False,
    }
    assert {target.broker for target in taken(chosen, turns, 6, 1)} == {"B"}


def test_line_4_takes_the_least_bad() -> None:
    """When all are avoided 4.9 takes a queue of a broker of the better half, one that is there."""
    chosen, turns = selector("4.9"), FairRoundRobin(SIX, 0)
    for latency_ms, broker in enumerate("CAB"):
        chosen.failed(broker, latency_ms, reachable=True, now_ms=0)
    assert set(taken(chosen, turns, 8, 1)) <= {C0, C1}
    assert turns.targets == SIX


@pytest.mark.parametrize("line", LINES)
def test_leaders_are_the_brokers(line: Line) -> None:
    """On Kafka leaders are avoided; a queue that nobody leads is passed over while others are."""
    leaders = ("1", "2", None, "1")
    led = tuple(Target(Queue("T", "k", number), name) for number, name in enumerate(leaders))
    chosen, turns = selector(line), FairRoundRobin(led, 0)
    assert set(taken(chosen, turns, 6, 0)) == {led[0], led[1], led[3]}
    chosen.failed("1", 1, reachable=False, now_ms=0)
    assert set(taken(chosen, turns, 4, 1)) == {led[1]}
    chosen.failed("2", 9, reachable=False, now_ms=0)
    assert set(taken(chosen, turns, 8, 1)) <= {led[0], led[1], led[3]}
    nobody = FairRoundRobin((led[2],), 0)
    assert chosen.select(nobody, ("1",), 1) == led[2]
    chosen.forget_except(frozenset("2"))
    assert set(chosen.states()) == {"2"}
