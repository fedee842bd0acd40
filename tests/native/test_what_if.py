"""What a change of a native group would move."""

import pytest

from fairlead.native.what_if import what_if
from tests.native.looks import look

_THREE = {"a": range(4), "b": range(4, 8), "c": range(8, 12)}


@pytest.mark.parametrize(
    "assignor, shape, join", [("range", "AVG", 4), ("roundrobin", "KAFKA_ROUND_ROBIN", 9),
                              ("uniform", "STICKY", 3)]
)  # fmt: skip
def test_a_join_moves_by_the_shape_of_the_assignor(assignor: str, shape: str, join: int) -> None:
    """Blocks shift, a deal in turn begins anew, sticky gives a fourth."""
    found = what_if(look(_THREE, 12, assignor=assignor))
    assert found is not None
    assert (found.shape, found.own and found.own.join) == (shape, join)
    assert found.sticky.join == 3


def test_a_deploy_moves_more_by_range_than_by_sticky() -> None:
    """Each member leaves and comes back under a new id."""
    found = what_if(look(_THREE, 12))
    assert found is not None
    assert found.own is not None
    assert (found.own.leave, found.sticky.leave) == (6, 4)
    assert (found.own.deploy, found.sticky.deploy) == (32, 24)


def test_an_unknown_assignor_has_no_shape() -> None:
    """STICKY is planned all the same."""
    found = what_if(look(_THREE, 12, assignor="own"))
    assert found is not None
    assert (found.shape, found.own, found.sticky.join) == (None, None, 3)


def test_nothing_is_planned_without_members_and_for_giants() -> None:
    """A group of 100 members and 100 queues would take too long."""
    assert what_if(look({})) is None
    assert what_if(look({f"m{each}": [each] for each in range(100)}, 100)) is None
