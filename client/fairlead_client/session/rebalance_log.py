"""Logs the queues of a topic that a member shall have now, as RocketMQ's clients do.

The line has RocketMQ 4.9's words, so that people find it in their logs. It leaves out what only
the engine knows: the decision that the line's epoch names has the strategy
(allocateMessageQueueStrategyName) and the number of members (cidAllSize).
"""

import logging
from collections import defaultdict
from collections.abc import Iterable

from fairlead_client.model import Epoch, Queue

logger = logging.getLogger(__name__)


class RebalanceLog:
    """Writes a line for each topic whose queues of this member have changed.

    Args:
        group: the member's group.
        client_id: the member.
    """

    def __init__(self, group: str, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        self._known: dict[str, frozenset[Queue]] = {}

    def log_share(self, share: Iterable[Queue], epoch: Epoch) -> None:
        """Log the changes in the member's share, under the epoch of its assignment."""
        for topic, queues in self._changes(share):
            logger.info(
                "rebalanced result changed. group=%s, topic=%s, clientId=%s, "
                "rebalanceResultSize=%d, rebalanceResultSet=%s, epoch=%d.%d",
                *(self._group, topic, self._client_id, len(queues), _set(queues), *epoch),
            )

    def log_all(self, queues: Iterable[Queue]) -> None:
        """Log the changes in what a broadcasting member reads: every queue of its topics."""
        for topic, read in self._changes(queues):
            logger.info(
                "rebalanced result changed. group=%s, topic=%s, clientId=%s, mqAllSize=%d, "
                "rebalanceResultSize=%d, rebalanceResultSet=%s, messageModel=BROADCASTING",
                *(self._group, topic, self._client_id, len(read), len(read), _set(read)),
            )

    def forget(self) -> None:
        """Note that the member has no queue any more; the caller has logged why."""
        self._known = {}

    def _changes(self, queues: Iterable[Queue]) -> list[tuple[str, frozenset[Queue]]]:
        by_topic: dict[str, set[Queue]] = defaultdict(set)
        for queue in queues:
            by_topic[queue.topic].add(queue)
        before = self._known
        self._known = {topic: frozenset(members) for topic, members in by_topic.items()}
        nothing: frozenset[Queue] = frozenset()
        return [
            (topic, self._known.get(topic, nothing))
            for topic in sorted({*before, *self._known})
            if self._known.get(topic, nothing) != before.get(topic, nothing)
        ]


def _set(queues: frozenset[Queue]) -> str:
    """Return the queues as RocketMQ writes them, in order."""
    texts = (
        f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name}, "
        f"queueId={queue.queue_id}]"
        for queue in sorted(queues)
    )
    return f"[{', '.join(texts)}]"
