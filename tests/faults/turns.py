"""How often a trial is repeated: once among the quick tests, and more often among the slow."""

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

TURNS: Final = 5
ENGINE_KILLS: Final = 7
"""Of each kind; there are three."""


def turns(count: int = TURNS) -> "list[int | ParameterSet]":
    """Return the numbers of the turns; all but the first are slow."""
    return [1, *(pytest.param(turn, marks=pytest.mark.slow) for turn in range(2, count + 1))]
