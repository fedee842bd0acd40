"""Rule H30: nobody is gated by a release that is put aside and that its client has not read."""

import pytest

from fairlead.core.model import Position
from fairlead.core.outputs import Notice
from tests.kit.group_world import GroupWorld
from tests.kit.one_queue import FIRST, epoch_of_first, owned_by_a


def _pin(world: GroupWorld, client: str) -> None:
    world.rule("pin", {"queue": list(FIRST), "client_id": client}, *map(str, FIRST))


def _starts(world: GroupWorld, client: str, life: int = 1) -> list[Position]:
    """Let the client alone live on for a minute; return the positions of its ungated adds."""
    found = []
    for _ in range(12):
        world.pass_time(5_000)
        world.beat(client, life=life)
        world.run()
        adds = world.adds(client, life) if world.outputs else []
        found += [add.position for add in adds if not add.after]
    return found


def test_who_begins_anew_is_not_put_behind_its_former_life() -> None:
    """It did not read its own last release: a lapse would open the gate below it (rule H30)."""
    world = owned_by_a()
    world.release("a", 0, epoch_of_first(world), 150)
    world.beat("a", life=2)
    world.run()
    assert _starts(world, "a", life=2) == []
    world.bounds(1, last=151)
    world.run()
    assert [add.position for add in world.adds("a", life=2)] == [Position(0, 150)]


def test_who_was_there_is_gated_by_what_it_has_read() -> None:
    """A leaver's release goes to every client of the group: no bridge is waited for."""
    world = owned_by_a()
    for _ in range(4):
        world.beat("a")
        world.beat("b")
        world.run()
        world.pass_time(5_000)
    world.release("a", 0, epoch_of_first(world), 150)
    world.leave("a")
    world.run()
    assert world.owned("b") == [0]


@pytest.mark.parametrize("old", [True, False])
def test_a_release_that_was_handed_to_another(*, old: bool) -> None:
    """What is released for a drop is read by the successor that the drop names, and by it alone."""
    world = owned_by_a()
    world.rule("strategy", {"name": "STICKY"})
    _pin(world, "a")
    for _ in range(12 if old else 1):
        for client in "abc":
            world.beat(client)
        world.run()
        world.pass_time(5_000)
    held = epoch_of_first(world)
    _pin(world, "b")
    for client in "abc":
        world.beat(client)
    world.run()
    world.release("a", 0, held, 150)
    world.run()
    _pin(world, "c")
    world.beat("c")
    world.run()
    world.release("b", 0, world.epoch_of(0), None)
    world.run()
    assert _starts(world, "c") == []


def test_behind_one_of_several() -> None:
    """A chain may be longer: one release that is not read is enough."""
    world = owned_by_a()
    world.chain_cap = 3
    world.rule("strategy", {"name": "STICKY"})
    _pin(world, "a")
    for client in "ab":
        world.beat(client)
    world.run()
    held = epoch_of_first(world)
    _pin(world, "b")
    world.run()
    world.release("a", 0, held, 150)
    world.run()
    second = world.epoch_of(0)
    _pin(world, "c")
    world.beat("c")
    world.run()
    world.release("b", 0, second, None)
    world.run()
    assert _starts(world, "c") == []


def test_it_is_told_that_no_bridge_answers() -> None:
    """A client that waits for that says so."""
    world = owned_by_a()
    world.release("a", 0, epoch_of_first(world), 150)
    world.beat("a", life=2)
    world.run()
    told: list[Notice] = []
    for _ in range(12):
        world.pass_time(5_000)
        world.beat("a", life=2)
        world.run()
        told += [each for each in world.outputs if isinstance(each, Notice)]
    assert [(each.code, each.reason) for each in told] == [("waiting", "bridge")]
