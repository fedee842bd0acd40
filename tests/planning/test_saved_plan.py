"""A plan as a file, and what came of it beside what was planned."""

import copy
from typing import Any

import orjson
import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import RuleSet
from fairlead.kafka.decision_log import decisions_after, newest_epoch
from fairlead.planning.changes import Changes, Join, RouteSize, records_of
from fairlead.planning.group_file import BadGroupError, read_group
from fairlead.planning.plan import plan
from fairlead.planning.plan_outcome import is_held_up, outcomes_of, unplanned_causes
from fairlead.planning.saved_plan import (
    PlannedMove,
    SavedPlan,
    moves_of,
    plan_json,
    read_saved_plan,
)
from fairlead.wire.decision_records import DecisionRecord, MoveRecord
from tests.kit.decisions import decision_of, move_of
from tests.kit.live_group import GROUP, look, planned, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.world import World, world_of

STICKY = rule("strategy", {"name": "STICKY"})
PIN = rule("pin", {"queue": ["orders", "main", 0], "client_id": "c2"})
UNPIN = RuleSet(GROUP, "pin", ("orders", "main", "7"), None)
CHANGES = Changes(
    joins=(Join("c9"), Join("c8", ("orders",), "east", 2)),
    leaves=("c1",),
    routes=(RouteSize("orders", None, 20), RouteSize("payments", "main", 6)),
    rules=(STICKY, PIN, UNPIN),
)


def saved_of(world: World, changes: Changes) -> SavedPlan:
    """Return the plan of some changes as it is saved."""
    epoch = newest_epoch(MemorySource(world.topics), GROUP)
    return SavedPlan(GROUP, epoch, world.topics.now_ms, changes, moves_of(planned(world, changes)))


def without_authors(changes: Changes) -> Changes:
    """Return changes without who asked for them: a plan does not keep it."""
    rules = [RuleSet(each.group, each.rule, each.subject, each.value) for each in changes.rules]
    return Changes(changes.joins, changes.leaves, changes.routes, tuple(rules))


def test_a_saved_plan_is_read_as_written() -> None:
    """A saved plan is read as it was written, and its file still is the group alone."""
    world = world_of("c1", "c2", "c3")
    saved = saved_of(world, CHANGES)
    planned = look(world).planned
    document = orjson.loads(orjson.dumps(plan_json(planned, saved)))
    found = read_saved_plan(document)
    assert found.changes == without_authors(CHANGES)
    assert (found.epoch, found.made_ms, found.moves) == (saved.epoch, saved.made_ms, saved.moves)
    assert found.of_others
    again = read_group(document)
    assert again.owners == planned.owners
    assert moves_of(plan(again, records_of(again, CHANGES))) == saved.moves


@pytest.mark.parametrize(
    "path, value, told",
    [
        ((), None, "plan: it is missing"),
        (("epoch",), [1], "plan.epoch: it must be"),
        (("made_ms",), "now", "plan.made_ms: it must be"),
        (("rules",), {}, "plan.rules: it must be a list"),
        (("rules", 0, "key"), ["orders", "nope"], "plan.rules.0.: it is none"),
        (("rules", 0, "rule"), "pin", "its key is of the rule strategy"),
        (("rules", 0, "key"), ["bills", "strategy"], "strategy is of bills, not of orders"),
        (("joins", 0), {"client_id": "c"}, "plan.joins.0.: it is none .'topics'"),
        (("leaves", 0), 7, "plan.leaves.0.: it is none .7 is no text"),
        (("routes", 0, "topic"), None, "plan.routes.0.: it is none"),
        (("routes", 0, "queues"), "9", "plan.routes.0.: it is none"),
        (("moves", 0, "queue"), ["orders", 1], "plan.moves.0.: it is none .a queue is"),
        (("more",), 1, "plan.more: unknown"),
    ],
)
def test_a_file_that_is_no_plan(path: tuple[Any, ...], value: object, told: str) -> None:
    """The error of a wrong file names the field."""
    world = world_of("c1", "c2", "c3")
    document = plan_json(look(world).planned, saved_of(world, CHANGES))
    wrong = orjson.loads(orjson.dumps(copy.deepcopy(document)))
    place = wrong
    for step in ("plan", *path)[:-1]:
        place = place[step]
    place[("plan", *path)[-1]] = value
    with pytest.raises(BadGroupError, match=told):
        read_saved_plan(wrong)


def test_a_plan_without_a_field_is_refused() -> None:
    """A plan without a field is refused, and the error names the field."""
    world = world_of("c1", "c2")
    document = plan_json(look(world).planned, saved_of(world, CHANGES))
    del document["plan"]["moves"]
    with pytest.raises(BadGroupError, match=r"plan\.moves: missing"):
        read_saved_plan(document)


def test_the_epoch_is_that_of_the_newest_decision() -> None:
    """The epoch is of the newest decision of that group; what came after follows in order."""
    world = world_of("c1", "c2")
    source = MemorySource(world.topics)
    before = newest_epoch(source, GROUP)
    assert before is not None
    assert decisions_after(source, GROUP, before) == []
    world.join("c3", subscribed=tuple(world.queues))
    world.pass_seconds(12)
    found = decisions_after(source, GROUP, before)
    assert found[0].previous_epoch == before
    assert "client_joined" in found[0].triggers
    assert found[-1].epoch == newest_epoch(source, GROUP)
    assert [each.epoch for each in found] == sorted(each.epoch for each in found)
    assert newest_epoch(source, "nobody") is None
    everything = decisions_after(source, GROUP, None)
    assert everything[-len(found) :] == found
    assert len(everything) > len(found)


def test_the_engine_does_what_was_planned() -> None:
    """What the engine does on a plan's rules is what was planned, and follows on its epoch."""
    world = world_of("c1", "c2", "c3")
    rules = (STICKY, PIN)
    saved = saved_of(world, Changes(rules=rules))
    assert saved.moves
    source = MemorySource(world.topics)
    set_rules(world, *rules)
    world.run_all()
    found = decisions_after(source, GROUP, saved.epoch)
    rows = outcomes_of(saved.moves, found)
    assert {row.verdict for row in rows} == {"as_planned"}
    assert [row.planned for row in rows] == list(saved.moves)
    own = [place for each in found for place in each.places()]
    assert unplanned_causes(found, saved.epoch, own) == (False, [])


def test_somebody_joins_meanwhile() -> None:
    """The outcome names a join in the same decision and one before, and other moves."""
    world = world_of("c1", "c2", "c3")
    saved = saved_of(world, Changes(rules=(STICKY, PIN)))
    source = MemorySource(world.topics)
    set_rules(world, STICKY, PIN)
    world.join("c4", subscribed=tuple(world.queues))
    world.run_all()
    found = decisions_after(source, GROUP, saved.epoch)
    own = [place for each in found for place in each.places() if place[0] == "t.control"]
    assert unplanned_causes(found, saved.epoch, own) == (False, ["client_joined c4"])
    assert {"otherwise", "not_planned"} & {row.verdict for row in outcomes_of(saved.moves, found)}
    late = saved_of(world, Changes())
    assert late.epoch != saved.epoch
    between, _ = unplanned_causes(found, late.epoch, own)
    assert between


QUEUE = MessageQueue("orders", "main", 0)


def decided(*moves: MoveRecord, number: int = 5, phase: str = "handing_over") -> DecisionRecord:
    """Return a decision that did this."""
    return decision_of(
        Epoch(1, number), moves, group=GROUP, members=("a", "b"), phase=phase, settled=False
    )


def moved(stage: Any, client_id: str, number: int = 5) -> MoveRecord:
    """Return a line of a decision."""
    return move_of(QUEUE, stage, client_id, Epoch(1, number))


@pytest.mark.parametrize(
    "decisions, verdict",
    [
        ([decided(moved("dropped", "a", 3), moved("gated", "b"))], "as_planned"),
        ([decided(moved("dropped", "a", 3))], "as_planned"),
        ([decided(moved("dropped", "a", 3), moved("gated", "c"))], "otherwise"),
        ([decided(moved("granted", "b"))], "otherwise"),
        ([decided()], "not_moved"),
        ([decided(phase="paused")], "held_up"),
        ([decided(moved("dropped", "a", 3), moved("gated", "a"))], "not_moved"),
        # Written again: no move of this decision.
        ([decided(moved("gated", "b", 3))], "not_moved"),
        (
            [
                decided(moved("dropped", "a", 3), moved("gated", "c")),
                decided(moved("dropped", "c"), moved("gated", "b", 6), number=6),
            ],
            "as_planned",
        ),
    ],
)
def test_a_move_is_as_planned_or_not(decisions: list[DecisionRecord], verdict: str) -> None:
    """A planned move is as planned if its queue leaves its holder, and goes to nobody else."""
    (row,) = outcomes_of([PlannedMove(QUEUE, "a", "b")], decisions)
    assert row.verdict == verdict
    assert is_held_up(decisions) == (verdict == "held_up")
    assert row.to_json()["planned"] == {"from": "a", "to": "b"}


def test_a_move_that_was_not_planned_is_reported() -> None:
    """The outcome names a queue that moves without being planned to."""
    (row,) = outcomes_of([], [decided(moved("dropped", "a", 3), moved("gated", "b"))])
    assert (row.verdict, row.moved) == ("not_planned", PlannedMove(QUEUE, "a", "b"))
