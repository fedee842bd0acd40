"""Thin clients that stand by are taken over and given back by a whole engine, in memory.

No two of them work on a queue that the engine has granted one of them, and none skips a message:
the world asserts both at each step.
"""

from random import Random

import pytest
from fairlead_client.session.states import Standing

from tests.kit.thin_followers import ThinWorld

QUEUES = 4


def began(seed: int, *, loses: float = 0.0, replaces: float = 0.0) -> ThinWorld:
    """Return a group of three clients that follow."""
    world = ThinWorld(chance=Random(seed), loses=loses, replaces=replaces)
    world.set_up()
    for client_id in "abc":
        world.follow_thin(client_id)
    world.until("following", 60)
    return world


def settle(world: ThinWorld, seconds: int = 240) -> None:
    """Let time pass until the engine owns the group, and each queue has its one owner."""
    for _ in range(seconds):
        alive = [thin for thin in world.thins if not thin.gone]
        held = [queue for thin in alive for queue in thin.held]
        own = all(thin.session.standing is Standing.OWN for thin in alive)
        moving = world.decisions[-1]["state"]["in_handover"]
        if own and world.footing() == "own" and not moving and len(held) == QUEUES:
            assert len(set(held)) == QUEUES
            return
        world.go_on_thin(1)
    states = [(each.client_id, each.session.standing, each.names) for each in world.thins]
    raise AssertionError((world.decisions[-1], states))


def give_back(world: ThinWorld) -> None:
    """Let the group go back, until everybody follows: who lost its lease joins again first."""
    world.topics.rule("orders", "take_over", "never")
    world.until("following", 150)
    for _ in range(60):
        alive = [thin for thin in world.thins if not thin.gone]
        if {thin.session.standing for thin in alive} == {Standing.FOLLOW}:
            break
        world.go_on_thin(1)
    assert {thin.session.standing for thin in alive} == {Standing.FOLLOW}
    assert sorted(queue.queue_id for thin in alive for queue in thin.held) == [0, 1, 2, 3]


def test_taken_over_nothing_moves() -> None:
    """Each works on what it had, under a new name; a fourth gets its share by a handover."""
    world = began(1)
    before = {thin.client_id: set(thin.held) for thin in world.thins}
    settle(world)
    assert {thin.client_id: set(thin.held) for thin in world.thins} == before
    assert sum(thin.starts + thin.stops for thin in world.thins) == 0
    world.follow_thin("d")
    world.go_on_thin(3)
    settle(world)
    assert [len(thin.held) for thin in world.thins] == [1, 1, 1, 1]
    assert world.thins[3].starts == 1
    assert sum(thin.repeats for thin in world.thins) == 0
    moved = sum(thin.stops for thin in world.thins)
    give_back(world)
    assert sum(thin.stops for thin in world.thins) == moved


def trouble(world: ThinWorld, kind: str) -> None:
    """Let something happen to the group."""
    alive = [thin for thin in world.thins if not thin.gone]
    match kind:
        case "restart":
            world.restart_driver()
        case "loss":
            world.lose_all()
        case "kill" if len(alive) > 2:
            world.kill(world.chance.choice(alive))
        case "join" if len(world.thins) < 6:
            world.follow_thin("defgh"[len(world.thins) - 3])
        case "leave" if len(alive) > 2:
            world.chance.choice(alive).leave()
        case "never" | "all_attached":
            world.topics.rule("orders", "take_over", kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [201, *range(12)])
def test_whatever_happens_meanwhile(seed: int) -> None:
    """Restarts, losses and whoever comes or goes in mid take-over give no queue two owners."""
    world = began(seed, loses=0.05, replaces=0.1)
    chance = world.chance
    kinds = ("restart", "loss", "kill", "join", "leave", "never", "all_attached", "nothing")
    for _ in range(chance.randrange(1, 5)):
        world.go_on_thin(chance.randrange(12))
        trouble(world, chance.choice(kinds))
    world.topics.rule("orders", "take_over", "all_attached")
    settle(world)
    give_back(world)
    assert world.footing() == "following"
