"""Which keys of an answer only clocks move, and which are measures that move all the time.

Decides what is worth an event of a live stream. The schema of all answers marks the same keys.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

__all__ = ["AGES", "CLOCKS", "MEASURES", "Change", "change_between"]

CLOCKS: Final = frozenset(
    (
        *("as_of_ms", "now_ms", "ticked_ms", "silent_ms", "last_sign_ms", "lease_left_ms"),
        # Of a view that reads, some records are always on their way; `reason` says if it is late.
        "records_behind",
    )
)
"""Keys that time alone moves; nothing is sent for them."""
MEASURES: Final = frozenset(
    ("heard_ms", "idle_ms", "lag_ms", "lag_messages", "lag_at_least", "position", "end", "says")
)
"""Keys that move as long as a group works; they are sent at most once a second."""

AGES: Final = frozenset(("lag_ms",))
"""The measures that grow with time alone while nobody works."""

Change = Literal["none", "clock", "age", "measure", "state"]

_JUDGED: Final[Mapping[str, str]] = {"engine": "silent", "bridges": "verdict"}
"""In these objects one key counts; the rest tells the time of the last sign."""


def change_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
    """Return what kind of change lies between two documents with the same keys."""
    if old == new:
        return "none"
    moved = {key for key in new if key not in CLOCKS and _counted(old, key) != _counted(new, key)}
    if not moved:
        return "clock"
    if moved <= AGES:
        return "age"
    return "measure" if moved <= MEASURES else "state"


def _counted(document: Mapping[str, Any], key: str) -> Any:
    """Return what counts of a value."""
    value = document.get(key)
    judged = _JUDGED.get(key)
    if judged is None or value is None:
        return value
    if isinstance(value, list):
        return [each[judged] for each in value]
    return value[judged]
