"""Positions of queues and resets of them as rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairlead.history.formatting import epoch_words, queue_words

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding

__all__ = [
    "PLACE_COLUMNS",
    "RESET_COLUMNS",
    "place_cells",
    "recorded_place",
    "reset_cells",
]

PLACE_COLUMNS = ("queue", "position", "why", "earliest", "end", "lag")
RESET_COLUMNS = ("queue", "position", "to", "skipped", "read_again", "answer", "decision")


def place_cells(place: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a group is in a queue as a row."""
    position = place["position"]
    return {
        **place,
        "queue": queue_words(place["queue"]),
        "position": None if position is None else position[1],
        "lag": place["lag_messages"],
    }


def reset_cells(reset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reset as a row."""
    epochs = (epoch_words(each["epoch"]) for each in reset["led_to"])
    return {
        **place_cells(reset),
        "to": reset["to_offset"],
        "skipped": reset["skipped_messages"],
        "read_again": reset["repeated_messages"],
        "decision": " ".join(dict.fromkeys(epochs)) or None,
    }


def recorded_place(group: "GroupStanding", queue: "QueueStanding") -> dict[str, Any]:
    """Return where a recorded group was in a queue, as `QueuePlace` tells it of a live one."""
    place, route = queue.place, group.live.core.state.routes.get(queue.queue.topic)
    return {
        "queue": [*queue.queue],
        "position": None if place.position is None else [*place.position],
        "why": place.told_by,
        "earliest": place.earliest,
        "end": place.end,
        "end_is_older": place.end_is_older,
        "lag_messages": place.lag,
        "identity": None if route is None else route.identity,
    }
