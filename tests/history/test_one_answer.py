"""`fairlead explain` and `fairlead group describe` never say different things of one queue."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.wire.raw import OutgoingRecord
from tests.answers.schema import assert_answers
from tests.kit.live_group import GROUP, heard_alone, rule, set_rules
from tests.kit.memory_topics import NAMES
from tests.kit.moving_world import recorded
from tests.kit.observations import deafened, stubborn
from tests.kit.replays import kill, live
from tests.kit.world import World, world_of

Lines = list[dict[str, Any]]
Life = Callable[[], Iterator[World]]
"""Yields its world at each moment at which somebody asks."""


def _asked(*words: str | Path) -> Lines:
    ended = CliRunner().invoke(app, [*map(str, words), "-o", "json"], catch_exceptions=False)
    found: Lines = orjson.loads(ended.stdout)
    return found


def _described(folder: Path) -> dict[str, dict[str, Any]]:
    rows = _asked("group", "describe", GROUP, "--queues", "--dump", folder)
    return {"/".join(map(str, row["queue"])): row for row in rows}


def _stories(folder: Path, names: list[str]) -> Lines:
    flags = [word for name in names for word in ("--queue", name)]
    found = _asked("explain", GROUP, *flags, "--all", "--dump", folder)
    assert_answers("Story", found)
    return found


def _one_answer(world: World, folder: Path) -> set[str]:
    """Ask both commands of every queue, and compare what they say; return what was met."""
    told = _described(recorded(world, folder).folder)
    assert told
    for story, row in zip(_stories(folder, [*told]), told.values(), strict=True):
        assert {name: story[name] for name in row} == row
        shares = {
            (each["client_id"], *each["epoch"]): state
            for state in ("held", "draining", "gated")
            for each in row[state]
        }
        for tenure in story["owners"]:
            place = (tenure["client_id"], *tenure["epoch"])
            assert tenure["state"] == shares.get(place, "over"), (story["queue"], place)
            ended = None if tenure["handover"] is None else tenure["handover"]["ended"]
            before = story["owners"][story["owners"].index(tenure) + 1 :][:1]
            assert ended is None or before[0]["state"] == "over"
        assert (story["owner"] is None) == (story["nobody_because"] is not None)
        assert story["owner"] or story["owner_since_ms"] is None
    unsafe = {"unsafe" for row in told.values() if row["unsafe"] and row["draining"]}
    return {row["state"] for row in told.values()} | unsafe


def _handover() -> Iterator[World]:
    """Each phase of a handover, one record after the other."""
    world = World(queues={"orders": 4})
    world.topics.tick(1)
    world.join("c1")
    for _ in range(4):
        world.pass_seconds(1)
        yield world
    world.join("c2")
    world.run(0)
    world.run(1)
    yield world
    for _ in range(4):
        world.deliver()
        yield world
        world.run(0)
        world.run(1)
        yield world
    world.pass_seconds(5)
    yield world


def _slow(world: World) -> Iterator[World]:
    stubborn(world, "c1")
    world.join("c3")
    for _ in range(5):
        world.pass_seconds(1)
        yield world
    world.pass_seconds(45)
    yield world
    for client in world.clients:
        client.stubborn = False
    world.clients[0].leave()
    yield world
    world.pass_seconds(5)
    yield world


def _waiting() -> Iterator[World]:
    """A holder that gives nothing up while others wait for it."""
    yield from _slow(world_of("c1", "c2", queues=6))


def _eager() -> Iterator[World]:
    """A group that waits for nobody."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("mode", "eager"))
    world.pass_seconds(2)
    yield from _slow(world)


def _forced() -> Iterator[World]:
    """A mute holder that is passed over."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("on_mute", "force"))
    world.pass_seconds(2)
    yield from _slow(world)


def _barrier() -> Iterator[World]:
    """An engine that starts while a handover is under way, and one without its state."""
    world = world_of("c1", "c2", queues=6)
    deafened(world, "c1")
    world.join("c3")
    world.pass_seconds(1)
    world.start_driver()
    for _ in range(3):
        world.run(0)
        world.run(1)
        yield world
        world.pass_seconds(1)
    world.lose_state()
    world.run_all()
    yield world
    world.pass_seconds(20)
    yield world


def _paused() -> Iterator[World]:
    """A group that is paused before it has begun, and one that loses a member then."""
    world = World(queues={"orders": 4})
    world.topics.tick(1)
    set_rules(world, rule("pause", value=True))
    world.join("c1")
    world.pass_seconds(4)
    yield world
    world = world_of("c1", "c2", queues=4)
    set_rules(world, rule("pause", value=True))
    world.pass_seconds(2)
    world.clients[0].leave()
    world.pass_seconds(3)
    yield world


def _drained() -> Iterator[World]:
    """Queues that are only given up: nobody gets them."""
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    set_rules(world, rule("designated", {"only": ["c7"]}))
    world.pass_seconds(2)
    yield world
    world.clients[0].stubborn = False
    world.clients[0].leave()
    yield world
    world.pass_seconds(4)
    yield world


def _no_engine() -> Iterator[World]:
    """Releases that no engine reads."""
    world = world_of("c1", "c2", queues=6)
    world.join("c3")
    world.run(0)
    world.run(1)
    world.deliver()
    heard_alone(world, 3, *world.clients, ticking=False)
    yield world
    world.clients[0].leave()
    heard_alone(world, 30, *world.clients[1:], ticking=False)
    yield world


def _superseded() -> Iterator[World]:
    """An engine that goes on to decide after another one took over."""
    world = world_of("c1", "c2", queues=6)
    body = orjson.loads(world.topics.written[NAMES.name("decisions"), 0][-1].value or b"")
    moves = [
        {
            "queue": ["orders", "main", number],
            "stage": "granted",
            "client_id": "c1",
            "epoch": [0, 9],
            "position": [0, 0],
            "why": "progress",
        }
        for number in range(4)
    ]
    old = {**body, "epoch": [0, 9], "moves": moves, "cut": {**body["cut"], "generation": 0}}
    key = GROUP.encode()
    world.topics.written[NAMES.name("decisions"), 0].append(
        OutgoingRecord(NAMES.name("decisions"), 0, key, orjson.dumps(old))
    )
    yield world


@pytest.mark.parametrize(
    "life, met",
    [
        (_handover, {"gated", "held"}),
        (_waiting, {"gated", "held", "unassigned"}),
        (_eager, {"held", "unassigned", "unsafe"}),
        (_forced, {"gated", "held", "unassigned", "unsafe"}),
        (_barrier, {"gated", "held"}),
        (_paused, {"unassigned", "held"}),
        (_drained, {"draining", "unassigned"}),
        (_no_engine, {"held", "unassigned"}),
        (_superseded, {"held"}),
    ],
)
def test_explain_says_what_describe_says(life: Life, met: set[str], tmp_path: Path) -> None:
    """Owner, state, epoch, time and position of every queue are those of `group describe`."""
    seen = set()
    for number, world in enumerate(life()):
        seen |= _one_answer(world, tmp_path / str(number))
    assert seen == met


@pytest.mark.parametrize("seed", range(3))
def test_explain_says_what_describe_says_in_any_life(seed: int, tmp_path: Path) -> None:
    """Also where clients come, leave and die at random, and drivers too."""
    world, chance = World(), Random(seed)
    live(world, 14, chance)
    _one_answer(world, tmp_path / "before")
    kill(world, 3, 5)
    _one_answer(world, tmp_path / "killed")
    live(world, 10, chance, first=14)
    _one_answer(world, tmp_path / "after")
