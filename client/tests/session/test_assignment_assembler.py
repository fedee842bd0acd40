"""Parts: a set has an effect when it is complete, and parts of different sets never mix."""

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from fairlead_client.model import Epoch
from fairlead_client.session.assignment_assembler import AssignmentAssembler
from fairlead_client.session.records import Assigned, Assignment

if TYPE_CHECKING:
    from tests.session.conftest import Script


def part(index: int, parts: int, number: int = 5, generation: int = 1) -> Assignment:
    """One part of the set of an epoch."""
    return Assignment("orders", "me", "me-1", generation, Epoch(generation, number), index, parts)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_parts_in_any_order_make_the_set(order: tuple[int, ...]) -> None:
    """Three parts in any order make the set with the last of them, in the order of the parts."""
    assembler = AssignmentAssembler()
    for index in order[:-1]:
        assert assembler.add(part(index, 3)) == ()
    assert assembler.add(part(order[-1], 3)) == tuple(part(index, 3) for index in range(3))


def test_a_part_of_another_epoch_does_not_belong() -> None:
    """A part whose epoch is not that of part 0 does not belong."""
    assembler = AssignmentAssembler()
    assembler.add(part(1, 2, number=4))
    assert assembler.add(part(0, 2, number=5)) == ()
    assert assembler.add(part(1, 2, number=5)) == (part(0, 2, number=5), part(1, 2, number=5))


def test_a_part_of_another_generation_does_not_belong() -> None:
    """A part of another generation does not belong, though its number be the same."""
    assembler = AssignmentAssembler()
    assembler.add(part(0, 2, generation=2))
    assert assembler.add(replace(part(1, 2, generation=2), generation=1)) == ()


def test_a_late_part_of_an_older_set_is_ignored() -> None:
    """A late part of an older set does not take the place of a newer one."""
    assembler = AssignmentAssembler()
    assembler.add(part(1, 2, number=5))
    assembler.add(part(1, 2, number=4))
    assert len(assembler.add(part(0, 2, number=5))) == 2


def test_a_newer_set_may_have_fewer_parts() -> None:
    """A newer set may have fewer parts; what is left of an older one does not matter."""
    assembler = AssignmentAssembler()
    assembler.add(part(2, 3, number=4))
    assembler.add(part(0, 2, number=5))
    assert len(assembler.add(part(1, 2, number=5))) == 2


def test_whole_set_over_parts(script: "Script") -> None:
    """What is missing from one part but stands in another is not dropped."""
    script.add(1)
    entry = Assigned(script.an_add(1).queue, script.epoch(1), "held")
    script.assign(5, part=0, parts=2)
    assert script.stops == []
    script.assign(5, part=1, parts=2, assigned=(entry,))
    assert script.stops == []
    script.assign(6, part=0, parts=2)
    script.assign(6, part=1, parts=2)
    assert script.stops == [1]


def test_commands_of_an_incomplete_set_wait(script: "Script") -> None:
    """Commands of an incomplete set wait for the rest of it."""
    script.assign(5, part=0, parts=2, add=(script.an_add(5),), assigned=script.held(5))
    assert script.starts == []
    script.assign(5, part=1, parts=2)
    assert script.starts == [(5, 0)]
