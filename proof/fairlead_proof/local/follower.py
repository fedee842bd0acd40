"""Follows the decisions of one group on a thread, and lets others wait for what they add up to."""

import threading
import time
from collections.abc import Callable
from typing import Final, Self

from kafka import KafkaConsumer, TopicPartition

from fairlead.kafka.connection import library_options
from fairlead.settings import load_settings
from fairlead.wire.decision_records import DecisionReader, DecisionRecord
from fairlead.wire.raw import RawRecord, raw_record
from fairlead_proof.local.ownership import Ownership

_POLL_MS: Final = 200


class DecisionFollower:
    """Reads the decisions topic from its beginning; as a context it follows until the end of it.

    ``condition`` guards ``ownership`` and is notified after each decision. A failure of the thread
    is raised to whoever waits.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        group: str,
        *,
        condition: threading.Condition | None = None,
        on_decision: Callable[[DecisionRecord], None] | None = None,
    ) -> None:
        """Describe the follower.

        Args:
            bootstrap: the brokers.
            topic: the decisions topic, which has one partition.
            group: whose decisions are taken in.
            condition: to be notified; a new one by default.
            on_decision: called with each, while the condition is held.
        """
        self.condition = condition or threading.Condition()
        self.ownership = Ownership()
        self._reader = DecisionReader(group)
        self._on_decision = on_decision
        self._failure: BaseException | None = None
        self._ended = threading.Event()
        self._partition = TopicPartition(topic, 0)
        self._consumer = KafkaConsumer(
            # A broker that is frozen must not hold up who measures how long it held up others.
            **library_options(load_settings().kafka),
            bootstrap_servers=bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=_POLL_MS,
        )
        self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)

    def __enter__(self) -> Self:
        self._consumer.assign([self._partition])
        self._consumer.seek_to_beginning(self._partition)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._consumer.close()

    def wait_until(self, holds: Callable[[Ownership], bool], timeout_s: float) -> bool:
        """Return True as soon as it holds, False when the time is over.

        Raises:
            RuntimeError: the thread that follows the topic failed.
        """
        deadline = time.monotonic() + timeout_s
        with self.condition:
            while not holds(self.ownership):
                self.raise_failure()
                left = deadline - time.monotonic()
                if left <= 0 or not self.condition.wait(left):
                    return holds(self.ownership)
            return True

    def raise_failure(self) -> None:
        """Raise what ended the thread, if anything did.

        Raises:
            RuntimeError: with that as its cause.
        """
        if self._failure is not None:
            raise RuntimeError("the decisions could not be followed") from self._failure

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                polled = self._consumer.poll(timeout_ms=_POLL_MS)
                for records in polled.values():
                    for record in records:
                        self._apply(raw_record(record))
        except BaseException as error:  # noqa: BLE001 - carried to whoever waits
            with self.condition:
                self._failure = error
                self.condition.notify_all()

    def _apply(self, row: RawRecord) -> None:
        decision = self._reader.read(row)
        if decision is None:
            return
        with self.condition:
            self.ownership.apply(decision)
            if self._on_decision is not None:
                self._on_decision(decision)
            self.condition.notify_all()
