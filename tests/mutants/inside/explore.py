"""Runs in a copy of the source: the explorer in one small world, until something is violated."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from fairlead_proof.explorer.counterexample_replay import retell
from fairlead_proof.explorer.search import search
from fairlead_proof.explorer.world import Restart, World


def world_of(bounds: Mapping[str, Any]) -> World:
    """Return the world of these bounds."""
    given = dict(bounds)
    if "restart" in given:
        given["restart"] = Restart(given["restart"])
    return World(**given)


def explored(bounds: dict[str, Any], states_max: int) -> dict[str, Any]:
    """Return what the search of a world found, as plain JSON values."""
    world = world_of(bounds)
    searched = search(world, states_max=states_max)
    told: dict[str, Any] = {"world": world.name, "states": searched.states, "whole": searched.whole}
    if searched.found is not None:
        run = searched.found.run
        assert len(list(retell(world, run))) == len(run), "a run can be told again"
        told |= {"violation": searched.found.violation, "run": run}
    return told


if __name__ == "__main__":
    print(json.dumps(explored(json.loads(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201 - the answer
