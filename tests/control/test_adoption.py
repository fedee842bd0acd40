"""Where a group begins that takes over, and where one goes on that was handed back."""

from dataclasses import replace

import pytest

from fairlead.control.native_handback import (
    ends_release,
    foreign_designation,
    is_released,
    plan_release,
    release_rule,
    take_back_rule,
)
from fairlead.control.native_takeover import Uncommitted, plan_adoption
from fairlead.control.queue_place import PositionTeller, QueuePlace
from fairlead.control.released_group import refuse_to_end_release
from fairlead.control.rule_change import changes_of
from fairlead.control.rules_in_force import RulesInForce, WrittenRule
from fairlead.core.model import MessageQueue, Position
from fairlead.core.records import RuleSet
from fairlead.errors import RefusedError
from strategies.registry import STRATEGIES
from tests.answers.schema import assert_answer

QUEUE = MessageQueue("orders", "main", 0)


def place_of(position: Position | None = None, told_by: PositionTeller | None = None) -> QueuePlace:
    """Return a queue that keeps the offsets 10 to 99."""
    return QueuePlace(QUEUE, "life", 10, 100, position, told_by)


@pytest.mark.parametrize(
    "native, uncommitted, begins, why",
    [
        (40, None, 40, "committed"),
        (10, "latest", 10, "committed"),
        (100, None, 100, "committed"),
        (3, None, 10, "below_earliest"),
        (120, None, 100, "beyond_latest"),
        (None, None, None, "consume_from"),
        (None, "earliest", 10, "chosen"),
        (None, "latest", 100, "chosen"),
    ],
)
def test_a_native_group_is_taken_over_at_its_commit(
    native: int | None, uncommitted: Uncommitted | None, begins: int | None, why: str
) -> None:
    """At the commit, inside what is kept; without one where the operator or the clients say."""
    committed = {} if native is None else {QUEUE: native}
    (found,) = plan_adoption([place_of()], committed, uncommitted)
    assert (found.begins, found.why, found.is_ahead) == (begins, why, False)
    assert found.needs_reset == (begins is not None)
    assert found.lag == (None if begins is None else 100 - begins)
    assert_answer("Adoption", found.to_json(None))


@pytest.mark.parametrize(
    "position, told_by, ahead",
    [
        (Position(0, 41), "progress", True),
        (Position(0, 41), "release", True),
        (Position(7, 41), "committed", True),
        (Position(7, 40), "progress", False),
        (Position(7, 12), "release", False),
        # Of an adoption that is done again: nobody has read from there.
        (Position(7, 90), "reset", False),
    ],
)
def test_moved_on_already(position: Position, told_by: PositionTeller, ahead: bool) -> None:  # noqa: FBT001 - a case
    """What Fairlead's clients have read and the native group has not would be read again."""
    (found,) = plan_adoption([place_of(position, told_by)], {QUEUE: 40}, None)
    assert (found.begins, found.is_ahead) == (40, ahead)


def test_a_commit_beyond_the_end_is_not_ahead() -> None:
    """Under one name the commit is both groups' position: none of them is further."""
    (found,) = plan_adoption([place_of(Position(0, 120), "committed")], {QUEUE: 120}, None)
    assert (found.begins, found.is_ahead) == (100, False)


def test_an_own_position_without_a_commit() -> None:
    """A queue that only Fairlead's clients have read goes on where they are, and needs no word."""
    (found,) = plan_adoption([place_of(Position(0, 30), "progress")], {}, "latest")
    assert (found.begins, found.why, found.needs_reset) == (30, "own", False)


@pytest.mark.parametrize(
    "position, native, to, verdict",
    [
        (Position(7, 40), None, 40, "to_write"),
        (Position(7, 40), 20, 40, "to_write"),
        (Position(7, 40), 40, 40, "stands"),
        (Position(7, 40), 41, 40, "ahead"),
        (Position(0, 3), None, 10, "to_write"),
        (Position(0, 120), 20, 100, "to_write"),
        (None, 20, None, "untold"),
    ],
)
def test_where_it_is_handed_back(
    position: Position | None, native: int | None, to: int | None, verdict: str
) -> None:
    """At Fairlead's position, inside what is kept; a native group that is further is not moved."""
    committed = {} if native is None else {QUEUE: native}
    told_by: PositionTeller | None = None if position is None else "committed"
    (found,) = plan_release([place_of(position, told_by)], committed)
    assert found.verdict == verdict
    assert (None if found.position is None else found.position.offset) == to
    assert found.lag == (None if to is None else 100 - to)
    assert_answer("Handback", found.to_json("committed", None))
    if position is not None:
        assert found.position is not None
        assert found.position.reset == position.reset


def test_the_rule_of_a_released_group() -> None:
    """It designates nobody, the engine takes it, and it differs from every other."""
    present = RulesInForce(STRATEGIES)
    assert not is_released(present)
    (change,), after = changes_of(present, [replace(release_rule("orders"), by="alice")])
    assert change.changes
    assert is_released(after)
    assert not foreign_designation(after)
    designation = after.rules.designated
    assert designation is not None
    assert not any(designation.entries.names(each) for each in ("a", "10.0.0.1@7#1", "released"))
    _, gone = changes_of(after, [replace(take_back_rule("orders"), by="alice")])
    assert not is_released(gone)
    own = RuleSet("orders", "designated", (), {"only": ["a"]})
    present.apply(WrittenRule(own, "control", 0, 0, 0))
    assert foreign_designation(present)


@pytest.mark.parametrize(
    "rule, ends",
    [
        (take_back_rule("orders"), True),
        (RuleSet("orders", "designated", (), {"only": ["a"]}), True),
        (release_rule("orders", elsewhere=True), False),
        (RuleSet("orders", "slots", (), None), False),
    ],
    ids=["unset", "another designation", "released again", "another rule"],
)
def test_what_ends_a_release(rule: RuleSet, *, ends: bool) -> None:
    """A rule that lets Fairlead's clients in beside native ones is refused, with the way back."""
    present = RulesInForce(STRATEGIES)
    assert ends_release(present, [rule]) is None
    refuse_to_end_release("orders", present, [rule])
    present.apply(WrittenRule(replace(release_rule("orders"), by="alice"), "control", 0, 0, 0))
    if not ends:
        refuse_to_end_release("orders", present, [rule])
        return
    with pytest.raises(RefusedError) as refused:
        refuse_to_end_release("orders", present, [rule])
    assert "alice did it" in refused.value.message
    assert "fairlead adopt orders --apply" in refused.value.remedy
    assert "--released-ok" in refused.value.remedy
