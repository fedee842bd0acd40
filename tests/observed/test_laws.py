"""What a view is does not depend on how its rows were handed to it."""

from random import Random
from typing import Any

import pytest

from fairlead.observed.observed_groups import ObservedGroups
from fairlead.wire.raw import RawRecord
from tests.kit.live_group import owners_of
from tests.kit.memory_topics import NAMES, START_MS
from tests.kit.observed_world import Reader, empty_view
from tests.kit.replays import GROUPS, kill, live
from tests.kit.world import World, state_of


def _life(seed: int) -> World:
    """Return a world in which clients came, left and died, and drivers too."""
    world, chance = World(), Random(seed)
    live(world, 18, chance)
    kill(world, 3, 5)
    live(world, 12, chance, first=18)
    return world


def _documents(view: ObservedGroups) -> list[dict[str, Any]]:
    """Return everything that a view shows."""
    found = [view.group(each.group) for each in view.groups()]
    shown = [each.to_full_json() for each in found if each is not None]
    decisions = [
        each.to_json() for group in view.groups() for each in view.decisions(group.group) or ()
    ]
    return [
        *shown,
        *decisions,
        *(topic.to_json() for each in view.figures() for topic in each.topics),
    ]


def _mixed(rows: list[RawRecord], chance: Random) -> list[RawRecord]:
    """Return the rows in another order of topics and partitions."""
    logs: dict[tuple[str, int], list[RawRecord]] = {}
    for row in rows:
        logs.setdefault((row.topic, row.partition), []).append(row)
    left = [list(reversed(log)) for log in logs.values()]
    found = []
    while left:
        log = chance.choice(left)
        found += [log.pop() for _ in range(min(len(log), chance.randint(1, 9)))]
        left = [each for each in left if each]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_rows_taken_one_by_one_make_the_same_view(seed: int) -> None:
    """Rows that are taken one by one make the same view as rows that are taken at once."""
    rows = Reader(_life(seed)).rows()
    at_once, one_by_one = empty_view(), empty_view()
    at_once.apply(rows)
    for row in rows:
        one_by_one.apply([row])
    assert _documents(one_by_one) == _documents(at_once)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_topics_does_not_matter(seed: int) -> None:
    """The order in which topics and partitions are read does not matter in the end."""
    rows = Reader(_life(seed)).rows()
    view, other = empty_view(), empty_view()
    view.apply(rows)
    other.apply(_mixed(rows, Random(seed)))
    assert _documents(other) == _documents(view)


@pytest.mark.parametrize("seed", range(4))
def test_owners_of_a_life(seed: int) -> None:
    """After a life with faults the view's owners are those of the engine's state."""
    world = _life(seed)
    world.pass_seconds(15)
    view = empty_view()
    view.apply(Reader(world).rows())
    for name in GROUPS:
        found, state = view.group(name), state_of(world, name)
        assert found is not None
        owners = {each.queue: each.owner.client_id for each in found.queues if each.owner}
        assert owners == owners_of(state)
        assert found.summary.epoch == state.epoch


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"kind":"heartbeat","group":["orders"]}',
        b'{"kind":"decision","group":"orders","part":0,"parts":1,"epoch":"3.1"}',
        b'{"kind":"assignment","group":7}',
        b'{"kind":"progress","group":"orders","queues":[{"queue":[1,2,3]}]}',
        b'{"kind":"notice","group":"orders","code":"duplicate_client_id","client_id":"c1"}',
        b"\xff\xfe",
        None,
    ],
)
def test_rubbish_changes_nothing(value: bytes | None) -> None:
    """What is no record changes nothing, on whatever topic it stands."""
    world = World()
    world.join("c1")
    world.pass_seconds(6)
    view = empty_view()
    view.apply(Reader(world).rows())
    before = _documents(view)
    for suffix in ("releases", "control", "offsets", "generations", "assignments"):
        view.apply([_row(suffix, value)])
    if value is not None:  # that is the word of a bridge: the topic was deleted
        view.apply([_row("routes", value)])
    view.apply([_row("decisions", value), _row("heartbeats", value), _row("rejects", value)])
    assert _documents(view) == before
    assert [each.group for each in view.groups()] == ["orders"]


def _row(suffix: str, value: bytes | None) -> RawRecord:
    place = (NAMES.name(suffix), 0, 10_000, START_MS)
    return RawRecord(*place, append_time_is_log=True, key=b"orders", value=value)
