"""Where a group is in its queues, by the cluster that carries the messages."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.group_work import warn
from fairlead.errors import FairleadError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.control.native_handback import GroupRelease
    from fairlead.control.queue_place import QueuePlace
    from fairlead.core.model import MessageQueue
    from fairlead.kafka.topic_source import TopicSource
    from fairlead.observed.positions import QueuePosition
    from fairlead.settings import KafkaSettings

__all__ = ["DataBootstrapOption", "data_places"]

DataBootstrapOption = Annotated[
    str | None,
    typer.Option("--data-bootstrap", help="The cluster with the messages, if it is another one."),
]


def data_places(
    group: str,
    source: "TopicSource",
    kafka: "KafkaSettings",
    data_bootstrap: str | None,
    release: "GroupRelease | None" = None,
) -> "Mapping[MessageQueue, QueuePosition]":
    """Return how far the group is in each of its queues, and for how long messages wait there.

    Where the cluster does not tell, that is said, and what members and bridges told has to do.
    ``release``: the group was handed back, so the commits of its native consumers alone count.
    """
    from fairlead.cli.offsets import QueueOptions
    from fairlead.control.oldest_waiting import oldest_waiting

    try:
        found = QueueOptions(data_bootstrap=data_bootstrap).places(group, kafka, source=source)
        if release is not None:
            found = [_native(each, release) for each in found]
        behind = {each.queue: each.position.offset for each in found if each.lag and each.position}
        waiting = oldest_waiting(kafka, data_bootstrap or kafka.bootstrap, behind)
    except UsageError:
        # It has committed nothing, and no member told its topics: the rest says what there is.
        return {}
    except FairleadError as error:
        warn(f"{error.lines()[0]} Positions and lag are as members and bridges told them.")
        return {}
    return {each.queue: _place(each, waiting.get(each.queue)) for each in found}


def _native(found: "QueuePlace", release: "GroupRelease") -> "QueuePlace":
    """Return a queue with the position of its native consumers; None: they commit elsewhere."""
    committed = None if release.elsewhere else found.committed
    return replace(found, position=committed, told_by=None if committed is None else "committed")


def _place(found: "QueuePlace", lag_ms: int | None) -> "QueuePosition":
    from fairlead.observed.positions import QueuePosition

    lag_ms = 0 if found.lag == 0 else lag_ms
    return QueuePosition(
        found.position, found.told_by, found.latest, found.earliest, lag_ms, asked=True
    )
