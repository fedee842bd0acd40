"""The interface of a source of messages; the library has one for Kafka."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from fairlead_client.message import Record
from fairlead_client.model import Queue, Subscription


class PullStatus(Enum):
    """How a pull ended (RocketMQ's PullStatus)."""

    FOUND = "found"
    NO_NEW_MSG = "no_new_msg"
    NO_MATCHED_MSG = "no_matched_msg"
    OFFSET_ILLEGAL = "offset_illegal"


@dataclass(frozen=True, slots=True)
class PullResult:
    """The result of one pull.

    Attributes:
        status: how the pull ended.
        next_offset: where to pull next. With OFFSET_ILLEGAL, the queue's beginning for an offset
            below it, and its end for an offset beyond it.
        records: the messages that the subscription wants, in order; only with FOUND.
        end: the next offset to be written, if the source knows it.
        error: why this queue could not be pulled; the client asks for it again later.
    """

    status: PullStatus
    next_offset: int
    records: Sequence[Record] = ()
    end: int | None = None
    error: Exception | None = None


class MessageSource(Protocol):
    """Pulls messages of many queues at once. Only the pull service's thread calls it, but `check`.

    Any thread may call `check`.
    """

    def connect(self) -> None:
        """Connect before the first pull; the client calls it again until it succeeds.

        Raises:
            Exception: not connected; the client tries again.
        """

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Check that the source can evaluate these filters, before the client subscribes.

        Raises:
            SettingsError: the source cannot evaluate an expression.
        """

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from now on.

        Raises:
            SettingsError: the source cannot evaluate an expression.
        """

    def follow(self, queues: Collection[Queue]) -> None:
        """Note that the client holds exactly these queues; forget buffers of others."""

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Pull these queues, all of them followed, and wait for messages if there are none.

        Args:
            offsets: the offset to pull from, for each queue.
            wait_ms: the longest wait.
            most: the most messages; None: the source decides.

        Returns:
            Results of at least one queue, unless the time is over. A queue without a result has
            nothing new.

        Raises:
            Exception: the source could pull no queue; the client asks again later.
        """

    def close(self) -> None:
        """Close the connections."""
