"""Where a group is in its queues, asked of the cluster that carries the messages."""

from dataclasses import replace
from typing import TYPE_CHECKING

from fairlead.cli.render.output import warn
from fairlead.errors import FairleadError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.cli.sources.source_options import SourceOptions
    from fairlead.control.native_handback import GroupRelease
    from fairlead.control.queue_place import QueuePlace
    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import KafkaSettings, Settings

__all__ = ["data_places", "places_of"]


def data_places(
    group: str,
    source: "TopicSource",
    kafka: "KafkaSettings",
    data_bootstrap: str | None,
    release: "GroupRelease | None" = None,
) -> "Mapping[MessageQueue, QueuePosition]":
    """Return how far the group is in each of its queues, and for how long messages wait.

    If the cluster does not answer, warn and return nothing: reported positions have to do. They do
    for a group of RocketMQ, too.
    ``release``: the group was handed back, so only the commits of its native consumers count.
    """
    from fairlead.cli.sources.queue_options import QueueOptions
    from fairlead.control.kafka_plane import ElsewhereError
    from fairlead.control.oldest_waiting import oldest_waiting

    try:
        queues = QueueOptions(data_bootstrap=data_bootstrap).places(group, kafka, source=source)
        if release is not None:
            queues = [_native(each, release) for each in queues]
        behind = {each.queue: each.position.offset for each in queues if each.lag and each.position}
        waiting = oldest_waiting(kafka, data_bootstrap or kafka.bootstrap, behind)
    except UsageError:
        # The group has no commit, and no member has reported its topics.
        return {}
    except FairleadError as error:
        if isinstance(error, ElsewhereError) and error.on_rocketmq:
            # The bridge reports them: that is how a group of RocketMQ is.
            return {}
        warn(f"{error.lines()[0]} Positions and lag are those that members and bridges reported.")
        return {}
    return {each.queue: _place(each, waiting.get(each.queue)) for each in queues}


def _native(place: "QueuePlace", release: "GroupRelease") -> "QueuePlace":
    """Return a queue with the position of its native consumers; none if they commit elsewhere."""
    committed = None if release.elsewhere else place.committed
    return replace(place, position=committed, told_by=None if committed is None else "committed")


def _place(place: "QueuePlace", lag_ms: int | None) -> "QueuePosition":
    from fairlead.observed.positions import QueuePosition

    lag_ms = 0 if place.lag == 0 else lag_ms
    return QueuePosition(
        place.position, place.told_by, place.latest, place.earliest, lag_ms, asked=True
    )


def places_of(
    group: str,
    source: "TopicSource",
    settings: "Settings",
    shared: "SourceOptions",
    data_bootstrap: str | None,
) -> "Mapping[MessageQueue, QueuePosition]":
    """Return what `data_places` returns; of a recording nothing.

    Raises:
        UsageError: a recording was to be compared with a cluster.
    """
    if shared.dump is None:
        release = _release(group, source, settings)
        return data_places(group, source, settings.kafka, data_bootstrap, release)
    if data_bootstrap is not None:
        raise UsageError(
            "--dump: a recording cannot be compared with what a cluster holds now.",
            remedy="Leave --dump or --data-bootstrap out.",
        )
    return {}


def _release(group: str, source: "TopicSource", settings: "Settings") -> "GroupRelease | None":
    from fairlead.control.native_handback import release_of
    from fairlead.control.rules_in_force import rules_in_force, shard_of_rules
    from strategies.own_strategies import all_strategies

    shards = source.partitions.shards
    rows = source.read("control", [shard_of_rules(group, shards)])
    strategies = all_strategies(settings.engine.strategies)
    return release_of(rules_in_force(rows, group, shards, strategies))
