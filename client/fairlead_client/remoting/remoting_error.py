"""The errors of requests to name servers and brokers of RocketMQ."""

import re
from typing import Final

from fairlead_client.errors import FairleadClientError

__all__ = [
    "NoConnectionError",
    "NoResponseError",
    "RemotingError",
    "RequestRefusedError",
    "UnreadableFrameError",
    "is_login_refusal",
    "words_of",
]

_LOGIN: Final = re.compile(
    "AclException|username cannot be null|signature failed|User:.* is not found|has no permission"
)
"""What brokers say of a missing login or right: of 4.x, and with the access control of 5.x."""
_PLACE: Final = re.compile(r",? org\.apache\.rocketmq\.[\w.$]+\([^)]*\)$|[\w.]+Exception: ")
"""What a broker's words say of its own code."""


def is_login_refusal(remark: str | None) -> bool:
    """Whether a server refuses a request because of who sends it, or for want of a right."""
    return _LOGIN.search(remark or "") is not None


def words_of(remark: str | None) -> str:
    """Return a server's words for an error, with the remedy if a login or a right is missing."""
    said = _PLACE.sub("", (remark or "").strip()) or "it says nothing more"
    if is_login_refusal(remark):
        said += "; check access_key and secret_key of the setting rocketmq, and what they may do"
    return said


class RemotingError(FairleadClientError):
    """A request to a server of RocketMQ failed.

    Attributes:
        address: the server's, as host:port.
    """

    def __init__(self, address: str, problem: str) -> None:
        super().__init__(f"{address}: {problem}")
        self.address = address


class NoConnectionError(RemotingError):
    """The server accepts no connection, or the connection ended before the response."""


class NoResponseError(RemotingError):
    """The server has not answered in time; what it was asked to do may be done all the same."""


class UnreadableFrameError(RemotingError):
    """The server has sent what is no command, so its connection is over."""


class RequestRefusedError(RemotingError):
    """The server has answered with an error.

    Attributes:
        code: its response code.
        remark: what it says.
    """

    def __init__(self, address: str, code: int, remark: str | None) -> None:
        super().__init__(address, f"response code {code}: {words_of(remark)}")
        self.code = code
        self.remark = remark or ""
