"""Checks whether a topic is still the one whose queues the engine granted.

A topic that is deleted and created again under its name is another topic: its offsets start again,
and none of its messages belong to a grant of the former topic. Kafka's fetch names topics, not
their ids, so a consumer would continue in the new topic without noticing. The brokers' metadata has
each topic's id; this compares it with the identity in the engine's add.

A check costs one request. It is due after every error that a replaced topic may cause, after a
pause between fetches, and once a second while messages arrive. Between two close fetches nobody can
replace a topic unnoticed: the fetch that waits at the broker ends with an error, after which
kafka-python reads the metadata again.
"""

import base64
import logging
import re
from collections.abc import Callable, Collection, Iterable
from time import monotonic
from typing import Final, TypeGuard
from uuid import UUID

from kafka import KafkaConsumer

from fairlead_client.model import Queue
from fairlead_client.transport.queue_partition import partition_of_queue

logger = logging.getLogger(__name__)

_TOPIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}")
"""The 16 bytes of a topic id in base64 for URLs, without padding."""
FRESH_SECONDS: Final = 1.0
"""How long metadata is fresh while messages arrive."""
PAUSE_SECONDS: Final = 0.1
"""In a pause of this length a topic can be deleted, created and filled again."""
AGAIN_SECONDS: Final = 0.2
"""When to check a held queue again: the asked broker may be behind."""
NO_ID: Final = UUID(int=0)


class TopicIdentities:
    """Holds back queues whose topic has replaced the granted one.

    Args:
        identity_of: returns the identity in the add of a queue; None if it has none, or the client
            does not own the queue.
        wait_ms: how long one check may take.
    """

    def __init__(self, identity_of: Callable[[Queue], str | None], wait_ms: int) -> None:
        self._identity_of = identity_of
        self._wait_ms = wait_ms
        self._refreshed_at = self._fetched_at = float("-inf")
        self._paused = False
        self._held: dict[Queue, str] = {}
        self._again_at = 0.0

    def holds(self, queue: Queue) -> bool:
        """Return whether the queue is held back, because its topic was replaced."""
        return bool(self._held) and self._held.get(queue, "") == self._identity_of(queue)

    def note_grant(self) -> None:
        """Note that the engine has just granted a queue, and so knew the present topic."""
        self._refreshed_at = self._fetched_at = monotonic()
        self._paused = False

    def note_fetch_begin(self) -> None:
        """Note that a fetch follows."""
        at = monotonic()
        self._paused |= at - self._fetched_at > PAUSE_SECONDS

    def note_fetch_end(self) -> None:
        """Note that a fetch has ended."""
        self._fetched_at = monotonic()

    def verify(
        self, consumer: KafkaConsumer, queues: Iterable[Queue], *, at_once: bool = False
    ) -> Collection[Queue]:
        """Return the queues whose topic was replaced, and hold them back from now on.

        Args:
            consumer: the consumer whose metadata to read, and to refresh if due.
            queues: the queues that returned messages or an error.
            at_once: whether a replaced topic may have caused an error.
        """
        granted = {
            queue: identity for queue in queues if is_topic_id(identity := self._identity_of(queue))
        }
        if not granted:
            return ()
        if at_once or self._paused or monotonic() - self._refreshed_at > FRESH_SECONDS:
            self._refresh_metadata(consumer)
        elif self._replaced(consumer, granted):
            # The metadata may be older than the grant.
            self._refresh_metadata(consumer)
        replaced = self._replaced(consumer, granted)
        for queue in replaced:
            self._hold(consumer, queue, granted[queue])
        return replaced

    def release(self, consumer: KafkaConsumer) -> bool:
        """Check the held queues again if due; return whether the client may read one of them."""
        if not self._held or monotonic() < self._again_at:
            return False
        self._again_at = monotonic() + AGAIN_SECONDS
        mine = {queue: identity for queue, identity in self._held.items() if self.holds(queue)}
        if mine:
            self._refresh_metadata(consumer)
        self._held = {queue: mine[queue] for queue in self._replaced(consumer, mine)}
        return len(self._held) < len(mine)

    def _hold(self, consumer: KafkaConsumer, queue: Queue, granted: str) -> None:
        self._held[queue] = granted
        self._again_at = monotonic() + AGAIN_SECONDS
        logger.warning(
            "topic %s has the identity %s, but %s was granted under %s: the client stops reading"
            " the queue until the engine grants it again",
            queue.topic,
            _known_identity(consumer, queue),
            queue,
            granted,
        )

    def _replaced(self, consumer: KafkaConsumer, granted: dict[Queue, str]) -> list[Queue]:
        return [
            queue
            for queue, identity in granted.items()
            if (known := _known_identity(consumer, queue)) is not None and known != identity
        ]

    def _refresh_metadata(self, consumer: KafkaConsumer) -> None:
        """Refresh the metadata, and wait for it."""
        # kafka-python has no public way to wait for it.
        cluster, net, manager = consumer._cluster, consumer._net, consumer._manager  # noqa: SLF001
        # A refresh under way may have begun before the event.
        turns = 2 if cluster.metadata_refresh_in_progress else 1
        for _ in range(turns):
            net.run(manager.wait_for, cluster.request_update(), self._wait_ms)
        self._refreshed_at = monotonic()
        self._paused = False


def is_topic_id(identity: str | None) -> TypeGuard[str]:
    """Return whether an identity has the form of a Kafka topic id, as the bridge writes it.

    A route that an operator wrote has another identity, which the brokers do not know, so there is
    nothing to compare.
    """
    return identity is not None and _TOPIC_ID.fullmatch(identity) is not None


def _known_identity(consumer: KafkaConsumer, queue: Queue) -> str | None:
    """Return the identity of a queue's topic in the last metadata, or None.

    It has the form of a topic id in Kafka's tools. Brokers before 2.8 have no topic ids.
    """
    topic_id = consumer._cluster.topic_id(partition_of_queue(queue).topic)  # noqa: SLF001
    if topic_id is None or topic_id == NO_ID:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode("ascii")
