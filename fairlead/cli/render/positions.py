"""Positions of queues and resets of them as rows."""

from typing import TYPE_CHECKING, Any

from fairlead.cli.render.refusal import refusal_row
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from fairlead.control.group_offsets import QueuePlace
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
]

PLACE_COLUMNS = ("queue", "position", "told_by", "earliest", "latest", "lag")
RESET_COLUMNS = ("queue", "position", "to", "skipped", "read_again", "answer", "decision")


def place_row(place: "QueuePlace") -> dict[str, Any]:
    """Return where a group is in one queue."""
    return {
        "queue": queue_words(place.queue),
        "position": None if place.position is None else place.position.offset,
        "reset": None if place.position is None else place.position.reset,
        "told_by": place.told_by,
        "earliest": place.earliest,
        "latest": place.latest,
        "lag": place.lag,
        "identity": place.identity,
        "end_is_older": False,
    }


def recorded_row(group: "GroupStanding", queue: "QueueStanding") -> dict[str, Any]:
    """Return where a recorded group was in one queue, as far as it was reported."""
    place, route = queue.place, group.live.core.state.routes.get(queue.queue.topic)
    return {
        "queue": queue_words(queue.queue),
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
    """Return what a reset does and its outcome. ``control``: the name of the control topic."""
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
    """Return the engine's answer to a reset; None: there is no reset."""
    if outcome is None:
        return {"answer": "not_written", "decision": None, "refused": None}
    decision = outcome.decision
    return {
        "answer": outcome.answer,
        "decision": None if decision is None else str(decision.epoch),
        "refused": refusal_row(outcome.refusal),
    }
