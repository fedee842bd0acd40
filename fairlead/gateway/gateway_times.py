"""The times of a gateway, and its name."""

from dataclasses import dataclass

__all__ = ["GatewayTimes"]


@dataclass(frozen=True, slots=True)
class GatewayTimes:
    """The times of a gateway in milliseconds, and its name.

    Attributes:
        name: which gateway it is, in heartbeats and logs.
        lease_ms: the lease of its members.
        poll_ms: the longest time between two polls, and the longest wait for news.
        drain_ms: how long a client may take to stop a queue.
        sessions_max: the most sessions that it keeps between two polls.
    """

    name: str
    lease_ms: int = 10_000
    poll_ms: int = 3_000
    drain_ms: int = 30_000
    sessions_max: int = 20_000
