"""Looks count by their order in the topic, and no clock of a bridge says anything (rule H32)."""

import pytest

from fairlead.codec.standing import plain_standing, read_standing
from fairlead.core.standing import Footing
from tests.kit.group_world import key_of
from tests.kit.standby_group import BRIDGE, StandbyGroup, attached

HOUR_MS = 3_600_000
OTHER = "9c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d22"
NATIVE = "10.0.0.9@9"

clocks = pytest.mark.parametrize("ahead_ms", [-HOUR_MS, 0, HOUR_MS])


def _frozen(ahead_ms: int) -> StandbyGroup:
    """Return a frozen group in which one of two members has told what it holds."""
    group = attached("ab")
    group.ahead_ms = ahead_ms
    group.freeze("ab")
    group.former("a", {0: 10})
    group.world.run()
    return group


@clocks
def test_a_take_over_ends_whatever_a_bridges_clock_says(ahead_ms: int) -> None:
    """Two looks after the last answer are enough for a bridge with any clock (rule H32)."""
    group = _frozen(ahead_ms)
    group.former("b", {1: 11})
    group.world.run()
    group.looks("ab")
    assert group.on() is Footing.FREEZING
    group.looks("ab")
    assert group.on() is Footing.CONFIRMING


@clocks
def test_looks_appended_before_the_last_answer_do_not_count_when_read_late(ahead_ms: int) -> None:
    """A native consumer came after two looks that the engine reads late: none shows it (H32)."""
    group = _frozen(ahead_ms)
    for _ in range(2):
        group.tell("ab")
    group.world.clock_ms += 1
    group.former("b", {1: 11})
    group.world.run(unread="offsets")
    group.world.run()
    assert group.on() is Footing.FREEZING
    group.looks("ab", NATIVE)
    assert group.on() is Footing.FOLLOWING
    assert group.standing.because == f"not attached: {NATIVE}"


@clocks
def test_a_look_of_the_same_millisecond_as_the_last_answer_does_not_count(ahead_ms: int) -> None:
    """Of two records with one append time nobody knows which was first (rule H32)."""
    group = _frozen(ahead_ms)
    group.tell("ab")
    group.former("b", {1: 11})
    group.world.run(unread="offsets")
    group.world.run()
    group.looks("ab")
    assert group.on() is Footing.FREEZING
    group.looks("ab")
    assert group.on() is Footing.CONFIRMING


@pytest.mark.parametrize("first_ms, second_ms", [(HOUR_MS, -HOUR_MS), (-HOUR_MS, HOUR_MS)])
def test_a_bridge_is_silent_by_append_times(first_ms: int, second_ms: int) -> None:
    """The looks of a second bridge count when the first has appended none for 15 s."""
    group = attached("a")
    group.ahead_ms = first_ms
    group.looks("a")
    group.ahead_ms = second_ms
    group.looks("a", bridge=OTHER, times=3)
    assert group.standing.looks["main"].bridge == BRIDGE
    group.world.clock_ms += 15_000
    group.beat("a")
    group.looks("a", bridge=OTHER)
    assert group.on() is Footing.FOLLOWING
    group.looks("a", bridge=OTHER)
    assert group.on() is Footing.FREEZING


def test_a_look_that_was_read_before_counts_once() -> None:
    """A producer that sends a look again does not make two of it."""
    group = attached("a")
    group.looks("a")
    group.look -= 1
    group.looks("a")
    assert group.on() is Footing.FOLLOWING
    group.looks("a")
    assert group.on() is Footing.FREEZING


def test_a_foreign_member_is_there_for_so_long_by_append_times() -> None:
    """A bridge's clock jumps an hour ahead: nobody is foreign for that."""
    group = attached("a")
    group.freeze("a")
    group.former("a", {0: 10})
    group.looks("a", times=3)
    group.confirm("a")
    assert group.on() is Footing.OWN
    group.looks("a", NATIVE)
    group.ahead_ms = HOUR_MS
    group.looks("a", NATIVE)
    assert group.foreign() == ()


def test_looks_of_an_earlier_version_are_as_if_never_read() -> None:
    """An earlier version dated looks by the bridge's clock: what it has counted counts no more."""
    group = attached("a")
    group.looks("a")
    plain = plain_standing(group.standing, {key_of("a"): 0})
    assert plain is not None
    assert read_standing(plain, [key_of("a")]) == group.standing
    earlier = [[name, *looks] for name, looks in plain[9]]
    standing = read_standing([*plain[:9], earlier, *plain[10:]], [key_of("a")])
    assert standing is not None
    assert (standing.looks, standing.said) == ({}, group.standing.said)
