"""One request or response of the remoting protocol (RemotingCommand)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["LANGUAGE_OTHER", "VERSION", "Command"]

LANGUAGE_OTHER: Final = 7
"""LanguageCode.OTHER: the servers' programs know no better one that is true of this client."""

VERSION: Final = 479
"""MQVersion V5_3_3. From 401 (V4_9_4) on, name servers send routes as standard JSON."""

_RESPONSE: Final = 1
_ONE_WAY: Final = 2


@dataclass(frozen=True, slots=True)
class Command:
    """A request or a response.

    Attributes:
        code: a request's or a response's code.
        fields: its `extFields`.
        body: what follows the header.
        opaque: pairs a response with its request on one connection.
        flag: bit 0: a response; bit 1: a request that nobody answers.
        remark: a response's words.
        language: the sender's LanguageCode, as a number.
        version: the sender's MQVersion, as a number.
    """

    code: int
    fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes | memoryview = b""
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    language: int = LANGUAGE_OTHER
    version: int = VERSION

    @property
    def is_response(self) -> bool:
        """Whether it answers a request."""
        return bool(self.flag & _RESPONSE)

    @property
    def is_one_way(self) -> bool:
        """Whether nobody answers it."""
        return bool(self.flag & _ONE_WAY)

    def answered(self, code: int, remark: str | None = None) -> "Command":
        """Return a response to this request."""
        return Command(code, opaque=self.opaque, flag=_RESPONSE, remark=remark)
