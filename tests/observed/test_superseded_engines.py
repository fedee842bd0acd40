"""What an engine writes after another took over is believed by no reader, whatever it asks."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from fairlead_proof.local.ownership import Ownership

from fairlead.history.grant_history import grant_history
from fairlead.kafka.decision_log import decisions_after, last_life, newest_epoch, read_decisions
from fairlead.observed.reading import observe_all, read_standing
from fairlead.wire.decision_records import DecisionReader
from fairlead.wire.raw import OutgoingRecord
from strategies.registry import STRATEGIES
from tests.kit.live_group import GROUP, TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES
from tests.kit.observations import listed_in, standing_of
from tests.kit.observed_world import view_of
from tests.kit.world import World, world_of

DECISIONS = NAMES.name("decisions")
OLD, NEW = 7, 8
DAY_MS = 86_400_000


def _newest(world: World) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(world.topics.written[DECISIONS, 0][-1].value or b"")
    return body


def _decision(world: World, generation: int, number: int, **changes: Any) -> dict[str, Any]:
    """Return the group's newest decision as another engine would have written it."""
    body = _newest(world)
    cut = {**body["cut"], "generation": generation}
    return {**body, "epoch": [generation, number], "cut": cut, **changes}


def _moved_to(client_id: str, generation: int, number: int) -> list[dict[str, Any]]:
    return [
        {
            "queue": ["orders", "main", queue],
            "stage": "granted",
            "client_id": client_id,
            "epoch": [generation, number],
            "position": [0, 0],
            "why": "progress",
        }
        for queue in range(4)
    ]


def _parts(world: World, generation: int, number: int, client_id: str) -> list[dict[str, Any]]:
    moves = _moved_to(client_id, generation, number)
    halves = (moves[:2], moves[2:])
    return [
        _decision(world, generation, number, part=part, parts=2, moves=half)
        for part, half in enumerate(halves)
    ]


def _write(world: World, *bodies: dict[str, Any]) -> None:
    for body in bodies:
        record = OutgoingRecord(DECISIONS, 0, GROUP.encode(), orjson.dumps(body))
        world.topics.written[DECISIONS, 0].append(record)


@dataclass(frozen=True, slots=True)
class Seen:
    """What each reader believes: the group's phase, its epoch, and who has its first queue."""

    phases: dict[str, str]
    epochs: dict[str, tuple[int, ...]]
    owners: dict[str, str]


def _seen(world: World) -> Seen:
    source = MemorySource(world.topics)
    (listed,) = view_of(world).groups()
    standing = standing_of(world)
    assert standing.newest is not None
    reader, live = DecisionReader(GROUP), Ownership()
    for row in source.rows("decisions", [0]):
        # As who waits for an answer does: what is no decision is none to it.
        with contextlib.suppress(ValueError):
            decision = reader.read(row)
            if decision is not None:
                live.apply(decision)
    assert live.newest is not None
    told = grant_history(read_decisions(source, GROUP, None, lambda *_: None).audits)
    assert told.newest is not None
    planned, applied = newest_epoch(source, GROUP), decisions_after(source, GROUP, None)[-1]
    assert planned is not None
    queue = next(each for each in told.of if each.queue_id == 0)
    (living,) = [each for each in live.granted if each.queue_id == 0]
    assert listed.epoch is not None
    return Seen(
        phases={
            "list": listed.phase,
            "check": standing.phase,
            "live": live.newest.phase,
            "explain": told.newest.phase,
            "apply": applied.phase,
            "offline": last_life(source, GROUP)[-1].phase,
        },
        epochs={
            "list": tuple(listed.epoch),
            "check": tuple(standing.newest.epoch),
            "live": tuple(live.newest.epoch),
            "explain": tuple(told.newest.epoch),
            "plan": tuple(planned),
            "apply": tuple(applied.epoch),
        },
        owners={"explain": told.of[queue][-1].client_id, "live": live.granted[living][0]},
    )


def _whole(world: World) -> None:
    """A whole decision of the older engine comes last; its epoch is greater in number."""
    _write(
        world,
        _decision(world, NEW, 90, moves=_moved_to("c2", NEW, 90)),
        _decision(world, OLD, 95, moves=_moved_to("c1", OLD, 95), state=_barrier(world)),
    )


def _barrier(world: World) -> dict[str, Any]:
    return {**_newest(world)["state"], "phase": "barrier"}


def _no_epoch_of_its_own(world: World) -> None:
    """The newer engine has granted nothing anew: its decision has the epoch of the older one."""
    newer = _decision(world, NEW, 90, moves=_moved_to("c2", OLD, 90))
    _write(
        world,
        {**newer, "epoch": [OLD, 90], "previous_epoch": [OLD, 90]},
        _decision(world, OLD, 91, moves=_moved_to("c1", OLD, 91), state=_barrier(world)),
    )


def _interleaved(*order: str) -> Callable[[World], None]:
    def write(world: World) -> None:
        parts = {"old": _parts(world, OLD, 91, "c1"), "new": _parts(world, NEW, 90, "c2")}
        _write(world, *(parts[name].pop(0) for name in order))

    return write


@pytest.mark.parametrize(
    "write, epoch",
    [
        (_whole, (NEW, 90)),
        (_no_epoch_of_its_own, (OLD, 90)),
        (_interleaved("old", "new", "old", "new"), (NEW, 90)),
        (_interleaved("new", "old", "new", "old"), (NEW, 90)),
        (_interleaved("old", "new", "new", "old"), (NEW, 90)),
        (_interleaved("new", "old", "old", "new"), (NEW, 90)),
    ],
    ids=["whole", "epoch", "onon", "nono", "onno", "noon"],
)
def test_every_reader_believes_the_newer_engine(
    write: Callable[[World], None], epoch: tuple[int, int]
) -> None:
    """Whoever asks, and of whatever: the newer engine's decision is the group's newest."""
    world = world_of("c1", "c2", queues=6)
    write(world)
    seen = _seen(world)
    assert set(seen.phases.values()) == {"stable"}
    assert set(seen.epochs.values()) == {epoch}
    assert set(seen.owners.values()) == {"c2"}
    assert "barrier" not in listed_in(world)[GROUP]


def test_window_that_hides_the_newer_engine() -> None:
    """A reader of the last minutes alone sees that an older engine wrote them, and reads on."""
    world = world_of("c1", "c2", queues=6)
    generation = _newest(world)["cut"]["generation"]
    for _ in range(OLD):
        world.topics.append("generations", 0, b"driver", {"kind": "generation"})
    new = _decision(world, OLD, 90, moves=_moved_to("c2", OLD, 90))
    later = new["at_ms"] + 30 * 60_000
    old = _decision(world, generation, 95, moves=_moved_to("c1", generation, 95), at_ms=later)
    _write(world, new, old)
    world.topics.now_ms = later
    source = MemorySource(world.topics)
    assert newest_epoch(source, GROUP) == (OLD, 90)
    found = read_decisions(source, GROUP, later - 60_000, lambda *_: None)
    assert grant_history(found.audits).newest is not None
    assert [each.superseded for each in found.audits if each.epoch.number > 89] == [False, True]
    first = decisions_after(source, GROUP, None)[-1]
    assert first.epoch == (OLD, 90)
    newest = standing_of(world).newest
    assert newest is not None
    assert newest == replace(first, row=newest.row)
    minute = read_standing(source, GROUP, STRATEGIES, TICK_MS, history_ms=60_000)
    assert minute.newest == newest
    every = observe_all(source, STRATEGIES, TICK_MS, history_ms=60_000)
    assert every.any_group(GROUP).newest == newest


@pytest.mark.parametrize("generation", [[8], "8", 8.0, None])
def test_generation_that_is_no_number(generation: object) -> None:
    """A record whose generation cannot be compared is passed over, and stops no reader."""
    world = world_of("c1", "c2", queues=6)
    before = _seen(world)
    body = _newest(world)
    _write(world, {**body, "cut": {**body["cut"], "generation": generation}})
    assert _seen(world) == before
