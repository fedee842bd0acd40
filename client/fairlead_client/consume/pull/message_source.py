"""Where messages are pulled from: a port; Kafka is the one shipped."""

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
    """What one pull brought.

    Attributes:
        records: those that the subscription wants, in order; some only if FOUND.
        next_offset: where to pull next. OFFSET_ILLEGAL: the beginning for an offset below it, the
            end for one beyond it; never the beginning for an offset beyond the end.
        end: the next offset to be written, if the source knows it.
        error: why this queue could not be pulled, while others may be; it is asked for again later.
    """

    status: PullStatus
    next_offset: int
    records: Sequence[Record] = ()
    end: int | None = None
    error: Exception | None = None


class MessageSource(Protocol):
    """Pulls for many queues at once. Called on one thread, the pull service's, but for `check`."""

    def connect(self) -> None:
        """Connect, if that takes time: before the first pull, and again until it succeeds.

        Raises:
            Exception: not connected; it is tried again.
        """

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Refuse what cannot be evaluated, before anybody learns of it. Called on any thread.

        Raises:
            SettingsError: an expression that the source cannot evaluate.
        """

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """From now on these filters hold.

        Raises:
            SettingsError: an expression that the source cannot evaluate.
        """

    def follow(self, queues: Collection[Queue]) -> None:
        """These queues are held, and no others: connections and buffers of others may go."""

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Long poll for all of these queues, which are followed.

        Args:
            offsets: the offset from which on each is pulled.
            wait_ms: how long to wait when there is nothing.
            most: messages at most; None: as many as the source likes.

        Returns:
            An answer for one queue at least, unless the time is over; a queue that is not among
            them has nothing to tell yet.

        Raises:
            Exception: none could be pulled; all are asked for again later.
        """

    def close(self) -> None:
        """Let go of connections."""
