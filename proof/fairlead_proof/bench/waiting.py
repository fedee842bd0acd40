"""Waits for a fact about the clients, while everything it depends on lives."""

import time
from collections.abc import Callable
from typing import Final

from fairlead.errors import VerdictError
from fairlead_proof.bench.crew import Crew

_LOOK_SECONDS: Final = 1.0


def await_fact(
    crew: Crew,
    holds: Callable[[], bool],
    check: Callable[[], None],
    seconds: float,
    in_vain: Callable[[], str],
) -> None:
    """Return when a fact holds.

    Args:
        crew: the clients; its condition is held while the fact is looked at.
        holds: the fact.
        check: raises if something else that it depends on has died.
        seconds: give up after so long.
        in_vain: what was waited for, for the message.

    Raises:
        VerdictError: it did not come true in time.
        QueryDiedError: a client died meanwhile.
    """
    deadline = time.monotonic() + seconds
    while True:
        with crew.condition:
            if crew.condition.wait_for(holds, _LOOK_SECONDS):
                return
        check()
        crew.check()
        if time.monotonic() > deadline:
            raise VerdictError(f"waited {seconds:.0f} s in vain for {in_vain()}.")
