"""Whether a topic is still the one whose queues this client was granted.

A topic that is deleted and created again under its name is another topic: its offsets begin anew,
and none of its messages belong to a grant of the former one. Kafka's fetch names topics, not their
ids, so a consumer goes on in the new topic without noticing. Brokers tell the id of each topic with
the metadata; it is compared with the identity that the engine's add named.

A look costs one request. One is due after every error that a replaced topic may cause, after a
pause in which nobody fetched, and once a second while messages arrive. Between two fetches that
follow each other closely a topic cannot be replaced unnoticed: the fetch that waits at the broker
ends with an error, after which kafka-python reads the metadata again.
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
"""What a broker told of topics is believed for this long while messages arrive."""
PAUSE_SECONDS: Final = 0.1
"""In a pause of this length a topic can be deleted, created and filled again."""
AGAIN_SECONDS: Final = 0.2
"""A queue whose topic is another one is looked at again after this time.

The broker that was asked may be the one that is behind.
"""
NO_ID: Final = UUID(int=0)


class TopicIdentities:
    """Holds back queues whose topic is not the one that they were granted of.

    Args:
        identity_of: the identity that the add of a queue named; None: it named none, or the queue
            is not this client's.
        wait_ms: how long one look may take.
    """

    def __init__(self, identity_of: Callable[[Queue], str | None], wait_ms: int) -> None:
        self._identity_of = identity_of
        self._wait_ms = wait_ms
        self._refreshed_at = self._fetched_at = float("-inf")
        self._paused = False
        self._held: dict[Queue, str] = {}
        self._again_at = 0.0

    def holds(self, queue: Queue) -> bool:
        """Tell whether the queue must not be read: its topic is another one."""
        return bool(self._held) and self._held.get(queue, "") == self._identity_of(queue)

    def note_grant(self) -> None:
        """Note that the engine has granted something just now: it knew the topic as it is."""
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
        """Return those of the queues whose topic is another one; they are held from now on.

        Args:
            consumer: whose metadata is read, and refreshed where that is due.
            queues: the queues of which messages, or an error, came.
            at_once: whether something happened that a replaced topic may have caused.
        """
        granted = {queue: told for queue in queues if is_topic_id(told := self._identity_of(queue))}
        if not granted:
            return ()
        if at_once or self._paused or monotonic() - self._refreshed_at > FRESH_SECONDS:
            self._refresh_metadata(consumer)
        elif self._replaced(consumer, granted):
            # What is known may be older than the grant.
            self._refresh_metadata(consumer)
        replaced = self._replaced(consumer, granted)
        for queue in replaced:
            self._hold(consumer, queue, granted[queue])
        return replaced

    def release(self, consumer: KafkaConsumer) -> bool:
        """Look again at what is held, if it is time; tell whether any of it may be read now."""
        if not self._held or monotonic() < self._again_at:
            return False
        self._again_at = monotonic() + AGAIN_SECONDS
        mine = {queue: told for queue, told in self._held.items() if self.holds(queue)}
        if mine:
            self._refresh_metadata(consumer)
        self._held = {queue: mine[queue] for queue in self._replaced(consumer, mine)}
        return len(self._held) < len(mine)

    def _hold(self, consumer: KafkaConsumer, queue: Queue, granted: str) -> None:
        self._held[queue] = granted
        self._again_at = monotonic() + AGAIN_SECONDS
        logger.warning(
            "topic %s has the identity %s, but %s was granted under %s: the queue is not read until"
            " the engine grants it anew",
            queue.topic,
            _known_identity(consumer, queue),
            queue,
            granted,
        )

    def _replaced(self, consumer: KafkaConsumer, granted: dict[Queue, str]) -> list[Queue]:
        return [
            queue
            for queue, told in granted.items()
            if (known := _known_identity(consumer, queue)) is not None and known != told
        ]

    def _refresh_metadata(self, consumer: KafkaConsumer) -> None:
        """Refresh what brokers tell of topics; whoever cannot be asked now is asked again soon."""
        # kafka-python has no public way to wait for it.
        cluster, net, manager = consumer._cluster, consumer._net, consumer._manager  # noqa: SLF001
        # A look under way may have begun before what happened.
        turns = 2 if cluster.metadata_refresh_in_progress else 1
        for _ in range(turns):
            net.run(manager.wait_for, cluster.request_update(), self._wait_ms)
        self._refreshed_at = monotonic()
        self._paused = False


def is_topic_id(identity: str | None) -> TypeGuard[str]:
    """Tell whether an identity has the form of a Kafka topic id, as the bridge tells it.

    A route that was put by hand has an identity that its operator gave it, or one that was drawn:
    brokers know nothing of it, so there is nothing to compare.
    """
    return identity is not None and _TOPIC_ID.fullmatch(identity) is not None


def _known_identity(consumer: KafkaConsumer, queue: Queue) -> str | None:
    """Return the identity of a queue's topic as the last metadata had it; None: it had none.

    As Kafka's own tools print a topic id. Brokers before 2.8 tell none.
    """
    topic_id = consumer._cluster.topic_id(partition_of_queue(queue).topic)  # noqa: SLF001
    if topic_id is None or topic_id == NO_ID:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode("ascii")
