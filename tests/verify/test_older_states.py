"""Drivers that start on an older state, or on none, in the judge's eyes: nobody is slow."""

from pathlib import Path

from tests.kit.journaled_world import Life
from tests.kit.judgements import judged, ruling_of, told_by
from tests.kit.world import World


def _pass_without_driver(world: World, seconds: int) -> None:
    """Time passes, clients heartbeat, and no driver runs."""
    for _ in range(seconds):
        world.topics.now_ms += 1_000
        for client in world.clients:
            if not client.gone and world.topics.now_ms // 1_000 % 3 == 0:
                client.work(7)
                client.beat()


def _put_back(life: Life, down_seconds: int) -> None:
    """Two join and one leaves; the driver dies, and another starts on the state from before."""
    world = life.world
    stored, read = dict(world.stored), dict(world.read)
    for client_id in ("second", "third"):
        life.join(client_id)
        world.pass_seconds(6)
    world.clients[0].leave()
    world.pass_seconds(6)
    world.stored, world.read, world.planned = stored, read, {}
    _pass_without_driver(world, down_seconds)
    world.start_driver()


def test_what_was_answered_in_another_life_of_the_engine(tmp_path: Path) -> None:
    """A drop is not slow because a driver on an older state says late that it was answered."""
    life = Life()
    life.join("first")
    life.join("fourth")
    life.world.pass_seconds(8)
    _put_back(life, 120)
    life.world.pass_seconds(40)
    life.close()
    judgement = judged(life.record(tmp_path / "r"))
    assert told_by(judgement) == ""
    assert judgement.passed
    assert ruling_of(judgement, "L2").outcome == "held"
    assert judgement.counts["generations"] == 2
