"""The errors of requests to name servers and brokers of RocketMQ."""

from fairlead_client.errors import FairleadClientError

__all__ = [
    "NoConnectionError",
    "NoResponseError",
    "RemotingError",
    "RequestRefusedError",
    "UnreadableFrameError",
]


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
        said = (remark or "").strip() or "it says nothing more"
        super().__init__(address, f"response code {code}: {said}")
        self.code = code
        self.remark = remark or ""
