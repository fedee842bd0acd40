"""The phase of a group, for whoever lists, checks or describes it."""

from typing import Final

__all__ = ["UNKNOWN_PHASE", "phase_of"]

UNKNOWN_PHASE: Final = "unknown"
"""The phase of a group with members that no decision has placed: it awaits one."""
_CALM: Final = (None, "empty", "stable")
"""Phases of a newest decision after which the engine expected nothing more."""


def phase_of(decided: str | None, *, awaited: bool, passing: bool, members: bool) -> str:
    """Return the phase of the newest decision, unless members have joined since.

    Decisions are not kept for ever. Without any, the assignments still tell whether the group is
    empty, stable or handing over.

    Args:
        decided: the phase of the newest decision; None: none was read.
        awaited: whether a sharing member heartbeats and has no assignment yet.
        passing: whether queues are moving.
        members: whether there are any.
    """
    if awaited and decided in _CALM:
        return UNKNOWN_PHASE
    if decided is not None:
        return decided
    if passing:
        return "handing_over"
    return "stable" if members else "empty"
