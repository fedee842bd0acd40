"""Live streams over the real view: what is sent, to whom, how often, and what a cut costs."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.console.clock_keys import CLOCKS, MEASURES, change_between
from fairlead.console.live_board import LiveBoard
from fairlead.console.live_events import ALIVE
from fairlead.observed.touched import Touched
from fairlead.wire.raw import RawRecord
from tests.access.access_files import principal_text
from tests.answers.schema import assert_answer
from tests.console.live_page import LivePage, Serving, caller
from tests.kit.live_group import GROUP, rule, set_rules
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import moving_life, timed_rows
from tests.kit.observed_world import Reader
from tests.kit.world import World, world_of
from tools.json_page import answer_schema

_WAIT_S = 40.0


def _run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), _WAIT_S)

    asyncio.run(bounded())


class Living:
    """A world that goes on, and the streams of a view that follows it."""

    def __init__(self, world: World) -> None:
        self.world, self._reader = world, Reader(world)
        self.serving = Serving(self._reader.rows())

    def pass_seconds(self, seconds: int) -> None:
        """Let time pass, and read."""
        self.world.pass_seconds(seconds)
        self.serving.view.apply(self._reader.rows())

    def is_shown(self, page: LivePage) -> bool:
        """Tell whether a page shows the group as it is, but for clocks."""
        described = self.serving.view.group(GROUP)
        assert described is not None
        shown = LivePage(_nothing())
        shown._begin({"group": described, "ribbon": {"rows": [], "marks": []}, "resumed": None})  # noqa: SLF001
        return _is_same(page.head, shown.head) and all(
            page.parts[kind].keys() == shown.parts[kind].keys()
            and all(_is_same(page.parts[kind][name], each) for name, each in parts.items())
            for kind, parts in shown.parts.items()
            if kind != "row"
        )


async def _nothing() -> AsyncIterator[bytes]:
    nothing: tuple[bytes, ...] = ()
    for each in nothing:
        yield each


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return change_between(one, other) in ("none", "clock", "age")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures are sent at once, so that no test waits a second for each."""
    monkeypatch.setattr("fairlead.console.live_board._MEASURES_S", 0.001)


def test_the_schema_marks_what_moves_by_itself() -> None:
    """The keys that only clocks move, and the measures, are those that the schema names so."""
    marked: dict[str, set[str]] = {"clock": set(), "measure": set()}
    for name, each in answer_schema()["$defs"].items():
        if "x-live" in each:
            marked[each["x-live"]].add(name)
    assert marked == {"clock": {*CLOCKS}, "measure": {*MEASURES}}


def test_a_snapshot_and_then_what_changed() -> None:
    """A page that joins later and one that follows from the start show the same group."""
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        page = living.serving.group(GROUP)
        assert await page.read() == "snapshot"
        assert_answer("GroupSnapshot", json.loads(page.data.split(b"data: ")[1]))
        living.world.join("c3")
        living.pass_seconds(4)
        while not living.is_shown(page):
            assert await page.read() == "change"
            assert_answer("GroupChange", json.loads(page.data.split(b"data: ")[1]))
        late = living.serving.group(GROUP)
        await late.read()
        assert living.is_shown(late)
        assert {each["owner"] for each in page.parts["queue"].values()} == {"c1", "c2", "c3"}
        await page.close()
        await late.close()

    _run(follow)


def test_the_work_is_shared_by_all_pages() -> None:
    """Ten pages of a group get the same bytes, and the group is looked at as often as for one."""
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        pages = [living.serving.group(GROUP) for _ in range(10)]
        for page in pages:
            assert await page.read() == "snapshot"
        assert living.serving.view.looks == 1
        set_rules(living.world, rule("drain", {"client_id": "c2"}))
        living.pass_seconds(4)
        for page in pages:
            assert await page.read() == "change"
        assert living.serving.view.looks == 2
        assert len({id(page.data) for page in pages}) == 1
        for page in pages:
            await page.close()

    _run(follow)


def test_a_slow_reader_gets_the_newest_state_at_once() -> None:
    """Whoever reads nothing for thirty changes gets one event, with every decision in between."""
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        slow, quick = living.serving.group(GROUP), living.serving.group(GROUP)
        await slow.read()
        await quick.read()
        for number in range(30):
            client_id = f"c{number % 2 + 1}"
            pin = {"queue": ["orders", "main", 0], "client_id": client_id}
            set_rules(living.world, rule("pin", pin))
            living.pass_seconds(1)
            await quick.read()
        living.pass_seconds(3)
        while not living.is_shown(quick):
            await quick.read()
        assert len(quick.kinds) > len(slow.kinds) + 20
        assert await slow.read() == "change"
        while not living.is_shown(slow):
            await slow.read()
        assert len(slow.kinds) <= 4
        assert slow.marks == quick.marks
        assert len(slow.marks) >= 15
        await slow.close()
        await quick.close()

    _run(follow)


def test_nothing_is_sent_when_only_clocks_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group at rest is looked at again and again, and its pages hear nothing but a comment."""
    monkeypatch.setattr("fairlead.console.live_streams._ALIVE_S", 0.5)
    monkeypatch.setattr(LiveBoard, "look_s", 0.02)
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        page, groups = living.serving.group(GROUP), living.serving.groups()
        await page.read()
        await groups.read()
        for each in (page, groups):
            assert await each.read_if_there(_WAIT_S)
            assert each.kinds == ["snapshot"]
        assert living.serving.view.looks >= 5
        living.world.topics.now_ms += 300
        living.world.topics.tick(1)
        living.pass_seconds(0)
        assert await page.read_if_there(_WAIT_S)
        assert page.kinds == ["snapshot"]
        await page.close()
        await groups.close()

    assert ALIVE.startswith(b":")
    _run(follow)


def test_only_touched_groups_are_looked_at() -> None:
    """The list looks at those groups that records tell of, and sends their lines alone."""
    world = World(queues={"orders": 4})
    world.topics.tick(1)
    for number in range(40):
        world.join("c1", f"g-{number}")
    world.pass_seconds(8)
    living = Living(world)

    async def follow() -> None:
        page = living.serving.groups()
        await page.read()
        assert len(page.parts["group"]) == 40
        living.serving.view.lined.clear()
        world.topics.rule("g-7", "pause", value=True)
        world.run_all()
        living.pass_seconds(0)
        assert await page.read() == "change"
        told = json.loads(page.data.split(b"data: ")[1])
        assert_answer("GroupsChange", told)
        assert {each["group"] for each in told["changed"]} == {"g-7"}
        assert {*living.serving.view.lined} == {"g-7"}
        living.serving.trouble = "no broker answers"
        living.serving.touch(Touched(changed={"g-7"}))
        while page.head["ready"]:
            await page.read()
        assert page.head["reason"] == "no broker answers"
        await page.close()

    _run(follow)


def test_rights_that_are_taken_away_end_a_stream(tmp_path: Path) -> None:
    """A list shows what its caller may observe, and ends when its caller's rights change."""
    path = tmp_path / "access.toml"
    path.write_text(principal_text("ann", 'observe = ["orders"]'))
    world = world_of("c1", queues=4)
    world.join("c9", "secret")
    world.pass_seconds(4)
    living, ann = Living(world), caller(path, "ann")

    async def follow() -> None:
        page = living.serving.groups(ann)
        await page.read()
        assert {*page.parts["group"]} == {'"orders"'}
        path.write_text(principal_text("ann", 'observe = ["billing"]'))
        await page.ends()
        again = living.serving.group(GROUP, by=caller(path, "ann"))
        await again.read()
        living.serving.streams.close()
        await again.ends()
        late = living.serving.group(GROUP)
        await late.ends()
        assert late.kinds == []

    _run(follow)


def test_a_group_that_is_forgotten_and_comes_back() -> None:
    """While it reads the topics again, a view leaves pages as they are; then it tells what went."""
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        page = living.serving.group(GROUP)
        await page.read()
        view, rows = living.serving.view, Reader(living.world).rows()
        view.begin(NAMES, PARTITIONS)
        view.apply([row for row in rows if row.topic == NAMES.name("routes")])
        assert not await page.read_if_there(0.3)
        view.follow()
        assert await page.read() == "gone"
        view.apply(rows)
        assert await page.read() == "snapshot"
        while not living.is_shown(page):
            await page.read()
        await page.close()

    _run(follow)


@cache
def _life() -> tuple[list[RawRecord], list[RawRecord]]:
    """Return the rows of a group's life in the order of time: its beginning, and all later ones."""
    rows = [row for log in timed_rows(moving_life()).values() for row in log]
    named = sorted(rows, key=lambda row: row.append_ms)
    prefixed = [row._replace(topic=f"t.{row.topic.removeprefix('t.')}") for row in named]
    third = len(prefixed) // 3
    return prefixed[:third], prefixed[third:]


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 3), st.booleans()), max_size=14))
def test_a_connection_that_is_cut_anywhere_loses_no_decision(
    steps: list[tuple[int, int, bool]],
) -> None:
    """Wherever a stream is cut, the next one goes on behind the newest decision that it told."""
    before, rest = _life()
    serving = Serving(before)

    async def follow() -> None:
        page, marks = serving.group("orders"), list[int]()
        await page.read()
        known, unread = page.last_id, [*rest]
        for size, reads, cut in [*steps, (len(rest), 0, True)]:
            batch, unread = unread[:size], unread[size:]
            serving.view.apply(batch)
            for _ in range(reads):
                await page.read_if_there(0.02)
            if cut:
                marks += page.marks
                await page.close()
                page = serving.group("orders", after=page.last_id)
                await page.read()
                assert page.resumed is not None
                assert page.resumed["complete"]
        decisions = serving.view.decisions("orders", after=known) or []
        wanted = [each["at"][2] for each in decisions]
        assert len(wanted) > 3
        while {*marks, *page.marks} != {*wanted}:
            await page.read()
        assert page.marks == sorted(page.marks)
        await page.close()

    _run(follow)


def test_a_decision_that_the_view_forgot_is_no_silent_gap() -> None:
    """A stream that goes on behind a decision that nobody remembers says that some are missing."""
    living = Living(world_of("c1", "c2", queues=4))

    async def follow() -> None:
        page = living.serving.group(GROUP, after=9_999)
        await page.read()
        assert page.resumed == {"after": 9_999, "complete": False}
        await page.close()

    _run(follow)
