"""A barrier that is held open, and what is said in it of queues that nobody has."""

from collections.abc import Callable
from typing import Any

import pytest

from fairlead.core.recovery import remembered
from tests.kit.client import Client
from tests.kit.replays import replayed
from tests.kit.shared_world import held_open
from tests.kit.world import World


def _say(world: World, client: Client, suffix: str, record: dict[str, Any]) -> None:
    by = {"client_id": client.client_id, "incarnation": client.incarnation}
    world.topics.append_of(suffix, client.group, {"group": client.group, **by, **record})


def _progress(world: World, number: int) -> None:
    """The mute member tells progress of a hundred queues that nobody has."""
    entries = [
        {"queue": ["orders", f"invented-{number}", each], "epoch": [1, 1], "position": [0, 1]}
        for each in range(100)
    ]
    _say(world, world.clients[0], "heartbeats", {"kind": "progress", "queues": entries})


def _lives(world: World, number: int) -> None:
    """The mute member tells progress of its queue in a hundred lives of its topic."""
    for each in range(100):
        entry = {
            "queue": ["orders", "broker-a", 0],
            "epoch": [1, 1],
            "position": [0, 1],
            "identity": f"life-{number}-{each}",
        }
        _say(world, world.clients[0], "heartbeats", {"kind": "progress", "queues": [entry]})


def _releases(world: World, number: int) -> None:
    """A stranger releases a hundred queues that nobody has."""
    stranger = Client(world.topics, "orders", f"stranger-{number}")
    for each in range(100):
        queue = ["orders", f"invented-{number}", each]
        record = {"kind": "release", "queue": queue, "epoch": [1, 1], "position": [0, 1]}
        _say(world, stranger, "releases", record)


@pytest.mark.parametrize("say", [_progress, _lives, _releases])
def test_what_is_remembered_of_a_barrier_is_bounded(
    say: Callable[[World, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who holds it open invents queues, lives and releases, but not as many as one likes."""
    monkeypatch.setattr(remembered, "remembered_max", lambda _draft: 50)
    world = held_open()
    before = world.kept("orders")
    for number in range(20):
        say(world, number)
        world.pass_seconds(1)
    assert world.kept("orders") < before + 5_000
    assert replayed(world).same
