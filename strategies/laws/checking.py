"""Tests a strategy against laws."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairlead.core.allocation import AllocationRequest, Strategy
from strategies.laws.answers import FREE
from strategies.laws.law import Law
from strategies.laws.trial import Trial
from strategies.laws.worlds import worlds

__all__ = ["BrokenLawError", "broken_laws", "check_laws"]


class BrokenLawError(AssertionError):
    """A strategy breaks a law; the message has the law, the fault and the request."""


def check_laws(
    strategy: Strategy,
    *promised: Law,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Check that a strategy keeps the laws that the engine relies on and those it promises.

    Args:
        strategy: the strategy to check.
        promised: laws besides FREE.
        options: the strategy's options, the same in all worlds.

    Raises:
        BrokenLawError: the strategy breaks a law or raises; stops at the first such world.
    """
    for request in worlds(options):
        try:
            text = next(broken_laws(strategy, request, (*FREE, *promised)), None)
        except Exception as error:
            text = f"it raised {type(error).__name__}: {error}"
            raise _broken(strategy, text, request) from error
        if text is not None:
            raise _broken(strategy, text, request)


def broken_laws(
    strategy: Strategy, request: AllocationRequest, laws: Iterable[Law]
) -> Iterator[str]:
    """Yield each law that the strategy breaks for one request, with the fault."""
    trial = Trial(strategy, request)
    for law in laws:
        for what in law.broken(trial):
            yield f"{law.sentence}, but {what}"


def _broken(strategy: Strategy, text: str, request: AllocationRequest) -> BrokenLawError:
    return BrokenLawError(f"{strategy.name}: {text}\n{request!a}")
