"""Flow control: when the client does not pull a queue (RocketMQ's DefaultMQPushConsumerImpl)."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.retry.delay_level import LEVELS
from fairlead_client.errors import SettingsError
from fairlead_client.model import Queue
from fairlead_client.session.topic_names import RETRY_PREFIX
from fairlead_client.settings.setting_types import check_types

logger = logging.getLogger(__name__)

MIB: Final = 1024 * 1024
LOGGED_EVERY: Final = 1_000


class HoldReason(Enum):
    """Why the client does not pull a queue now."""

    MESSAGES = "messages"
    SIZE = "size"
    SPAN = "span"
    LOCK = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLimits:
    """Limits of pulled messages that are not consumed yet; RocketMQ's names in snake case.

    Attributes:
        pull_threshold_for_queue: the most messages of one queue.
        pull_threshold_size_for_queue: the most whole MiB of one queue.
        consume_concurrently_max_span: the most offsets between the first and the last message of a
            queue that are not consumed; not used for ordered groups.
        pull_threshold_for_topic: the most messages of all queues together, divided among the
            queues held; all delays of a retry topic count as one queue. None: no limit.
        pull_threshold_size_for_topic: the same in whole MiB.

    Raises:
        SettingsError: a limit is below 1.
    """

    pull_threshold_for_queue: int = 1_000
    pull_threshold_size_for_queue: int = 100
    consume_concurrently_max_span: int = 2_000
    pull_threshold_for_topic: int | None = None
    pull_threshold_size_for_topic: int | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        check_types(self)
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(name, f"{value} is not a valid limit", "give 1 or more")


class FlowControl:
    """Tests each pull request against the limits, and counts what each holds back.

    Args:
        limits: how much the client may cache.
        ordered: whether the group consumes in order; then the span has no limit.
    """

    def __init__(self, limits: FlowLimits, *, ordered: bool) -> None:
        self._limits = limits
        self._ordered = ordered
        self._messages = limits.pull_threshold_for_queue
        self._mib = limits.pull_threshold_size_for_queue
        self._counts: Counter[HoldReason] = Counter()

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each reason held a request back."""
        return {reason.value: self._counts[reason] for reason in HoldReason}

    @property
    def messages(self) -> int:
        """The present limit of messages of one queue."""
        return self._messages

    @property
    def size_mib(self) -> int:
        """The present limit of one queue in MiB."""
        return self._mib

    def share_out(self, held: Iterable[Queue]) -> None:
        """Divide the limits of a topic among the queues that the client holds now.

        A retry topic has a queue for each delay, where RocketMQ has one queue. All delays together
        count as one queue, so that reading the retry topic does not lower the limits.
        """
        limits = self._limits
        own = Counter(queue.topic.startswith(RETRY_PREFIX) for queue in held)
        queues = own[False] + -(-own[True] // LEVELS)
        if queues and limits.pull_threshold_for_topic is not None:
            self._messages = max(1, limits.pull_threshold_for_topic // queues)
        if queues and limits.pull_threshold_size_for_topic is not None:
            self._mib = max(1, limits.pull_threshold_size_for_topic // queues)

    def hold_back(self, work: ProcessQueue, *, locked: bool) -> HoldReason | None:
        """Return why a queue is not pulled now, and count it; None: the client may pull it.

        Args:
            work: the cached messages of the queue.
            locked: whether the client holds the queue's lock, which is its lease, and has not
                called `unlock`.
        """
        reason = self._hold_reason(work, locked=locked)
        if reason is not None:
            self._counts[reason] += 1
            if self._counts[reason] % LOGGED_EVERY == 1:
                logger.warning(
                    "not pulling %s because of its %s (count %d): %d messages, %d bytes, span %d",
                    work.queue,
                    reason.value,
                    self._counts[reason],
                    work.count,
                    work.size_bytes,
                    work.span,
                )
        return reason

    def _hold_reason(self, work: ProcessQueue, *, locked: bool) -> HoldReason | None:
        if work.count > self._messages:
            return HoldReason.MESSAGES
        if work.size_bytes // MIB > self._mib:
            return HoldReason.SIZE
        if not locked:
            return HoldReason.LOCK
        # `span` takes a lock; without messages it is 0.
        if self._ordered or not work.count:
            return None
        return HoldReason.SPAN if work.span > self._limits.consume_concurrently_max_span else None
