"""What a change of a native group would move."""

from dataclasses import replace

import pytest

from fairlead.native.what_if import MoveRange, Moves, what_if
from tests.kit.native_looks import frozen, look, rocketmq_look, rocketmq_member

_THREE = {"a": range(4), "b": range(4, 8), "c": range(8, 12)}
_AVG = Moves(MoveRange(4, 6), MoveRange(4, 6), MoveRange(32, 32))
"""Blocks of ids a, b, c begin at 0, 4, 8; with one id more at 0, 3, 6, 9, with one less at 0, 6. A
deploy is the three leaves (6, 4, 6), each there and back.
"""
_STICKY = Moves(MoveRange(3, 3), MoveRange(4, 4), MoveRange(24, 24))
"""A fourth member needs 3 queues; each of the three has 4 to give away."""


@pytest.mark.parametrize(
    "assignor, shape, join",
    [
        ("range", "AVG", _AVG.join),
        ("roundrobin", "KAFKA_ROUND_ROBIN", MoveRange(9, 9)),
        ("uniform", "STICKY", _STICKY.join),
    ],
)
def test_a_join_moves_by_the_shape_of_the_assignor(
    assignor: str, shape: str, join: MoveRange
) -> None:
    """Blocks shift, a deal in turn begins anew, sticky gives a fourth."""
    found = what_if(look(_THREE, 12, assignors=(assignor,)))
    assert found is not None
    assert (found.shape, found.own and found.own.join) == (shape, join)
    assert found.sticky == _STICKY


def test_both_data_planes_share_one_forecast() -> None:
    """Kafka's range is RocketMQ's AVG."""
    members = [rocketmq_member(name, owns) for name, owns in _THREE.items()]
    for seen in (look(_THREE, 12), rocketmq_look(*members, number=12)):
        found = what_if(seen)
        assert found is not None
        assert (found.own, found.sticky) == (_AVG, _STICKY)


def test_a_single_member_gives_all_away() -> None:
    """What it takes back afterwards had no owner in between, and moves no more."""
    found = what_if(look({"a": range(8)}))
    assert found is not None
    assert found.own is not None
    assert (found.own.leave, found.own.deploy) == (MoveRange(8, 8), MoveRange(8, 8))


def test_members_count_for_their_topics_alone() -> None:
    """In Kafka a member that subscribes to another topic takes nothing of this one."""
    seen = look({"a": range(8), "b": []})
    apart = (seen.members[0], replace(seen.members[1], topics=("bills",)))
    found = what_if(replace(seen, members=apart))
    assert found is not None
    assert found.own is not None
    # The new one is like a or like b.
    assert found.own.join == MoveRange(0, 4)
    assert found.own.leave == MoveRange(0, 8)


def test_an_unknown_assignor_has_no_shape() -> None:
    """STICKY is planned all the same."""
    found = what_if(look(_THREE, 12, assignors=("own",)))
    assert found is not None
    assert (found.shape, found.own, found.sticky.join) == (None, None, MoveRange(3, 3))


def test_nothing_is_planned_without_shares_and_for_giants() -> None:
    """A group of 150 members and 150 queues would take too long."""
    assert what_if(look({})) is None
    assert what_if(look({f"m{each}": [each] for each in range(150)}, 150)) is None
    assert what_if(rocketmq_look(frozen("a"), protocol="broadcasting")) is None
