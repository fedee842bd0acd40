"""The one random source of a schedule: a seed draws the same numbers in every process."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar
from uuid import UUID

__all__ = ["Chance"]

_Any = TypeVar("_Any")


class Chance:
    """Draws from one seeded generator."""

    def __init__(self, seed: int) -> None:
        generator = Random(seed)
        self._unit = generator.random
        self._bits = generator.getrandbits

    def below(self, end: int) -> int:
        """Return a number from 0 up to, without, ``end``."""
        return int(self._unit() * end)

    def between(self, least: int, most: int) -> int:
        """Return a number from ``least`` to ``most``, both included."""
        return least + int(self._unit() * (most - least + 1))

    def happens(self, probability: float) -> bool:
        """Tell whether something of this probability happens."""
        return self._unit() < probability

    def pick(self, choices: Sequence[_Any]) -> _Any:
        """Return one of the choices; all are equally likely."""
        return choices[int(self._unit() * len(choices))]

    def weighed(self, choices: Sequence[tuple[_Any, int]]) -> _Any:
        """Return one of the choices, each as likely as its weight says."""
        left = self._unit() * sum(weight for _, weight in choices)
        for choice, weight in choices:
            left -= weight
            if left < 0:
                return choice
        return choices[-1][0]

    def shuffled(self, choices: Sequence[_Any]) -> list[_Any]:
        """Return the choices in any order."""
        shuffled = list(choices)
        for last in range(len(shuffled) - 1, 0, -1):
            other = int(self._unit() * (last + 1))
            shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
        return shuffled

    def uuid(self) -> str:
        """Return a UUID as text."""
        return str(UUID(int=self._bits(128), version=4))
