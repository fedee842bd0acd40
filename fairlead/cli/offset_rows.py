"""Positions of queues, and resets of them, as rows; and what the answers to resets mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairlead.cli.group_work import why_silent
from fairlead.cli.refusal_row import refusal_row
from fairlead.errors import EnvironmentMissingError, VerdictError

if TYPE_CHECKING:
    from fairlead.control.queue_place import QueuePlace
    from fairlead.control.queue_resets import ResetOutcome
    from fairlead.core.records import Reset
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding

__all__ = [
    "PLACE_COLUMNS",
    "RESET_COLUMNS",
    "place_row",
    "recorded_row",
    "reset_answer",
    "reset_row",
    "tell_resets",
]

PLACE_COLUMNS = ("queue", "position", "told_by", "earliest", "latest", "lag")
RESET_COLUMNS = ("queue", "position", "to", "skipped", "read_again", "answer", "decision")


def place_row(place: "QueuePlace") -> dict[str, Any]:
    """Return where a group is in one queue."""
    return {
        "queue": "/".join(map(str, place.queue)),
        "position": None if place.position is None else place.position.offset,
        "reset": None if place.position is None else place.position.reset,
        "told_by": place.told_by,
        "earliest": place.earliest,
        "latest": place.latest,
        "lag": place.lag,
        "identity": place.identity,
        "end_is_older": False,
    }


def recorded_row(found: "GroupStanding", standing: "QueueStanding") -> dict[str, Any]:
    """Return where a recorded group was in one queue, as far as it was told."""
    place, route = standing.place, found.live.core.state.routes.get(standing.queue.topic)
    return {
        "queue": "/".join(map(str, standing.queue)),
        "position": None if place.position is None else place.position.offset,
        "reset": None if place.position is None else place.position.reset,
        "told_by": place.told_by,
        "earliest": place.earliest,
        "latest": place.end,
        "lag": place.lag,
        "identity": None if route is None else route.identity,
        "end_is_older": place.end_is_older,
    }


def reset_row(outcome: "ResetOutcome", reset: "Reset", control: str) -> dict[str, Any]:
    """Return what a reset does and what came of it. ``control`` is the control topic's name."""
    ahead = outcome.planned.ahead
    return {
        **place_row(outcome.planned.place),
        "to": outcome.planned.offset,
        "skipped": None if ahead is None else max(ahead, 0),
        "read_again": None if ahead is None else max(-ahead, 0),
        "by": reset.by,
        "because": reset.because,
        "at": None if outcome.at is None else [control, *outcome.at],
        **reset_answer(outcome),
    }


def reset_answer(outcome: "ResetOutcome | None") -> dict[str, Any]:
    """Return what the engine said of a reset; None: there is none."""
    if outcome is None:
        return {"answer": "not_written", "decision": None, "refused": None}
    decision = outcome.decision
    return {
        "answer": outcome.answer,
        "decision": None if decision is None else str(decision.epoch),
        "refused": refusal_row(outcome.refusal),
    }


def tell_resets(outcomes: Sequence["ResetOutcome"], wait: float) -> None:
    """End with the exit code that the answers mean.

    Raises:
        VerdictError: the engine refused a reset.
        EnvironmentMissingError: no engine answered in time.
    """
    for each in outcomes:
        if each.refusal is not None:
            raise VerdictError(
                f"{_named(each)}: the engine refuses the reset ({each.refusal.detail}).",
                remedy=f"{each.refusal.remedy}.",
            )
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if silent:
        more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
        raise EnvironmentMissingError(
            f"{_named(silent[0])}{more}: no answer within {wait:g} s; the reset stands in the log "
            "all the same.",
            remedy=why_silent(silent),
        )


def _named(outcome: "ResetOutcome") -> str:
    return "/".join(map(str, outcome.planned.place.queue))
