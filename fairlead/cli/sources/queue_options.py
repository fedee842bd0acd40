"""The options that name queues, and where a group is in them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.names import require_group, require_topics
from fairlead.cli.queue_flags import QUEUE_REMEDY, is_queue, queue_of
from fairlead.cli.sources.data_plane_options import DataPlaneOptions
from fairlead.cli.sources.source_options import SourceOptions
from fairlead.core.ordering import queue_order
from fairlead.errors import UsageError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairlead.control.queue_place import QueuePlace
    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding
    from fairlead.settings import KafkaSettings, Settings

__all__ = ["QueueOptions"]


@dataclass(frozen=True)
class QueueOptions(DataPlaneOptions):
    """Which queues, and where their messages are."""

    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="All queues of this topic. Repeatable."),
    ] = None
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", help="This queue: topic/broker/3, topic/3 or 3. Repeatable."),
    ] = None

    def places(
        self,
        group: str,
        kafka: "KafkaSettings",
        times: "Sequence[int]" = (),
        *,
        known: bool = False,
        source: "TopicSource | None" = None,
    ) -> "list[QueuePlace]":
        """Return where the group is in these queues; `GroupOffsets` has what it raises.

        ``known``: refuse an unknown group. ``source``: its topics, if they are open already.
        """
        from fairlead.kafka.kafka_source import KafkaSource
        from fairlead.observed.group_offsets import GroupOffsets

        self._check_names(group)
        with self.opened(kafka) as plane:
            places = GroupOffsets(source or KafkaSource(kafka), plane, group)
            if known:
                places.require_known()
            queues = self._named(group, places.queues)
            return places.places(self.topic or (), queues, times)

    def recorded(
        self, group: str, shared: SourceOptions, settings: "Settings"
    ) -> "tuple[GroupStanding, list[QueueStanding]]":
        """Return the state of a recorded group, and these of its queues.

        Raises:
            UsageError: the group, a topic or a queue is not in the recording, or a cluster is
                named too.
        """
        from fairlead.cli.sources.standing import standing_from, warn_of_refused

        self._check_names(group)
        if self.data_bootstrap is not None or self.namesrv is not None:
            raise UsageError(
                "--dump: a recording cannot be compared with what a cluster holds now.",
                remedy="Leave --dump or the cluster (--data-bootstrap, --namesrv) out.",
            )
        source = shared.open(settings)
        standing = standing_from(group, source, settings)
        warn_of_refused(standing)
        there = {each.queue for each in standing.queues}
        topics = {queue.topic for queue in there}
        queues = self._named(
            group, lambda topic: [each for each in there if topic in ("", each.topic)]
        )
        unknown = [each for each in self.topic or () if each not in topics]
        unknown += [queue_words(each) for each in queues if each not in there]
        if unknown:
            raise UsageError(
                f"{unknown[0]}: nothing is known of it for {group} {source.place}.",
                remedy=f"Known topics: {', '.join(sorted(topics)) or 'none'}.",
            )
        wanted = self.topic or queues
        return standing, [
            each
            for each in standing.queues
            if not wanted or each.queue in queues or each.queue.topic in (self.topic or ())
        ]

    def _check_names(self, group: str) -> None:
        """Refuse a name of group or topic that is not allowed.

        Raises:
            UsageError: it is not allowed.
        """
        require_group(group)
        require_topics(self.topic or ())

    def _named(
        self, group: str, queues_of: "Callable[[str], Sequence[MessageQueue]]"
    ) -> "list[MessageQueue]":
        """Return the queues named, each once.

        Args:
            group: whose queues they are.
            queues_of: returns the known queues of a topic, or of the group if none is named.

        Raises:
            UsageError: a text names no queue, or more than one.
        """
        return list(dict.fromkeys(_queue(text, group, queues_of) for text in self.queue or ()))


def _queue(
    text: str, group: str, queues_of: "Callable[[str], Sequence[MessageQueue]]"
) -> "MessageQueue":
    """Return the queue of a full name, or of a shorter one that only one queue fits."""
    from fairlead.cli.render.queue import queues_text
    from fairlead.core.model import MessageQueue
    from fairlead.history.queue_names import UnknownQueueError, queue_named

    if is_queue(text):
        topic, broker_name, queue_id = queue_of("queue", text)
        return MessageQueue(topic, broker_name, int(queue_id))
    try:
        return queue_named(text, queues_of(text.rpartition("/")[0]))
    except UnknownQueueError as error:
        ordered = sorted(error.known, key=queue_order)
        known = queues_text(ordered, ", ") if ordered else ""
        remedy = f"{QUEUE_REMEDY} Known for {group}: {known}." if known else QUEUE_REMEDY
        raise UsageError(f"--queue: {error}.", remedy=remedy) from error
