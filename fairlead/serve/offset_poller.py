"""Asks the data cluster for what members do not tell: positions of offline groups, ends of queues.

A group whose members are gone tells no progress, and somebody may want to know of just that group:
its commits are asked for. A client that is held up fetches nothing, so the end that it tells does
not move: the ends of all queues are asked for as well, less often.
"""

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Final

import structlog

from fairlead.bridges.kafka.committed import read_committed
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.snapshot import TopicSeen, TopicUnclear
from fairlead.core.model import MessageQueue, Position
from fairlead.serve.shared_view import SharedView

__all__ = ["ENDS_PERIODS", "SILENT_PERIODS", "OffsetPoller", "PolledTopics"]

SILENT_PERIODS: Final = 2
"""Ask for a queue after this many periods in which nobody told of it."""
ENDS_PERIODS: Final = 4
"""Ask for the ends of queues that members tell of in every fourth round."""

log = structlog.get_logger(__name__)

Ends = dict[MessageQueue, int]


class PolledTopics:
    """One round of questions about topics; it looks at each topic once."""

    def __init__(self, data: DataCluster) -> None:
        """Ask this cluster."""
        self._data = data
        self.identities: dict[str, str] = {}
        self.unclear: dict[str, str] = {}
        """Topics that nobody could look at, and why."""
        self.ends: Ends = {}

    def read_ends(self, queues: Iterable[MessageQueue]) -> None:
        """Ask for the ends of these queues, and for the identities of their topics."""
        by_topic: dict[str, list[MessageQueue]] = {}
        for queue in sorted(set(queues)):
            by_topic.setdefault(queue.topic, []).append(queue)
        leaders: dict[str, dict[int, int]] = {}
        for seen in self._data.look_at([*by_topic]).looks:
            if isinstance(seen, TopicSeen):
                self.identities[seen.topic] = seen.identity
                leaders[seen.topic] = {
                    queue.queue_id: leader
                    for queue in by_topic[seen.topic]
                    if queue.queue_id < len(seen.leaders)
                    and (leader := seen.leaders[queue.queue_id]) is not None
                }
            elif isinstance(seen, TopicUnclear):
                self.unclear[seen.topic] = seen.why
        ends = self._data.ends(leaders)
        for topic in leaders:
            for queue in by_topic[topic]:
                if queue.queue_id in ends[topic]:
                    self.ends[queue] = ends[topic][queue.queue_id]

    def committed(self, group: str, queues: Iterable[MessageQueue]) -> dict[MessageQueue, Position]:
        """Return what a group committed under the present identities of these queues' topics."""
        by_topic: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            if queue in self.ends:
                by_topic.setdefault(queue.topic, []).append(queue)
        positions = {}
        for topic, wanted in by_topic.items():
            offsets = self._data.committed(group, topic, [queue.queue_id for queue in wanted])
            for queue in wanted:
                if queue.queue_id in offsets:
                    position = read_committed(offsets[queue.queue_id], self.identities[topic])
                    if position is not None:
                        positions[queue] = position
        return positions


class OffsetPoller:
    """Asks in rounds, on its own thread, until it is stopped."""

    def __init__(self, held: SharedView, data: DataCluster, period_ms: int) -> None:
        """Describe the poller.

        Args:
            held: the view; it says what nobody has told, and gets the answers.
            data: the cluster with the messages.
            period_ms: the time between two rounds.
        """
        self._held, self._data, self._period_ms = held, data, period_ms
        self._stop = threading.Event()
        self._unclear: Mapping[str, str] = {}
        self._thread = threading.Thread(target=self._run, name="offsets", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait until the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(self._period_ms / 1_000):
            number += 1
            try:
                self._ask(everywhere=number % ENDS_PERIODS == 0)
            except Exception as error:  # noqa: BLE001 - the next round may go well; lag is no lease
                log.warning("offsets_not_asked", error=f"{type(error).__name__}: {error}")
        self._data.close()

    def _ask(self, *, everywhere: bool) -> None:
        silent_ms = SILENT_PERIODS * self._period_ms
        wanted: Mapping[str, list[MessageQueue]] = self._held.query(
            lambda view: view.unmeasured(silent_ms), {}
        )
        looked = {queue for queues in wanted.values() for queue in queues}
        if everywhere:
            looked |= self._held.query(lambda view: view.shared(), set())
        if not looked:
            return
        # The time before the questions: what members tell of a new identity meanwhile is newer.
        at_ms = time.time_ns() // 1_000_000
        polled = PolledTopics(self._data)
        polled.read_ends(looked)
        for topic, why in polled.unclear.items() - self._unclear.items():
            log.warning("topic_not_seen", topic=topic, error=why)
        self._unclear = polled.unclear
        committed = {}
        for group, queues in wanted.items():
            if self._stop.is_set():
                return
            committed[group] = polled.committed(group, queues)
        self._held.query(
            lambda view: view.apply_offsets(at_ms, polled.ends, committed, polled.identities), None
        )
