"""A law: one sentence about a strategy's answers, and a function that finds faults."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strategies.laws.trial import Trial

__all__ = ["Law"]


@dataclass(frozen=True, slots=True)
class Law:
    """A statement that holds in every trial of a strategy that promises it.

    ``broken`` yields a text for each fault in a trial.
    """

    sentence: str
    broken: Callable[[Trial], Iterator[str]]
