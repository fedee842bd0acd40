"""A law: one sentence about the answers of a strategy, and what finds where it is broken."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strategies.laws.trial import Trial

__all__ = ["Law"]


@dataclass(frozen=True, slots=True)
class Law:
    """What holds in every trial of a strategy that promises it.

    ``broken`` yields a text for each thing in a trial that breaks it.
    """

    sentence: str
    broken: Callable[[Trial], Iterator[str]]
