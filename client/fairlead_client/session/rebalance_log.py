"""Says in the log which queues of a topic a member is to have now, as RocketMQ's clients do.

The words are those of RocketMQ 4.9, so that what people search their logs for is found. What only
the engine knows is left out: the strategy (allocateMessageQueueStrategyName) and how many members
there are (cidAllSize) stand in the decision that the line's epoch names.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable

from fairlead_client.model import Epoch, Queue

logger = logging.getLogger(__name__)


class RebalanceLog:
    """Writes a line for each topic whose queues of this member have changed, and no other.

    Args:
        group: the member's group.
        client_id: the member.
    """

    def __init__(self, group: str, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        self._known: dict[str, frozenset[Queue]] = {}

    def log_share(self, share: Iterable[Queue], epoch: Epoch) -> None:
        """Take what the member is to have of all queues, under the epoch of its assignment."""
        for topic, queues in self._changes(share):
            logger.info(
                "rebalanced result changed. group=%s, topic=%s, clientId=%s, "
                "rebalanceResultSize=%d, rebalanceResultSet=%s, epoch=%d.%d",
                *(self._group, topic, self._client_id, len(queues), _set(queues), *epoch),
            )

    def log_all(self, queues: Iterable[Queue]) -> None:
        """Take what a member of a broadcasting group reads: every queue of its topics."""
        for topic, found in self._changes(queues):
            logger.info(
                "rebalanced result changed. group=%s, topic=%s, clientId=%s, mqAllSize=%d, "
                "rebalanceResultSize=%d, rebalanceResultSet=%s, messageModel=BROADCASTING",
                *(self._group, topic, self._client_id, len(found), len(found), _set(found)),
            )

    def forget(self) -> None:
        """Take note that the member has nothing any more; whoever took it away said so."""
        self._known = {}

    def _changes(self, queues: Iterable[Queue]) -> list[tuple[str, frozenset[Queue]]]:
        by_topic: dict[str, set[Queue]] = defaultdict(set)
        for queue in queues:
            by_topic[queue.topic].add(queue)
        before = self._known
        self._known = {topic: frozenset(found) for topic, found in by_topic.items()}
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
