"""Runs in a copy of the source: the explorer in one small world, until something is violated."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from fairlead_proof.explorer.counterexample_replay import replay_run
from fairlead_proof.explorer.search import search
from fairlead_proof.explorer.world import Restart, WorldBounds


def world_of(bounds: Mapping[str, Any]) -> WorldBounds:
    """Return the world of these bounds."""
    given = dict(bounds)
    if "restart" in given:
        given["restart"] = Restart(given["restart"])
    return WorldBounds(**given)


def explored(bounds: dict[str, Any], states_max: int) -> dict[str, Any]:
    """Return what the search of a world found, as plain JSON values."""
    world = world_of(bounds)
    searched = search(world, states_max=states_max)
    told: dict[str, Any] = {"world": world.name, "states": searched.states, "whole": searched.whole}
    if searched.counterexample is not None:
        run = searched.counterexample.run
        assert len(list(replay_run(world, run))) == len(run), "a run can be told again"
        told |= {"violation": searched.counterexample.violation, "run": run}
    return told


if __name__ == "__main__":
    print(json.dumps(explored(json.loads(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201 - the answer
