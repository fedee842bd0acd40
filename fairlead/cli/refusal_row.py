"""Why the engine refused a record, as part of a row."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.control.engine_answers import Refusal

__all__ = ["refusal_row"]


def refusal_row(refusal: "Refusal | None") -> dict[str, Any] | None:
    """Return what the reject says; None if there is none."""
    if refusal is None:
        return None
    return {
        "reason": refusal.reason,
        "field": refusal.field,
        "detail": refusal.detail,
        "remedy": refusal.remedy,
    }
