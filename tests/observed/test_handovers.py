"""What is said of handovers is what the records prove, one by one."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import orjson
import pytest

from fairlead.history.grant_history import grant_history
from fairlead.history.moves import Move, decided_moves
from fairlead.observed.handovers import HandoverTally
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.wire.raw import RawRecord
from tests.kit.decision_bodies import START_MS, decision
from tests.kit.live_group import GROUP
from tests.kit.memory_topics import NAMES, shard_of
from tests.kit.moving_world import moving_life, timed_rows
from tests.kit.observations import forced, handing_over
from tests.kit.observed_world import empty_view, view_of
from tests.kit.replays import live
from tests.kit.world import World

EXPIRED = {"kind": "client_expired", "client_id": "c1"}
RELEASED = {"kind": "released", "client_id": "c1", "at": ["t.releases", 0, 1]}
MUTE = {"kind": "mute_member", "client_id": "c1"}
PASSED = {"kind": "generation_passed"}
INCARNATION = "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"
FIRST = decision(1, [("granted", 0, "c1", (1, 1))])


def _hour() -> World:
    """Clients come, go, die and hang in a row of chance."""
    world = World(queues={"orders": 12})
    live(world, 120, Random(7))
    world.pass_seconds(60)
    return world


def _moves(view: ObservedGroups) -> list[Move]:
    decisions = view.decisions(GROUP)
    assert decisions is not None
    audits = [each.record() for each in decisions if not each.superseded]
    history = grant_history(audits)
    history.settle(view.fold(GROUP).shares())
    return [move for each in decided_moves(history, {}, 0) for move in each.moves]


@pytest.mark.parametrize(
    "make", [moving_life, forced, handing_over, _hour], ids=lambda make: make.__name__.strip("_")
)
def test_each_move_to_another_client_is_checked_once(make: Callable[[], World]) -> None:
    """As many handovers are checked as `fairlead moves` tells of queues that another client got."""
    view = view_of(make())
    tally = view.fold(GROUP).handovers.tally
    arrived = [
        each
        for each in _moves(view)
        if each.kind == "moved"
        and each.before is not None
        and each.after is not None
        and (each.after.granted is not None or each.after.opened is not None)
    ]
    assert tally.checked == len(arrived) > 0
    assert tally.unsafe == sum(each.after is not None and each.after.unsafe for each in arrived)


def test_a_life_is_safe_by_releases_and_leases() -> None:
    """Each of two ways is counted, and the gap is that of a release and a decision in the log."""
    rows = [row for rows in timed_rows(moving_life()).values() for row in rows]
    view = empty_view()
    view.apply(rows)
    tally = view.fold(GROUP).handovers.tally
    assert tally.by_release > 0
    assert tally.by_lease > 0
    assert (tally.otherwise, tally.unsafe) == (0, 0)
    bodies = [(row, orjson.loads(row.value)) for row in rows if row.value is not None]
    released = [row.append_ms for row, body in bodies if body["kind"] == "release"]
    granted = [
        row.append_ms
        for row, body in bodies
        if body["kind"] == "decision" and any(each["stage"] == "granted" for each in body["moves"])
    ]
    gaps = {later - earlier for later in granted for earlier in released if later >= earlier}
    assert tally.smallest_gap_ms in gaps


def test_who_is_passed_over_makes_it_unsafe() -> None:
    """What the engine forces is no safe handover, whatever became of it later."""
    tally = view_of(forced()).fold(GROUP).handovers.tally
    assert tally.unsafe > 0


def _tally(*bodies: dict[str, Any], releases: dict[int, int] | None = None) -> HandoverTally:
    """Return the handovers of decisions made by hand; ``releases``: when c1 released each queue."""
    view = empty_view()
    rows = [
        _row("releases", offset, at_ms, _release(queue_id))
        for offset, (queue_id, at_ms) in enumerate((releases or {}).items())
    ]
    rows += [
        _row("decisions", offset, int(body["at_ms"]) + 500, {"v": 1, **body})
        for offset, body in enumerate(bodies)
    ]
    view.apply(rows)
    return view.fold(GROUP).handovers.tally


def _release(queue_id: int) -> dict[str, Any]:
    sender = {"group": GROUP, "client_id": "c1", "incarnation": INCARNATION}
    place = {"queue": ["orders", "main", queue_id], "epoch": [1, 1], "position": [0, 7]}
    return {"v": 1, "kind": "release", **sender, **place}


def _row(topic: str, offset: int, at_ms: int, body: dict[str, Any]) -> RawRecord:
    shard = shard_of(GROUP) if topic != "decisions" else 0
    return RawRecord(
        *(NAMES.name(topic), shard, offset, at_ms),
        append_time_is_log=True,
        key=GROUP.encode(),
        value=orjson.dumps(body),
    )


ENDED = ("resolved", 0, "c1", (1, 1))
NEXT = ("granted", 0, "c2", (1, 2))


@pytest.mark.parametrize(
    "cause, way",
    [
        (RELEASED, "by_release"),
        ({"kind": "client_left", "client_id": "c1"}, "by_release"),
        (EXPIRED, "by_lease"),
        (PASSED, "otherwise"),
        (MUTE, "otherwise"),
        ({"kind": "released", "client_id": "c3"}, "otherwise"),
        ({"kind": "client_expired", "client_id": "c2"}, "otherwise"),
    ],
)
def test_a_way_needs_its_proof(cause: dict[str, Any], way: str) -> None:
    """Only what a cause says of the former owner itself proves how its grant ended."""
    tally = _tally(FIRST, decision(2, [ENDED, NEXT], [cause]))
    assert tally == HandoverTally(**{way: 1})


def test_a_grant_while_the_former_owner_has_not_ended_is_unsafe() -> None:
    """Without the end of every older grant nobody knows that it was safe."""
    handed = decision(2, [("dropped", 0, "c1", (1, 1)), NEXT], [RELEASED])
    assert _tally(FIRST, handed) == HandoverTally(unsafe=1)


def test_a_word_of_doubt_in_the_decision_counts() -> None:
    """A grant that the engine itself calls unsafe is unsafe, whatever else the causes say."""
    handed = decision(2, [ENDED, NEXT], [EXPIRED])
    handed["moves"][1]["unsafe"] = True
    assert _tally(FIRST, handed) == HandoverTally(unsafe=1)


def test_the_gap_is_from_the_release_to_the_grant() -> None:
    """The time between both records counts; that of a release behind its grant proves nothing."""
    handed = decision(2, [ENDED, NEXT], [RELEASED])
    written_ms = START_MS + 2_500
    found = _tally(FIRST, handed, releases={0: written_ms - 300})
    assert found == HandoverTally(by_release=1, smallest_gap_ms=300)
    early = _tally(FIRST, handed, releases={0: written_ms + 40})
    assert early == HandoverTally(by_release=1)


def test_a_release_that_comes_too_late_proves_nothing() -> None:
    """A client that was taken for dead wrote its release behind the decision: its lease counts."""
    handed = decision(2, [ENDED, NEXT], [EXPIRED])
    late = _tally(FIRST, handed, releases={0: START_MS + 2_501})
    assert late == HandoverTally(by_lease=1)


def test_the_weakest_of_several_ends_counts() -> None:
    """One grant was released, and the next one that never began ended by a lease."""
    waits = decision(2, [("dropped", 0, "c1", (1, 1)), ("gated", 0, "c3", (1, 2))])
    ended = [ENDED, ("resolved", 0, "c3", (1, 2)), ("granted", 0, "c2", (1, 3))]
    causes: list[dict[str, Any]] = [RELEASED, {"kind": "client_expired", "client_id": "c3"}]
    assert _tally(FIRST, waits, decision(3, ended, causes)) == HandoverTally(by_lease=1)


def test_a_first_owner_and_the_same_client_take_over_from_nobody() -> None:
    """Neither the first grant of a queue nor a new one of its owner is a handover."""
    renewed = decision(2, [ENDED, ("granted", 0, "c1", (1, 2))], [RELEASED])
    assert _tally(FIRST, renewed) == HandoverTally()


def test_a_decision_that_was_written_twice_counts_once() -> None:
    """A batch that ran twice wrote its decision twice, under one step."""
    handed = decision(2, [ENDED, NEXT], [RELEASED])
    assert _tally(FIRST, handed, handed).checked == 1


def test_what_the_end_itself_lets_in_counts_once() -> None:
    """A client that waited for the last end alone began with it, and a later word adds nothing."""
    waits = decision(2, [("dropped", 0, "c1", (1, 1)), ("gated", 0, "c2", (1, 2))])
    ended = decision(3, [ENDED], [RELEASED], new=False)
    later = decision(4, [NEXT], new=False)
    assert _tally(FIRST, waits, ended) == HandoverTally(by_release=1)
    assert _tally(FIRST, waits, ended, later) == HandoverTally(by_release=1)


def test_old_handovers_are_forgotten_with_their_decisions() -> None:
    """The tally is of the decisions that are remembered, and shrinks with them."""
    view = view_of(moving_life())
    handovers = view.fold(GROUP).handovers
    history = view.fold(GROUP).decided.history
    counted = Counter(each.queues_moved > 0 for each in history)
    assert counted[True] > 1
    queues = view.fold(GROUP).decided.newest_grants
    before = handovers.tally
    handovers.forget_before(history[-1].append_ms, queues)
    assert handovers.tally.checked < before.checked
    handovers.forget_before(history[-1].append_ms + 1, queues)
    assert handovers.tally == HandoverTally()
