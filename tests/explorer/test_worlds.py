"""The real core and the real client keep every promise in every order of events of small worlds."""

import importlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_proof.explorer.counterexample_replay import ImpossibleStepError, replay_run
from fairlead_proof.explorer.rows import ROWS, Rows
from fairlead_proof.explorer.search import Progress, Searched, search
from fairlead_proof.explorer.state_space import ENGINE, JUDGE, Moment, StateSpace
from fairlead_proof.explorer.world import Restart, WorldBounds

from fairlead.core import apply
from fairlead.core.handover import forced_handover
from fairlead.core.handover.chain import Resolved, overtake
from fairlead.core.state import Grant, QueueState
from tests.kit.hash_seeds import printed_under

step = importlib.import_module("fairlead.core.step")


def held(
    world: WorldBounds, on_moment: Callable[[StateSpace, Moment], None] | None = None
) -> Searched:
    """Search a world, and demand that all of it keeps every promise."""
    searched = search(world, on_moment=on_moment)
    assert searched.counterexample is None, searched.counterexample
    assert searched.whole
    return searched


SECONDS_EACH = (
    WorldBounds(clients=3, moves=2, deaths=1),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1),
    WorldBounds(clients=2, moves=2, deaths=1, lost=1),
    WorldBounds(clients=2, moves=2, deaths=1, mutes=1),
    WorldBounds(clients=2, moves=0, deaths=1, losses=1, comebacks=1),
    WorldBounds(clients=2, thin=1, moves=1, losses=1, restart=Restart.INTACT),
    WorldBounds(clients=2, thin=1, moves=2, eager=True),
)
"""Small worlds that take seconds each; smaller ones have the same kinds of events."""


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(world, marks=pytest.mark.slow) if world in SECONDS_EACH else world
        for world in ROWS[Rows.SMALL]
    ],
    ids=lambda world: world.name,
)
def test_small_worlds_keep_every_promise(world: WorldBounds) -> None:
    """No order of events in a small world breaks a promise, and all lead to a settled group."""
    searched = held(world)
    assert searched.ends > 1
    assert searched.transitions > searched.states > 50


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("world", ROWS[Rows.REQUIRED], ids=lambda world: world.name)
def test_the_required_worlds_keep_every_promise(world: WorldBounds) -> None:
    """The worlds that must be searched before a release keep every promise."""
    held(world)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("world", ROWS[Rows.LONG], ids=lambda world: world.name)
def test_larger_worlds_keep_every_promise(world: WorldBounds) -> None:
    """Larger worlds keep every promise too."""
    held(world)


def stands(world: WorldBounds) -> tuple[int, set[tuple[object, ...]]]:
    """Return how many states a world has, and every stand: who works, and what is processed."""
    found: set[tuple[object, ...]] = set()

    def look(space: StateSpace, moment: Moment) -> None:
        found.add(
            (
                *(client.works for client in space.members(moment)),
                space.oracles[moment[JUDGE]],
                space.engines.states[moment[ENGINE]].generation,
            )
        )

    return held(world, look).states, found


@pytest.mark.parametrize(
    "world",
    [
        WorldBounds(clients=2, moves=1, losses=1, restart=Restart.INTACT),
        WorldBounds(clients=2, moves=0, losses=1, zombie=True),
        WorldBounds(clients=2, moves=1, resets=1),
        WorldBounds(clients=2, moves=2, eager=True),
        WorldBounds(clients=2, moves=1, mutes=1),
        WorldBounds(clients=2, moves=1, lost=1),
        WorldBounds(clients=2, thin=1, moves=1),
        WorldBounds(clients=2, thin=1, moves=0, losses=1, restart=Restart.INTACT),
        WorldBounds(clients=2, thin=1, moves=0, losses=1),
        *(
            pytest.param(world, marks=pytest.mark.slow)
            for world in (
                WorldBounds(clients=2, moves=2, deaths=1),
                WorldBounds(clients=2, moves=1, deaths=1, comebacks=1),
                WorldBounds(clients=2, moves=1, losses=1, restart=Restart.OLD),
                WorldBounds(clients=2, moves=0, losses=1, resets=1, restart=Restart.OLD),
                WorldBounds(clients=2, moves=1, losses=1),
                WorldBounds(
                    clients=2, moves=0, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT
                ),
                WorldBounds(clients=2, moves=0, losses=1, resets=1, restart=Restart.INTACT),
                WorldBounds(clients=2, moves=0, losses=1, resets=1),
                WorldBounds(clients=2, thin=1, moves=1, deaths=1),
                WorldBounds(clients=2, thin=2, moves=1),
                WorldBounds(clients=2, thin=1, moves=0, losses=1, zombie=True),
                WorldBounds(clients=2, thin=1, moves=0, deaths=1, comebacks=1),
                WorldBounds(clients=2, thin=1, moves=0, losses=1, restart=Restart.OLD),
                WorldBounds(clients=2, thin=1, moves=0, resets=1),
                WorldBounds(clients=2, thin=1, moves=1, mutes=1),
            )
        ),
    ],
    ids=lambda world: world.name,
)
def test_pruning_changes_nothing(world: WorldBounds) -> None:
    """With every record kept and read one by one there are more states, and no other stand."""
    pruned, unpruned = stands(world), stands(replace(world, prune=False))
    assert unpruned[0] > pruned[0]
    assert unpruned[1] == pruned[1]


def test_the_same_counts_in_every_process() -> None:
    """Counts depend on no hash: two processes find the same states and steps."""
    program = (
        "from fairlead_proof.explorer.search import search\n"
        "from fairlead_proof.explorer.world import WorldBounds\n"
        "found = search(WorldBounds(clients=2, moves=1, losses=1))\n"
        "print(found.states, found.transitions, found.ends, found.steps, found.facts)"
    )
    counts = {printed_under(seed, program).decode() for seed in ("1", "2")}
    assert len(counts) == 1
    assert counts.pop().split()[0].isdecimal()


@pytest.mark.parametrize("reader, name", [(SeenReleases, "remember"), (apply, "remember_release")])
def test_what_raises_is_found(reader: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that makes the session or the core raise ends the search, and the run names it."""

    def broken(*_given: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(reader, name, broken)
    found = search(WorldBounds(clients=2)).counterexample
    assert found is not None
    assert found.violation.startswith("DEFECT: ")
    assert found.violation.endswith("RuntimeError: broken on purpose")


def _unmarked(value: QueueState, chosen: Callable[[Grant], bool]) -> Resolved | None:
    past = overtake(value, chosen)
    return past and past._replace(queue=replace(past.queue, overtaken=()))


EAGER = WorldBounds(clients=2, eager=True)
FORCED = WorldBounds(clients=2, mutes=1)
LOSSY = WorldBounds(clients=2, lost=1)


@pytest.mark.parametrize(
    "world, part, broken, verdict",
    [
        (EAGER, (forced_handover, "overtake"), _unmarked, "UNTRACKED"),
        (FORCED, (forced_handover, "overtake"), _unmarked, "UNTRACKED"),
        (replace(EAGER, ordered=True), (forced_handover, "has_ordered"), lambda _: False, "DOUBLE"),
        (LOSSY, (step, "resend_assignments"), lambda _draft, _members: None, "STUCK"),
    ],
    ids=["eager unmarked", "forced unmarked", "eager beside ordered", "not healed"],
)
def test_only_the_mark_of_the_engine_excuses_two_owners(
    world: WorldBounds,
    part: tuple[object, str],
    broken: object,
    verdict: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two owners are excused by the engine's mark only, ordered ones never; a loss is healed."""
    held(world)
    monkeypatch.setattr(*part, broken)
    found = search(world).counterexample
    assert found is not None
    assert found.violation.startswith(f"{verdict}: ")


def test_a_limit_is_no_verdict() -> None:
    """A search that is given up is not whole, and it tells how far it came."""
    told: list[Progress] = []
    searched = search(WorldBounds(clients=2, moves=2), told.append, states_max=50)
    assert (searched.whole, searched.counterexample) == (False, None)
    assert told[0].states == 1


def test_a_run_of_another_program() -> None:
    """A run with a step that cannot be taken is refused by its number and words."""
    with pytest.raises(ImpossibleStepError, match="step 1 is not possible here: c9 reads the news"):
        list(replay_run(WorldBounds(clients=2), ["c9 reads the news"]))
