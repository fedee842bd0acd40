"""Awaited clients, and changes that settle, as plain JSON values."""

from typing import Any

from fairlead.codec.member import plain_member, read_member
from fairlead.core.model import MemberKey
from fairlead.core.state import Awaited, Settling

__all__ = ["plain_awaited", "plain_settling", "read_awaited", "read_settling"]


def plain_awaited(awaited: Awaited, row: int) -> list[Any]:
    """Return an awaited client; its member's key stands in this row of the key table."""
    return [awaited.since_ms, plain_member(awaited.member, row)]


def read_awaited(plain: list[Any], keys: list[MemberKey]) -> Awaited:
    """Return what :func:`plain_awaited` wrote."""
    since_ms, member = plain
    return Awaited(read_member(member, keys), since_ms)


def plain_settling(settling: Settling | None) -> list[Any] | None:
    """Return the window that is open, if any."""
    return None if settling is None else [settling.opened_ms, dict(settling.changes)]


def read_settling(plain: list[Any] | None) -> Settling | None:
    """Return what :func:`plain_settling` wrote."""
    return None if plain is None else Settling(*plain)
