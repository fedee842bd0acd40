"""Positions of queues, and resets of them, as rows; and what the answers to resets mean."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairlead.cli.group_work import why_silent
from fairlead.errors import EnvironmentMissingError, VerdictError

if TYPE_CHECKING:
    from fairlead.control.queue_resets import ResetOutcome
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding

__all__ = [
    "PLACE_COLUMNS",
    "RESET_COLUMNS",
    "place_cells",
    "recorded_place",
    "reset_cells",
    "tell_resets",
]

PLACE_COLUMNS = ("queue", "position", "why", "earliest", "end", "lag")
RESET_COLUMNS = ("queue", "position", "to", "skipped", "read_again", "answer", "decision")


def place_cells(place: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a group is in a queue as a row."""
    position = place["position"]
    return {
        **place,
        "queue": "/".join(map(str, place["queue"])),
        "position": None if position is None else position[1],
        "lag": place["lag_messages"],
    }


def reset_cells(reset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reset as a row."""
    epochs = (".".join(map(str, each["epoch"])) for each in reset["led_to"])
    return {
        **place_cells(reset),
        "to": reset["to_offset"],
        "skipped": reset["skipped_messages"],
        "read_again": reset["repeated_messages"],
        "decision": " ".join(epochs) or None,
    }


def recorded_place(found: "GroupStanding", standing: "QueueStanding") -> dict[str, Any]:
    """Return where a recorded group was in a queue, as `QueuePlace` tells it of a live one."""
    place, route = standing.place, found.live.core.state.routes.get(standing.queue.topic)
    return {
        "queue": [*standing.queue],
        "position": None if place.position is None else [*place.position],
        "why": place.told_by,
        "earliest": place.earliest,
        "end": place.end,
        "end_is_older": place.end_is_older,
        "lag_messages": place.lag,
        "identity": None if route is None else route.identity,
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
