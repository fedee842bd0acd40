"""The engine's refusal of a record, as part of a row."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.control.answers import Refusal

__all__ = ["refusal_row"]


def refusal_row(refusal: "Refusal | None") -> dict[str, Any] | None:
    """Return the fields of a refusal; None: there is none."""
    if refusal is None:
        return None
    return {
        "reason": refusal.reason,
        "field": refusal.field,
        "detail": refusal.detail,
        "remedy": refusal.remedy,
    }
