"""What serve and commands answer of groups in memory is as the schema says."""

from dataclasses import replace

import pytest

from fairlead.control.control_session import RuleOutcome
from fairlead.control.queue_place import QueuePlace
from fairlead.control.queue_resets import PlannedReset, ResetOutcome
from fairlead.control.rule_json import rules_json
from fairlead.core.model import MessageQueue, Position
from fairlead.core.records import Reset, RuleSet
from fairlead.kafka.topic_follower import Following
from fairlead.observed.bridge_liveness import BridgeLiveness
from fairlead.observed.verdict import check_group, unreadable_group
from fairlead.serve.readiness import readiness_of
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from fairlead.wire.decision_records import DecisionRecord, decisions_of
from strategies.registry import STRATEGIES
from tests.answers.schema import assert_answer, assert_answers
from tests.kit.live_group import GROUP, TICK_MS, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import moving_life
from tests.kit.observations import standing_of, stubborn
from tests.kit.observed_world import Reader
from tests.kit.world import World, world_of


@pytest.fixture(scope="module")
def life() -> World:
    """A life in which queues moved for many reasons."""
    return moving_life()


def _handing_over() -> World:
    world = world_of("c1", "c2", queues=6)
    stubborn(world, "c1")
    set_rules(world, rule("timing", {"settle_ms": 0, "lease_ms": 10_000}))
    world.join("c0")
    world.pass_seconds(2)
    return world


def _decisions(world: World) -> list[DecisionRecord]:
    return list(decisions_of(GROUP, MemorySource(world.topics).read("decisions", [0])))


def test_serve(life: World) -> None:
    """Lists, descriptions, decisions and bridges of the view."""
    held = SharedView(load_settings().serve, TICK_MS, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(Reader(life).rows())
    held.follow()
    assert_answers("Group", held.groups())
    assert_answer("GroupDescribed", held.group(GROUP))
    assert_answers("Decision", held.decisions(GROUP) or ())
    following = Following(caught_up=False, trouble="", topics={}, read=1, wanted=2)
    assert_answer("Readiness", readiness_of(following).to_json())


def test_describe_and_check(life: World) -> None:
    """The parts of a description, and the verdict; whole with every queue and member."""
    for standing in (standing_of(life), standing_of(_handing_over())):
        assert_answer("GroupState", standing.to_json())
        assert_answer("GroupDescribed", standing.to_full_json())
        assert_answers("Queue", [each.to_json() for each in standing.queues])
        assert_answers("Member", [each.to_json() for each in standing.members])
        assert_answer("Verdict", check_group(standing).to_json())
        assert_answers("Rule", rules_json(standing.live.in_force))
    assert_answer("Verdict", unreadable_group("orders", "it makes no sense", "report it").to_json())
    assert_answer("Bridge", BridgeLiveness("main", "dead", 1, 2).to_json())


def test_rules_and_resets(life: World) -> None:
    """What came of a rule and of a reset, with the decisions that it led to or without."""
    decisions = _decisions(life)
    pin = RuleSet(GROUP, "pin", ("orders", "main", "1"), None, "alice")
    for outcome in (
        RuleOutcome(pin, "unanswered"),
        RuleOutcome(pin, "in_force", (), (*decisions,)),
    ):
        assert_answer("RuleOutcome", outcome.to_json("control"))
    queue = MessageQueue("orders", "main", 1)
    place = QueuePlace(queue, "life", 0, 9, Position(0, 4), "progress")
    reset = Reset(GROUP, queue, 2, "alice")
    written = ResetOutcome(PlannedReset(place, 2), "followed", decision=decisions[-1])
    for followed in (written, replace(written, decision=None, answer="not_written")):
        assert_answer("Reset", followed.to_json(reset, "control"))


def test_queues_moved_are_counted_alike(life: World) -> None:
    """A decision alone counts its moves as the view does, which knows what came before it."""
    held = SharedView(load_settings().serve, TICK_MS, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(Reader(life).rows())
    told = {tuple(each["epoch"]): each["queues_moved"] for each in held.decisions(GROUP) or ()}
    alone = {tuple(each.epoch): each.queues_moved for each in _decisions(life)}
    assert alone == told
    assert sum(alone.values()) > 0
