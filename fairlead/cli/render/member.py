"""Members as people read them: rows of tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.render.tables import telling_columns
from fairlead.durations import duration_words, since_words

if TYPE_CHECKING:
    from fairlead.observed.member_standing import MemberStanding

__all__ = ["MEMBER_COLUMNS", "member_row", "shown_member_columns"]

MEMBER_COLUMNS: Final = (
    *("client", "incarnation", "address", "zone", "capacity", "version", "heard", "lease left"),
    *("held", "draining", "gated", "role", "why"),
)
_MAY_BE_LEFT_OUT: Final = ("draining", "gated", "why", "zone", "address")


def member_row(member: "MemberStanding", now_ms: int) -> dict[str, Any]:
    """Return one member as a row: what it says of itself, and what it has."""
    profile = member.profile
    return {
        "client": member.key.client_id,
        "incarnation": member.key.incarnation,
        "address": profile and (profile.address or None),
        "zone": profile and profile.zone,
        "capacity": profile and profile.capacity,
        "version": profile and f"{profile.language} {profile.version}",
        "heard": since_words(member.heard_ms, now_ms),
        "lease left": _lease_words(member),
        "held": member.held,
        "draining": member.draining,
        "gated": member.gated,
        "role": member.role,
        "why": member.why or ("does not follow its assignment" if member.behind else None),
    }


def shown_member_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns without those that tell nothing in any row."""
    usual = {row["capacity"] for row in rows} <= {None, "", 0, 1}
    # Incarnations are long: they are shown where a client has two.
    distinct = len({row["client"] for row in rows}) == len(rows)
    hidden = {name for name, is_hidden in (("capacity", usual), ("incarnation", distinct))
              if is_hidden}  # fmt: skip
    columns = telling_columns(rows, MEMBER_COLUMNS, _MAY_BE_LEFT_OUT)
    return tuple(name for name in columns if name not in hidden)


def _lease_words(member: "MemberStanding") -> str | None:
    if member.lease_left_ms is None:
        return None
    return duration_words(member.lease_left_ms) if member.lease_left_ms > 0 else "over"
