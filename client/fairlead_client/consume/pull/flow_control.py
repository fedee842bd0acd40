"""When a queue is not pulled, although it could be (RocketMQ's DefaultMQPushConsumerImpl)."""

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
    """What holds a pull request back."""

    MESSAGES = "messages"
    SIZE = "size"
    SPAN = "span"
    LOCK = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLimits:
    """How much of a queue may be pulled and not consumed; RocketMQ's names in snake case.

    Attributes:
        pull_threshold_for_queue: messages of one queue; more hold it back.
        pull_threshold_size_for_queue: whole MiB of one queue; more hold it back.
        consume_concurrently_max_span: offsets between the first and the last message that are not
            consumed, of queues that are consumed concurrently.
        pull_threshold_for_topic: messages of all queues together, shared out among the queues
            held, of a retry topic one for all its delays; None: no such limit.
        pull_threshold_size_for_topic: whole MiB likewise.

    Raises:
        SettingsError: a limit below 1.
    """

    pull_threshold_for_queue: int = 1_000
    pull_threshold_size_for_queue: int = 100
    consume_concurrently_max_span: int = 2_000
    pull_threshold_for_topic: int | None = None
    pull_threshold_size_for_topic: int | None = None

    def __post_init__(self) -> None:
        """Check each."""
        check_types(self)
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(name, f"{value} is no limit", "1 or more")


class FlowControl:
    """Tests each pull request against the gates, and counts what each holds back.

    Args:
        limits: how much may be cached.
        ordered: whether queues are consumed in order: then the span is no gate.
    """

    def __init__(self, limits: FlowLimits, *, ordered: bool) -> None:
        self._limits = limits
        self._ordered = ordered
        self._messages = limits.pull_threshold_for_queue
        self._mib = limits.pull_threshold_size_for_queue
        self._counts: Counter[HoldReason] = Counter()

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each gate held a request back."""
        return {gate.value: self._counts[gate] for gate in HoldReason}

    @property
    def messages(self) -> int:
        """The limit of messages of one queue now."""
        return self._messages

    @property
    def size_mib(self) -> int:
        """The limit of MiB of one queue now."""
        return self._mib

    def share_out(self, held: Iterable[Queue]) -> None:
        """The client holds these queues now, of all topics: limits of a topic are shared.

        A retry topic has a queue here for each delay where RocketMQ has one: together they count
        as one, so that joining it leaves a topic's limit as it was.
        """
        limits = self._limits
        own = Counter(queue.topic.startswith(RETRY_PREFIX) for queue in held)
        queues = own[False] + -(-own[True] // LEVELS)
        if queues and limits.pull_threshold_for_topic is not None:
            self._messages = max(1, limits.pull_threshold_for_topic // queues)
        if queues and limits.pull_threshold_size_for_topic is not None:
            self._mib = max(1, limits.pull_threshold_size_for_topic // queues)

    def hold_back(self, work: ProcessQueue, *, locked: bool) -> HoldReason | None:
        """Return the gate that holds a queue back now, counted; None: it may be pulled.

        Args:
            work: what is cached of the queue.
            locked: whether the client holds the queue's lock, which is its lease, and has not let
                go of it by `unlock`.
        """
        gate = self._hold_reason(work, locked=locked)
        if gate is not None:
            self._counts[gate] += 1
            if self._counts[gate] % LOGGED_EVERY == 1:
                logger.warning(
                    "%s of %s holds pulling back, for the %d. time: %d messages, %d bytes, span %d",
                    gate.value,
                    work.queue,
                    self._counts[gate],
                    work.count,
                    work.size_bytes,
                    work.span,
                )
        return gate

    def _hold_reason(self, work: ProcessQueue, *, locked: bool) -> HoldReason | None:
        if work.count > self._messages:
            return HoldReason.MESSAGES
        if work.size_bytes // MIB > self._mib:
            return HoldReason.SIZE
        if not locked:
            return HoldReason.LOCK
        # A span costs a lock; it cannot be long while there is nothing.
        if self._ordered or not work.count:
            return None
        return HoldReason.SPAN if work.span > self._limits.consume_concurrently_max_span else None
