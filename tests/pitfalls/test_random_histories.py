"""Random members, phases, views and losses: RocketMQ's way shows two owners and none, ours never.

Both sides live the same history of members; ours may read late what is written for it.
"""

from dataclasses import dataclass
from functools import cache
from random import Random

from fairlead_proof.pitfalls.history import Freezes, Killed, play
from fairlead_proof.pitfalls.ledger import Tally
from fairlead_proof.pitfalls.ours.world import OurWorld
from fairlead_proof.pitfalls.rocketmq.network import Call, Network, Trouble
from fairlead_proof.pitfalls.rocketmq.times import RELEASE_4_9, RELEASE_5_3
from fairlead_proof.pitfalls.rocketmq.world import RocketmqWorld

from tests.pitfalls.lives import FROM_MS, TO_MS, drawn_events, drawn_scene

LIVES = 20
CALLS: tuple[Call, ...] = ("notification", "look_up", "persist", "heartbeat")


@dataclass(frozen=True)
class Life:
    """A history with what goes wrong in it, and what came of it on both sides."""

    seed: int
    somebody_dies: bool
    late_ms: int
    theirs: Tally
    ours: Tally
    unowned_at_the_end: int


def _network(chance: Random, brokers: tuple[str, ...]) -> Network:
    troubles = tuple(
        Trouble(
            chance.choice(CALLS),
            f"c{chance.randrange(6)}",
            from_ms=FROM_MS,
            to_ms=chance.randrange(50_000, 90_000),
            late_ms=chance.choice([None, 200, 3_000]),
            broker=chance.choice(["", *brokers]),
        )
        for _ in range(chance.randint(1, 5))
    )
    asks = tuple((f"c{number}", 0, chance.choice(brokers)) for number in range(6))
    return Network(troubles, asks)


def _live(seed: int) -> Life:
    chance = Random(seed)
    scene = drawn_scene(chance)
    events, network = drawn_events(chance), _network(chance, scene.brokers)
    times = chance.choice([RELEASE_4_9, RELEASE_5_3])
    late_ms = chance.choice([0, 0, 900])
    queues = scene.queues_of("orders")
    theirs = RocketmqWorld(scene, network, times)
    ours = OurWorld(scene, {f"c{number}": chance.randint(0, late_ms) for number in range(6)})
    for world in (theirs, ours):
        play(events, world)
        world.run_until(TO_MS)
    return Life(
        seed,
        any(isinstance(event, Killed | Freezes) for event in events),
        late_ms,
        theirs.ledger.tally(queues, FROM_MS, TO_MS),
        ours.ledger.tally(queues, FROM_MS, TO_MS),
        sum(len(ours.ledger.owners(queue, TO_MS - 1)) != 1 for queue in queues),
    )


@cache
def _lives() -> tuple[Life, ...]:
    return tuple(_live(seed) for seed in range(LIVES))


def test_rocketmq_has_both_in_many_lives() -> None:
    """In a fifth of the lives and more a queue has two owners, in as many one has none."""
    assert sum(bool(life.theirs.twice) for life in _lives()) >= LIVES // 5
    assert sum(bool(life.theirs.nobody) for life in _lives()) >= LIVES // 5
    assert sum(life.theirs.read_twice > 0 for life in _lives()) >= LIVES // 5


def test_rocketmq_has_both_although_nobody_dies() -> None:
    """Losses on the way to living clients are enough for two owners and for none."""
    alive = [life for life in _lives() if not life.somebody_dies]
    assert any(life.theirs.twice for life in alive)
    assert any(life.theirs.nobody for life in alive)


def test_ours_never_has_two_owners() -> None:
    """No queue is ever worked on by two, whatever dies, stands still or is read late."""
    assert [life.seed for life in _lives() if life.ours.twice] == []


def test_ours_reads_nothing_twice_and_loses_no_queue_where_nobody_dies() -> None:
    """Joins, leaves and growth repeat no message; no queue is nobody's unless reading is late."""
    alive = [life for life in _lives() if not life.somebody_dies]
    assert len(alive) >= LIVES // 5
    assert [life.seed for life in alive if life.ours.read_twice] == []
    assert [life.seed for life in alive if life.ours.nobody and not life.late_ms] == []


def test_ours_waits_for_the_dead_no_longer_than_lease_and_margin() -> None:
    """The longest time without an owner is lease and margin, and what a handover takes."""
    longest = 18_000 + 1_000 + 2 * 900
    assert [each.seed for each in _lives() if each.ours.longest_pause_ms > longest] == []


def test_ours_ends_with_one_owner_for_every_queue() -> None:
    """When changes are over, every queue has one owner and nothing waits unread."""
    assert [life.seed for life in _lives() if life.unowned_at_the_end or life.ours.unread] == []
