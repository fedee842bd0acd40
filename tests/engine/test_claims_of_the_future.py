"""Claims for a generation that is not there yet: kept for the driver that needs them alone."""

import pytest

from fairlead.core.recovery import remembered
from tests.kit.client import Client
from tests.kit.replays import replayed
from tests.kit.shared_world import SHARE, begun
from tests.kit.world import World, state_of


def claim(world: World, client: Client, part: int, generation: int = 99) -> None:
    """One part of many of an acknowledgement of a generation that nobody has claimed."""
    claims = [
        {
            "queue": ["orders", f"invented-{part}", each],
            "epoch": [1, 1],
            "position": [0, 1],
            "state": "final",
        }
        for each in range(300)
    ]
    by = {"group": client.group, "client_id": client.client_id, "incarnation": client.incarnation}
    record = {"kind": "claims", **by, "generation": generation, "part": part, "parts": 1_000}
    world.topics.append_of("heartbeats", client.group, {**record, "queues": claims})


def test_claims_of_who_never_came_are_forgotten() -> None:
    """After the barrier nobody needs them: their sender is no member, and lapses never."""
    world = begun()
    world.pass_seconds(3)
    world.start_driver()
    for number in range(20):
        claim(world, Client(world.topics, "orders", f"stranger-{number}"), 0)
    world.pass_seconds(3)
    assert state_of(world).barrier is None
    assert {key.client_id for key in state_of(world).claims} <= {"a", "b"}
    world.pass_seconds(60)
    assert world.kept("orders") < 5_000
    assert replayed(world).same


def test_a_member_fills_no_state_by_what_it_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """It claims each queue once: no more claims of it are kept than its group could have queues."""
    monkeypatch.setattr(remembered, "remembered_max", lambda _draft: 1_000)
    world = begun()
    before = world.kept("orders")
    for part in range(20):
        claim(world, world.clients[0], part)
        world.pass_seconds(1)
    claimed = world.kept("orders") - before
    assert 0 < claimed < 4 * SHARE / 10
    letters = [each for each in world.kinds("rejects") if each["reason"] == "quota_queues"]
    assert len(letters) == world.counts["rejects/quota_queues"] == 20 - 3
    assert {each["field"] for each in letters} == {"queues"}
    assert replayed(world).same
