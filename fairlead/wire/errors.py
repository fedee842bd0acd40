"""The error of a record that breaks the protocol."""

from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead.wire.reasons import Reason

__all__ = ["Sender", "WireError"]


class Sender(NamedTuple):
    """The readable sender of a refused record; the engine can address a notice to it.

    ``heartbeat``: the record was a heartbeat with the right key and partition. It renews this
    member's lease although its content is refused, because the client counts it as well.
    """

    group: str
    member: MemberKey
    heartbeat: bool


class WireError(Exception):
    """A record is refused.

    ``reason`` is a stable word; ``field`` is the path of the wrong field or None; ``detail`` says
    what is wrong, without quoting the record; ``remedy`` says what to send instead.
    """

    def __init__(self, reason: Reason, field: str | None, detail: str, remedy: str) -> None:
        super().__init__(f"{reason} at {field or 'the record'}: {detail}; {remedy}")
        self.reason = reason
        self.field = field
        self.detail = detail
        self.remedy = remedy
        self.sender: Sender | None = None
