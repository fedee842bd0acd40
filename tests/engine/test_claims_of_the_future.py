"""Claims for a generation that is not there yet: kept for the driver that needs them alone."""

from tests.engine.client import Client
from tests.engine.lives import replayed
from tests.engine.test_state_of_the_gone import state_of
from tests.engine.test_state_share import begun
from tests.engine.world import World


def _claim(world: World, client: Client, part: int, generation: int = 99) -> None:
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
        _claim(world, Client(world.topics, "orders", f"stranger-{number}"), 0)
    world.pass_seconds(3)
    assert state_of(world).barrier is None
    assert {key.client_id for key in state_of(world).claims} <= {"a", "b"}
    world.pass_seconds(60)
    assert world.kept("orders") < 5_000
    assert replayed(world).same
