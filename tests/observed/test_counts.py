"""The numbers of a group are those of its queues and members, word by word."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.kit.live_group import rule, set_rules
from tests.kit.moving_world import moving_life
from tests.kit.observations import forced, handing_over, standing_of
from tests.kit.world import World, world_of


def _nobody_named() -> World:
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("designated", {"only": ["c9"], "if_nobody": "nobody"}))
    world.pass_seconds(4)
    return world


def _joining() -> World:
    world = World(queues={"orders": 6})
    world.join("c1")
    return world


def _empty() -> World:
    world = world_of("c1", queues=6)
    for client in world.clients:
        client.leave()
    world.pass_seconds(4)
    return world


WORLDS = (handing_over, forced, _nobody_named, _joining, _empty, moving_life)


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__.strip("_"))
def test_counts_are_those_of_the_queues(make: Callable[[], World]) -> None:
    """Each count of a group is the number of its queues that say so, and of its members' shares."""
    said = standing_of(make()).to_full_json()
    queues, members = said["queue_list"], said["member_list"]
    states = Counter(each["state"] for each in queues)
    assert said["queues_unassigned"] == states["unassigned"]
    assert said["queues_in_handover"] == states["draining"] + states["gated"]
    for word in ("draining", "gated"):
        assert said[f"queues_{word}"] == sum(bool(each[word]) for each in queues)
        shares = sum(len(each[word]) for each in queues)
        assert sum(each[f"queues_{word}"] for each in members) == shares
    assert sum(each["role"] == "idle" for each in members) == said["members_idle"]


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__name__.strip("_"))
def test_converged_has_reasons(make: Callable[[], World]) -> None:
    """A group that has not converged says why, and one that has says nothing."""
    said = standing_of(make()).to_json()
    assert bool(said["unconverged_because"]) is not said["converged"]


def test_a_member_that_hangs_in_a_stable_group() -> None:
    """The engine is done, and a member is not: the phase says the one, the reason the other."""
    said = standing_of(forced()).to_json()
    assert (said["phase"], said["converged"]) == ("stable", False)
    assert any("not given up" in each or "c1" in each for each in said["unconverged_because"])
