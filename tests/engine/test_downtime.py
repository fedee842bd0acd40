"""An engine that was away, slow or behind, and a broker's clock that jumps, expire nobody alive."""

import pytest

from tests.kit.world import World


def _settled() -> World:
    world = World()
    world.topics.tick(1)
    world.join("a")
    world.join("b")
    world.pass_seconds(6)
    assert set(world.owners("orders").values()) == {"a", "b"}
    return world


def _away(world: World, seconds: int, *, ticks: bool = False) -> None:
    """No batch is run, and no tick appended unless the driver still ticks; clients work on."""
    for second in range(seconds):
        world.topics.now_ms += 1_000
        if ticks:
            world.topics.tick(1)
        for index, client in enumerate(world.clients):
            if not client.gone and (second + index) % 3 == 0:
                client.work(7)
                client.beat()


def _expired(world: World) -> list[str]:
    return [
        cause["client_id"]
        for entry in world.decisions
        for cause in entry["cause"]
        if cause["kind"] == "client_expired"
    ]


@pytest.mark.parametrize("seconds", [60, 600])
@pytest.mark.parametrize("lost", [False, True])
def test_while_no_engine_runs_nobody_living_expires(seconds: int, lost: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    """However long no engine runs, with its state kept or lost, nobody expires who lives."""
    world = _settled()
    owners = world.owners("orders")
    _away(world, seconds)
    if lost:
        world.lose_state()
    else:
        world.start_driver()
    world.pass_seconds(30)
    assert _expired(world) == []
    assert world.counts["events/member/lapsed"] == 0
    assert world.owners("orders") == owners


def test_who_died_meanwhile_is_found() -> None:
    """Who died while no engine ran lapses lease and margin of the log's clock later."""
    world = _settled()
    _away(world, 30)
    world.clients[0].gone = True
    _away(world, 30)
    world.start_driver()
    world.pass_seconds(20)
    assert _expired(world) == ["a"]
    assert world.owners("orders") == dict.fromkeys(range(4), "b")


def test_a_slow_engine_expires_nobody() -> None:
    """A batch that comes a minute late reads a minute of heartbeats, and expires nobody."""
    world = _settled()
    _away(world, 60, ticks=True)
    world.run_all()
    world.pass_seconds(5)
    assert _expired(world) == []


def test_a_jump_of_a_brokers_clock_is_told() -> None:
    """A clock that jumps ahead by an hour and back expires nobody, is counted, and is an alarm."""
    world = _settled()
    before = world.topics.now_ms
    world.topics.now_ms += 3_600_000
    world.pass_seconds(2)
    world.topics.now_ms = before + 3_000
    world.pass_seconds(5)
    world.join("c")
    world.pass_seconds(3)
    assert _expired(world) == []
    assert world.counts["clock_jumps"] >= 1
    assert any("clock_jump" in entry["alarms"] for entry in world.decisions)
