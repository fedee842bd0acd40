"""The phase that a group is told to be in, by whoever lists it, checks it or describes it."""

from typing import Final

__all__ = ["UNKNOWN_PHASE", "phase_of"]

UNKNOWN_PHASE: Final = "unknown"
"""The phase of a group with members that no decision has placed: one is awaited."""
_CALM: Final = (None, "empty", "stable")
"""What the newest decision says where the engine saw nothing that is to come."""


def phase_of(decided: str | None, *, awaited: bool, passing: bool, members: bool) -> str:
    """Return where a group stands: by its newest decision, unless its members are ahead of that.

    Decisions are not kept for ever: of a group that has none any more the sets of its members tell
    as much as that it is empty, stable or handing over.

    Args:
        decided: the phase of the newest decision; None: none was read.
        awaited: whether a member is heard that shares, and was told nothing yet.
        passing: whether queues are on their way.
        members: whether there are any.
    """
    if awaited and decided in _CALM:
        return UNKNOWN_PHASE
    if decided is not None:
        return decided
    if passing:
        return "handing_over"
    return "stable" if members else "empty"
