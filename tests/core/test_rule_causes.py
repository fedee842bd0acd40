"""A rule that changed stands in the audit record: which, for whom, by whom and why."""

from dataclasses import replace

import pytest

from fairlead.core.model import MessageQueue, Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import Cause, Decision
from fairlead.core.records import RuleSet
from fairlead.core.rules.group_rules import DefaultsChange, GroupRules, with_rule
from fairlead.core.rules.rule_cause import cause_of_rule
from fairlead.core.step import step
from strategies.registry import STRATEGIES
from tests.kit.group_world import GroupWorld, settled

AT = Source("control", 0, 7, 1)


@pytest.mark.parametrize(
    "rule, subject, cause",
    [
        ("slots", (), Cause("rules_changed")),
        ("drain", ("c1",), Cause("rules_changed", "c1")),
        ("pin", ("t", "b", "3"), Cause("pins_changed", queue=MessageQueue("t", "b", 3))),
        ("ban", ("t", "b", "3"), Cause("pins_changed", queue=MessageQueue("t", "b", 3))),
        ("weight", ("t", "b", "3"), Cause("weights_changed", queue=MessageQueue("t", "b", 3))),
        ("capacity", ("c1",), Cause("weights_changed", "c1")),
    ],
)
def test_the_cause_names_its_client_or_queue(
    rule: str, subject: tuple[str, ...], cause: Cause
) -> None:
    """The cause is of the rule's kind and names its client or queue."""
    told = cause_of_rule(RuleSet("orders", rule, subject, 1, "alice", "cold cache"), AT)
    assert told == replace(cause, at=AT, rule=rule, by="alice", because="cold cache")


def test_a_removed_rule_says_neither_who_nor_why() -> None:
    """A null record says neither who nor why, but that the rule is gone; a rule of all says so."""
    told = cause_of_rule(RuleSet("*", "slots", (), None), AT)
    assert told == Cause("rules_changed", at=AT, rule="slots", group="*", removed=True)


def _told(world: GroupWorld) -> list[tuple[str | None, str | None, str | None, bool]]:
    return [(each.rule, each.by, each.because, each.removed) for each in world.decision.cause]


def test_two_records_of_one_rule_are_two_causes() -> None:
    """Two records of one rule in one step are two causes, each with its record and reason."""
    world = settled("a", "b")
    world.rule("slots", "group", by="alice", because="as before the move")
    world.rule("slots", None, by="bob")
    world.run()
    assert _told(world) == [
        ("slots", "alice", "as before the move", False),
        ("slots", "bob", None, True),
    ]
    assert [each.at and each.at.offset for each in world.decision.cause] == [0, 1]
    assert world.decision.triggers == ("rules_changed",)


def test_a_rule_already_in_force_is_no_cause() -> None:
    """A rule that says what is in force already is no cause; the first record stays the reason."""
    world = settled("a")
    world.rule("slots", "group", by="alice")
    world.rule("slots", "group", by="bob")
    world.run()
    assert _told(world) == [("slots", "alice", None, False)]


def test_an_assignment_names_the_rule_and_its_reason() -> None:
    """The assignment of a client that loses a queue by a rule names the rule and its reason."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["b"]}, because="a is slow")
    world.run()
    assert [(each.rule, each.because) for each in world.told("a").cause] == [
        ("designated", "a is slow")
    ]


def _after_change(world: GroupWorld, *causes: Cause, **rules: object) -> tuple[Cause, ...]:
    """Return the causes of the step in which the rules of all groups became these."""
    defaults = GroupRules()
    for rule, value in rules.items():
        defaults = with_rule(defaults, rule, value, STRATEGIES)
    change = DefaultsChange(GroupRules(), causes)
    engine = replace(world.rules, defaults=defaults, defaults_change=change)
    moment = Moment(world.clock_ms, world.clock_ms, world.marker)
    outputs = step(world.state, [], moment, engine).outputs
    return tuple(
        cause for output in outputs if isinstance(output, Decision) for cause in output.cause
    )


def test_a_rule_of_all_groups_is_a_cause_where_it_changes_something() -> None:
    """A rule of all groups is a cause where it changes something, and none where it does not."""
    world = settled("a", "b")
    timing = Cause("rules_changed", at=AT, rule="timing", group="*", by="conf")
    slots = Cause("rules_changed", at=AT._replace(offset=8), rule="slots", group="*")
    changed = {"timing": {"trigger_ms": 5_000}, "slots": "group"}
    assert _after_change(world, timing, slots, **changed) == (timing, slots)
    world.rule("slots", "subscribers")
    world.rule("timing", {"trigger_ms": 5_000})
    world.run()
    assert _after_change(world, timing, slots, **changed) == ()
    assert _after_change(world, timing, timing={"margin_ms": 5_000}) == (timing,)
