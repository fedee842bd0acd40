"""How busy a group was, by the decisions that are remembered."""

from dataclasses import replace

from fairlead.observed.activity import BUCKET_MS, BUCKETS, activity_since, group_activity
from fairlead.observed.bounds import Bounds
from fairlead.observed.group_decisions import GroupDecisions, LoggedDecision
from tests.kit.live_group import GROUP
from tests.kit.moving_world import moving_life
from tests.kit.observed_world import view_of

NOW_MS = 1_781_000_123_456


def _some() -> list[LoggedDecision]:
    return list(view_of(moving_life()).fold(GROUP).decided.history)


def _at(each: LoggedDecision, at_ms: int, **other: object) -> LoggedDecision:
    return replace(each, append_ms=at_ms, **other)  # type: ignore[arg-type]


def _decided(decisions: list[LoggedDecision], kept_max: int = 1_000) -> GroupDecisions:
    decided = GroupDecisions(Bounds(decisions=kept_max, ends=4, releases=4))
    decided.history.extend(decisions)
    return decided


def test_buckets_are_hours_of_the_clock() -> None:
    """The last of 24 began with the hour that goes on."""
    since_ms = activity_since(NOW_MS)
    assert since_ms % BUCKET_MS == 0
    assert since_ms + 23 * BUCKET_MS <= NOW_MS < since_ms + 24 * BUCKET_MS


def test_each_decision_counts_in_its_hour() -> None:
    """What a decision moved counts when it was appended; older ones and superseded ones do not."""
    since_ms, some = activity_since(NOW_MS), _some()
    moving = next(each for each in some if each.queues_moved)
    decided = _decided(
        [
            _at(moving, since_ms - 1),
            _at(moving, since_ms),
            _at(moving, since_ms + BUCKET_MS - 1),
            _at(moving, NOW_MS),
            _at(moving, NOW_MS, superseded=True),
        ]
    )
    found = group_activity(decided, since_ms, since_ms)
    assert found.decisions == [2, *[0] * (BUCKETS - 2), 1]
    assert found.moved == [2 * moving.queues_moved, *[0] * (BUCKETS - 2), moving.queues_moved]


def test_what_had_to_be_forgotten_is_not_nothing() -> None:
    """Of a group with more decisions than are kept, the hours before the oldest one are unknown."""
    since_ms, some = activity_since(NOW_MS), _some()
    kept = [_at(some[0], since_ms + 2 * BUCKET_MS + 5), _at(some[0], since_ms + 5 * BUCKET_MS)]
    found = group_activity(_decided(kept, kept_max=2), since_ms, since_ms)
    assert found.decisions[:4] == [None, None, None, 0]
    assert found.decisions[5] == 1


def test_what_the_server_does_not_keep_so_long_is_not_nothing() -> None:
    """Hours that begin before decisions are remembered are unknown, and later ones are counted."""
    since_ms, some = activity_since(NOW_MS), _some()
    decided = _decided([_at(some[0], since_ms + 2 * BUCKET_MS + 5)])
    found = group_activity(decided, since_ms, since_ms + BUCKET_MS + 1)
    assert found.decisions[:4] == [None, None, 1, 0]
    assert group_activity(decided, since_ms, NOW_MS).decisions == [None] * BUCKETS
