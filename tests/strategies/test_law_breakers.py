"""Each law finds a strategy that breaks it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest, Strategy
from fairlead.core.model import MessageQueue
from strategies.laws import (
    ALIKE_FEWEST_MOVES,
    ALIKE_ONLY_THE_CHANGE_MOVES,
    ANY_ORDER,
    EVERY_QUEUE_OWNED,
    FREE,
    ONLY_THE_CHANGE_MOVES,
    OTHER_TOPICS_STAY,
    OWNERS_CHANGE_NOTHING,
    TWICE_IS_ONCE,
    BrokenLawError,
    Law,
    check_laws,
    moves_at_most,
    spread_by_topic,
    spread_in_total,
)
from strategies.registry import STRATEGIES

Shares = dict[str, dict[str, tuple[MessageQueue, ...]]]
(
    NOTHING_FAILS, SHARERS_ONLY, QUEUES_OF_THE_TOPIC, ONE_OWNER, SAME_AGAIN, NO_ORDER_OF_MAPPINGS,
    SETTLED,
) = FREE  # fmt: skip


@dataclass(slots=True)
class Bent:
    """AVG, whose answer is bent."""

    bend: Callable[[AllocationRequest, Shares], Shares]
    name: str = "BENT"
    asked: int = 0

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Let AVG answer, then bend it."""
        self.asked += 1
        found = STRATEGIES["AVG"].allocate(replace(request, options={}))
        return Allocation(
            self.bend(request, {name: dict(own) for name, own in found.topics.items()})
        )


def _to_strangers(request: AllocationRequest, shares: Shares) -> Shares:
    """The last member gets all queues of each topic, subscribed or not."""
    del shares
    last = request.candidates[-1].client_id
    return {topic: {last: queues} for topic, queues in request.queues.items()}


def _one_queue_more(request: AllocationRequest, shares: Shares) -> Shares:
    """The last queue's follower is given too, although it does not exist."""
    for topic, queues in request.queues.items():
        more = queues[-1]._replace(queue_id=queues[-1].queue_id + 1)
        shares[topic][next(iter(shares[topic]))] += (more,)
    return shares


def _all_to_all(request: AllocationRequest, shares: Shares) -> Shares:
    """Each subscriber gets everything, as under CONFIG."""
    return {topic: dict.fromkeys(own, request.queues[topic]) for topic, own in shares.items()}


def _first_topic_to_the_last(request: AllocationRequest, shares: Shares) -> Shares:
    """The topic that comes first goes to its last subscriber."""
    topic = next(iter(request.queues))
    return shares | {topic: {list(shares[topic])[-1]: request.queues[topic]}}


def _to_the_next(request: AllocationRequest, shares: Shares) -> Shares:
    """Each queue goes to who follows its owner."""
    for topic, queues in request.queues.items():
        names = list(shares[topic])
        following = dict(zip(names, [*names[1:], names[0]], strict=True))
        owned: dict[str, tuple[MessageQueue, ...]] = dict.fromkeys(names, ())
        for queue in queues:
            owned[following.get(request.owners.get(queue, ""), names[0])] += (queue,)
        shares[topic] = owned
    return shares


def _one_orphan(request: AllocationRequest, shares: Shares) -> Shares:
    """The first share of each topic lacks its first queue."""
    del request
    for own in shares.values():
        first = next(iter(own))
        own[first] = own[first][1:]
    return shares


def _one_for_two(request: AllocationRequest, shares: Shares) -> Shares:
    """Of each topic the first gives its first queue to the last."""
    del request
    for own in shares.values():
        first, *_, last = (*own, *own)
        if first != last:
            own[last] += own[first][:1]
            own[first] = own[first][1:]
    return shares


class Restless(Bent):
    """Answers every second time in another way."""

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Answer as AVG, or as nobody."""
        found = super().allocate(request)
        return found if self.asked % 2 else Allocation({})


class Unwilling(Bent):
    """Fails every topic on purpose."""

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Return failures only."""
        return Allocation({}, dict.fromkeys(request.queues, AllocationError("later", "not now")))


HALF = moves_at_most("half of a topic moves at most", lambda _change, queues, _: queues // 2)
AVG, CIRCLE, HASH, STICKY = (
    STRATEGIES[name] for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY")
)
BREAKERS: tuple[tuple[Law, Strategy], ...] = (
    (SHARERS_ONLY, Bent(_to_strangers)),
    (QUEUES_OF_THE_TOPIC, Bent(_one_queue_more)),
    (ONE_OWNER, Bent(_all_to_all)),
    (SAME_AGAIN, Restless(lambda _, shares: shares)),
    (NO_ORDER_OF_MAPPINGS, Bent(_first_topic_to_the_last)),
    (SETTLED, Bent(_to_the_next)),
    (EVERY_QUEUE_OWNED, Bent(_one_orphan)),
    (NOTHING_FAILS, Unwilling(lambda _, shares: shares)),
    (OWNERS_CHANGE_NOTHING, STICKY),
    (ANY_ORDER, AVG),
    (TWICE_IS_ONCE, AVG),
    (spread_by_topic(1), HASH),
    (spread_by_topic(1), Bent(_one_for_two)),
    (spread_in_total(1), AVG),
    (ALIKE_FEWEST_MOVES, AVG),
    (ALIKE_FEWEST_MOVES, HASH),
    (ONLY_THE_CHANGE_MOVES, AVG),
    (ONLY_THE_CHANGE_MOVES, STICKY),
    (ALIKE_ONLY_THE_CHANGE_MOVES, CIRCLE),
    (OTHER_TOPICS_STAY, STICKY),
    (HALF, CIRCLE),
)


@pytest.mark.parametrize("law, strategy", BREAKERS)
def test_a_broken_law_is_named_with_the_request(law: Law, strategy: Strategy) -> None:
    """The error names the law that a strategy breaks, with the request in ASCII."""
    with pytest.raises(
        BrokenLawError, match=re.escape(f"{strategy.name}: {law.sentence}, but ")
    ) as told:
        check_laws(strategy, law)
    assert str(told.value).isascii()
    assert "\nAllocationRequest(" in str(told.value)


def test_options_that_a_strategy_refuses_are_reported() -> None:
    """The error names options that the strategy refuses: no check would run under them."""
    with pytest.raises(BrokenLawError, match="failed: bad_option: virtual_nodes"):
        check_laws(HASH, options={"virtual_nodes": "many"})


def test_what_a_strategy_raises_is_reported_with_the_request() -> None:
    """The error has what the strategy raised, with the request that made it raise."""
    with pytest.raises(BrokenLawError, match=r"STICKY: it raised .*bad.*\nAllocationRequest\("):
        check_laws(STICKY, options={"bad": 1})
