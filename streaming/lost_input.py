"""Whether the log still holds what the checkpoint would read next.

A topic keeps its records for a time only. An engine that was down for longer finds that the next
record it wants is gone. Going on behind the gap cannot make two owners: the groups recover, so that
whoever works is heard before anything moves, also one that joined and spoke in what is gone. But
records are skipped, so a person decides. A log that ends before the place up to which the
checkpoint has read is another log: nobody can go on with this state.
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
"""So many partitions are named in a message; the others are counted."""


class Gap(NamedTuple):
    """A partition in which the checkpoint and the log do not meet.

    Attributes:
        topic: its full name.
        partition: its number.
        wanted: the offset that the checkpoint needs.
        there: the first offset that is still there, or the end of a log that ends too early.
    """

    topic: str
    partition: int
    wanted: int
    there: int


def lost_input(wanted: Offsets, beginnings: Offsets) -> list[Gap]:
    """Return the partitions that begin behind what is to be read next, by name and number."""
    return [
        Gap(*place, offset, beginnings[place])
        for place, offset in sorted(wanted.items())
        if beginnings[place] > offset
    ]


def cut_input(read: Offsets, ends: Offsets) -> list[Gap]:
    """Return the partitions that end before what was read, by name and number."""
    return [
        Gap(*place, offset, ends[place])
        for place, offset in sorted(read.items())
        if ends[place] < offset
    ]


def check_input(kafka: KafkaSettings, checkpoint: Checkpoint, *, accept_lost: bool) -> bool:
    """Compare the checkpoint with the log; return whether input is lost and that is accepted.

    Args:
        kafka: the cluster.
        checkpoint: one with state.
        accept_lost: go on although records are gone that were never read.

    Raises:
        RefusedError: records are gone that were never read, and that was not accepted; or the log
            ends before what was read.
        EnvironmentMissingError: the log cannot be asked.
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
        log.warning("input is lost and will be skipped", topic=topic, records=records)
    if accept_lost and not lost:
        log.info("no input is lost")
    return bool(lost)


def lost_records(lost: Sequence[Gap]) -> Mapping[str, Mapping[int, int]]:
    """Return how many offsets are skipped, by topic and partition."""
    return {
        topic: {gap.partition: gap.there - gap.wanted for gap in gaps}
        for topic, gaps in groupby(lost, key=lambda gap: gap.topic)
    }


def _refused_lost(lost: Sequence[Gap]) -> RefusedError:
    texts = [
        f"partition {gap.partition} of {gap.topic} from offset {gap.wanted} on, but the first one "
        f"that is still there is {gap.there}"
        for gap in lost
    ]
    return RefusedError(
        f"engine.checkpoint: it would go on reading {_named(texts)}: it is older than "
        "the records that are kept.",
        remedy="Start once with --accept-lost-input: no queue gets two owners, but what was said "
        "meanwhile is skipped, and messages of clients that have left may be read again. A newer "
        "copy of the checkpoint loses less; topics.heartbeats_retention_ms says how long records "
        "are kept.",
    )


def _refused_cut(cut: Sequence[Gap]) -> RefusedError:
    texts = [
        f"partition {gap.partition} of {gap.topic} up to offset {gap.wanted}, but it ends at "
        f"{gap.there}"
        for gap in cut
    ]
    return RefusedError(
        f"engine.checkpoint: it has read {_named(texts)}: the topic was made anew or cut off.",
        remedy="Name the cluster and the prefix this checkpoint belongs to (kafka.bootstrap, "
        "kafka.topic_prefix). If the records are gone, move engine.checkpoint away and start: the "
        "engine recovers from what clients claim. If the topic generations is new as well, stop "
        "every client first.",
    )


def _named(texts: Sequence[str]) -> str:
    """Join the first few texts, and count the others."""
    others = len(texts) - _NAMED_MAX
    ending = [f"and {others} more"] if others > 0 else []
    return "; ".join([*texts[:_NAMED_MAX], *ending])
