"""The error of a record that is not what the protocol says."""

from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead.wire.reasons import Reason

__all__ = ["Sender", "WireError"]


class Sender(NamedTuple):
    """Who sent a refused record, as far as it can be read; a notice can be addressed to it.

    ``heartbeat``: the record was a heartbeat in its own place (key and partition). It counts for
    the lease of this member although its content is refused, because the client counts it too.
    """

    group: str
    member: MemberKey
    heartbeat: bool


class WireError(Exception):
    """A record is refused.

    ``reason`` is stable; ``field`` is the path of the offending field or None; ``detail`` says what
    is wrong with it, without any of the record's own text; ``remedy`` says what to send instead.
    """

    def __init__(self, reason: Reason, field: str | None, detail: str, remedy: str) -> None:
        super().__init__(f"{reason} at {field or 'the record'}: {detail}; {remedy}")
        self.reason = reason
        self.field = field
        self.detail = detail
        self.remedy = remedy
        self.sender: Sender | None = None
