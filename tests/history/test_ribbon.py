"""The ribbon: who worked on which queue when, by decisions and releases."""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from fairlead.core.model import MessageQueue
from fairlead.history.ribbon import Ribbon, RibbonMark, RibbonRow, RibbonSpan, RibbonWindow
from fairlead.history.ribbon_facts import facts_of
from fairlead.history.ribbon_fold import RibbonFold
from tests.answers.schema import assert_answer
from tests.kit.client import Client
from tests.kit.live_group import GROUP, heard_alone, orders, rule, set_rules
from tests.kit.observations import stubborn
from tests.kit.observed_world import Followed
from tests.kit.replays import kill, live
from tests.kit.world import World, world_of

WHOLE = RibbonWindow(0)


def _update(fold: RibbonFold, followed: Followed) -> bool:
    view = followed.view
    facts = facts_of(view, GROUP, fold.place, max(followed.world.topics.now_ms, view.as_of_ms))
    assert facts is not None
    return fold.update(facts)


def _ribbon(followed: Followed, window: RibbonWindow = WHOLE) -> Ribbon:
    fold = RibbonFold(GROUP)
    _update(fold, followed)
    found = fold.ribbon(window, followed.view.as_of_ms)
    assert_answer("Ribbon", found.to_json())
    return found


def _spans(ribbon: Ribbon, number: int = 0) -> list[RibbonSpan]:
    (row,) = [each for each in ribbon.rows if each.queue == orders(number)]
    return [*row.spans]


def _holder(world: World, number: int) -> Client:
    (found,) = [each for each in world.clients if orders(number) in each.held]
    return found


def _moved(followed: Followed, number_of: int, to: str) -> list[tuple[RibbonSpan, RibbonSpan]]:
    """Return the last two spans of each queue that goes to a client."""
    ribbon = _ribbon(followed)
    pairs = [_spans(ribbon, number)[-2:] for number in range(number_of)]
    return [(pair[0], pair[1]) for pair in pairs if pair[-1].client_id == to and len(pair) > 1]


def test_a_kill_is_a_silence_and_then_the_next_owner() -> None:
    """The span of a client that died ends when the engine took it, and tells its last heartbeat."""
    followed = Followed(world_of("c1", "c2", queues=4))
    dead = _holder(followed.world, 0)
    (heard_ms,) = [
        heard.heard_ms
        for key, heard in followed.view.fold(GROUP).members.heard.items()
        if key.client_id == dead.client_id
    ]
    assert _spans(_ribbon(followed))[-1].silent_since_ms is None
    dead.gone = True
    followed.pass_seconds(10)
    span = _spans(_ribbon(followed))[-1]
    assert (span.client_id, span.ends_ms, span.silent_since_ms) == (dead.client_id, None, heard_ms)
    followed.pass_seconds(20)
    before, after = _spans(_ribbon(followed))[-2:]
    assert (before.client_id, before.silent_since_ms) == (dead.client_id, heard_ms)
    assert before.released_ms is None
    assert before.ends_ms == after.begins_ms
    assert after.client_id != dead.client_id
    assert after.ends_ms is None
    assert after.silent_since_ms is None


def test_a_handover_ends_and_begins_with_the_release() -> None:
    """The former owner has stopped at its release, and the next one begins with it."""
    world = world_of("c1", queues=4)
    followed = Followed(world)
    world.join("c2")
    world.run(0)
    world.run(1)
    followed.read()
    moving = _moved(followed, 4, "c2")
    assert moving
    for before, after in moving:
        assert before.asked_ms is not None
        assert before.ends_ms is None
        assert after.waits
        assert after.since_ms == after.given_ms == before.asked_ms
    world.deliver()
    followed.read()
    moved = _moved(followed, 4, "c2")
    followed.pass_seconds(3)
    for before, after in (*moved, *_moved(followed, 4, "c2")):
        assert before.ends_ms == before.released_ms == after.begins_ms
        assert not after.waits
        assert after.ends_ms is None
    assert len(moved) == len(moving)


def test_without_an_engine_the_release_alone_hands_over() -> None:
    """A client that goes by the release itself begins then, although no decision says so."""
    world = world_of("c1", "c2", queues=6)
    followed = Followed(world)
    world.join("c3")
    world.run_all()
    world.deliver()
    heard_alone(world, 3, *world.clients, ticking=False)
    followed.read()
    moved = _moved(followed, 6, "c3")
    assert moved
    for before, after in moved:
        assert before.released_ms == before.ends_ms == after.begins_ms


def _slow() -> World:
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    world.join("c3")
    return world


def _eager() -> World:
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("mode", "eager"))
    return world


def _forced() -> World:
    world = _slow()
    set_rules(world, rule("on_mute", "force"))
    return world


def _life(begin: Callable[[], World], seed: int, followed: list[Followed]) -> Iterator[None]:
    """Let clients come, go and die, and engines too; yield after each second that was read."""
    world, chance = begin(), Random(seed)
    followed.append(Followed(world))
    for second in range(1, 30):
        live(world, 1, chance, first=second)
        if second % 13 == 0:
            kill(world, 3, 5)
        followed[0].read()
        yield


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begin", [World, _slow, _eager, _forced])
def test_what_is_folded_step_by_step_is_what_is_folded_at_once(
    begin: Callable[[], World], seed: int
) -> None:
    """Changes add up to the ribbon that one look gives, and never are two owners safe at once."""
    shared: list[Followed] = []
    fold = RibbonFold(GROUP)
    rows: dict[MessageQueue, RibbonRow] = {}
    marks: list[RibbonMark] = []
    for _ in _life(begin, seed, shared):
        version = fold.version
        if shared[0].view.decisions(GROUP) is None:
            continue
        _update(fold, shared[0])
        change = fold.change(version, WHOLE)
        rows |= {each.queue: each for each in change.rows}
        for queue in change.gone:
            rows.pop(queue, None)
        marks += change.marks
    ribbon = fold.ribbon(WHOLE, 0)
    assert {each.queue: each for each in ribbon.rows} == rows
    assert [*ribbon.marks] == marks
    assert any(len(each.spans) > 1 for each in ribbon.rows)
    for mark in marks:
        for owners in ribbon.owners_at(mark.append_ms).values():
            assert sum(not each.unsafe for each in owners) <= 1
