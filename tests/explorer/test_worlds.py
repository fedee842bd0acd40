"""The real core and the real client keep every promise in every order of events of small worlds."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from fairlead.sim.explorer.retelling import LostThreadError, retell
from fairlead.sim.explorer.rows import ROWS, Rows
from fairlead.sim.explorer.search import Progress, Searched, search
from fairlead.sim.explorer.world import Restart, World


def held(world: World) -> Searched:
    """Search a world, and demand that all of it keeps every promise."""
    searched = search(world)
    assert searched.found is None, searched.found
    assert searched.whole
    return searched


@pytest.mark.parametrize("world", ROWS[Rows.SMALL], ids=lambda world: world.name)
def test_small(world: World) -> None:
    """No order of events in a small world breaks a promise, and all lead to a settled group."""
    searched = held(world)
    assert searched.ends > 1
    assert searched.transitions > searched.states > 50


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("world", ROWS[Rows.REQUIRED], ids=lambda world: world.name)
def test_required(world: World) -> None:
    """The worlds that must be searched before a release keep every promise."""
    held(world)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("world", ROWS[Rows.LONG], ids=lambda world: world.name)
def test_long(world: World) -> None:
    """Larger worlds keep every promise too."""
    held(world)


@pytest.mark.parametrize(
    "world",
    [
        World(clients=2, moves=2, deaths=1),
        World(clients=2, moves=1, deaths=1, comebacks=1),
        World(clients=2, moves=1, losses=1, restart=Restart.INTACT),
        World(clients=2, moves=1, losses=1, restart=Restart.OLD),
        World(clients=2, moves=1, losses=1),
    ],
    ids=lambda world: world.name,
)
def test_pruning_changes_no_verdict(world: World) -> None:
    """With every record kept and read one by one there are more states, and the same verdict."""
    assert held(replace(world, prune=False)).states > held(world).states


def test_the_same_counts_in_every_process() -> None:
    """Counts depend on no hash: two processes find the same states and steps."""
    program = (
        "from fairlead.sim.explorer.search import search\n"
        "from fairlead.sim.explorer.world import World\n"
        "found = search(World(clients=2, moves=1, losses=1))\n"
        "print(found.states, found.transitions, found.ends, found.steps, found.facts)"
    )
    counts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(counts) == 1
    assert counts.pop().split()[0].isdecimal()


def test_a_limit_is_no_verdict() -> None:
    """A search that is given up is not whole, and it tells how far it came."""
    told: list[Progress] = []
    searched = search(World(clients=2, moves=2), told.append, states_max=50)
    assert (searched.whole, searched.found) == (False, None)
    assert told[0].states == 1


def test_a_run_of_another_program() -> None:
    """A run with a step that cannot be taken is refused by its number and words."""
    with pytest.raises(LostThreadError, match="step 1 is not possible here: c9 reads the news"):
        list(retell(World(clients=2), ["c9 reads the news"]))
