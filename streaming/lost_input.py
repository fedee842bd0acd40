"""Checks that the log still holds the records that the checkpoint would read next.

A topic keeps its records for a limited time, so after a long downtime the next record may be gone.
Going on behind the gap cannot give a queue two owners: the groups recover, so the engine hears
every working client before anything moves, even one that joined within the gap. But it skips
records, so an operator must agree. A log that ends before the checkpoint's position is another log:
no engine can use this state with it.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import structlog

from fairlead.errors import RefusedError
from fairlead.kafka.partition_reading import read_bounds
from fairlead.settings import KafkaSettings
from streaming.checkpoint import Checkpoint, Offsets

log = structlog.get_logger()

_NAMED_MAX: Final = 3
"""The most partitions that a message names; it counts the others."""


class Gap(NamedTuple):
    """A partition in which the checkpoint and the log do not meet.

    Attributes:
        topic: the full name.
        partition: the number.
        wanted: the offset that the checkpoint needs.
        there: the first offset that the log still holds, or the end of a log that is too short.
    """

    topic: str
    partition: int
    wanted: int
    there: int


def lost_input(wanted: Offsets, beginnings: Offsets) -> list[Gap]:
    """Return the partitions whose first offset lies behind the next one to read, in order."""
    return [
        Gap(*place, offset, beginnings[place])
        for place, offset in sorted(wanted.items())
        if beginnings[place] > offset
    ]


def cut_input(read: Offsets, ends: Offsets) -> list[Gap]:
    """Return the partitions that end before the offset that was read, in order."""
    return [
        Gap(*place, offset, ends[place])
        for place, offset in sorted(read.items())
        if ends[place] < offset
    ]


def check_input(kafka: KafkaSettings, checkpoint: Checkpoint, *, accept_lost: bool) -> bool:
    """Compare the checkpoint with the log; return whether unread input is lost and accepted.

    Args:
        kafka: the cluster.
        checkpoint: a checkpoint with state.
        accept_lost: go on although unread records are gone.

    Raises:
        RefusedError: unread records are gone and that was not accepted; or the log ends before the
            checkpoint's position.
        EnvironmentMissingError: the cluster does not answer.
    """
    wanted, planned = checkpoint.next_offsets(), checkpoint.planned_offsets()
    bounds = read_bounds(kafka, sorted({**planned, **wanted}))
    cut = cut_input(planned, {place: end for place, (_, end) in bounds.items()})
    if cut:
        raise _refused_cut(cut)
    lost = lost_input(wanted, {place: first for place, (first, _) in bounds.items()})
    if lost and not accept_lost:
        raise _refused_lost(lost)
    for topic, records in lost_records(lost).items():
        log.warning("unread records are lost; skipping them", topic=topic, records=records)
    if accept_lost and not lost:
        log.info("no input is lost")
    return bool(lost)


def lost_records(lost: Sequence[Gap]) -> Mapping[str, Mapping[int, int]]:
    """Return how many offsets the engine skips, by topic and partition."""
    return {
        topic: {gap.partition: gap.there - gap.wanted for gap in gaps}
        for topic, gaps in groupby(lost, key=lambda gap: gap.topic)
    }


def _refused_lost(lost: Sequence[Gap]) -> RefusedError:
    texts = [
        f"partition {gap.partition} of {gap.topic} from offset {gap.wanted} on, but its first "
        f"offset is now {gap.there}"
        for gap in lost
    ]
    return RefusedError(
        f"engine.checkpoint: it would read {_named(texts)}: the checkpoint is older than the "
        "topics' retention.",
        remedy="Start once with --accept-lost-input: no queue gets two owners, but the engine "
        "skips the lost records, and messages of clients that have left may be read again. A newer "
        "copy of the checkpoint loses less. topics.heartbeats_retention_ms sets how long Kafka "
        "keeps the records.",
    )


def _refused_cut(cut: Sequence[Gap]) -> RefusedError:
    texts = [
        f"partition {gap.partition} of {gap.topic} up to offset {gap.wanted}, but it ends at "
        f"{gap.there}"
        for gap in cut
    ]
    return RefusedError(
        f"engine.checkpoint: it has read {_named(texts)}: the topic was recreated or cut off.",
        remedy="Name the cluster and the prefix this checkpoint belongs to (kafka.bootstrap, "
        "kafka.topic_prefix). If the records are gone, move engine.checkpoint away and start: the "
        "engine recovers from the clients' claims. If the topic generations is new as well, stop "
        "every client first.",
    )


def _named(texts: Sequence[str]) -> str:
    """Join the first few texts, and count the others."""
    others = len(texts) - _NAMED_MAX
    ending = [f"and {others} more"] if others > 0 else []
    return "; ".join([*texts[:_NAMED_MAX], *ending])
