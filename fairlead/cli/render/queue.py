"""Queues as people read them: several in one text, and rows of tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.render.tables import telling_columns
from fairlead.durations import duration_words, since_words
from fairlead.history.formatting import epoch_words, queue_words

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.positions import QueuePosition
    from fairlead.observed.queue_standing import GrantHolder, QueueStanding

__all__ = ["QUEUE_COLUMNS", "lag_words", "queue_row", "queues_text", "shown_queue_columns"]

QUEUE_COLUMNS: Final = (
    *("queue", "held", "draining", "gated", "target", "waits for", "epoch", "for"),
    *("position", "end", "lag", "waiting", "remark"),
)
_MAY_BE_LEFT_OUT: Final = ("draining", "gated", "waits for", "remark")
_RUN_MIN: Final = 3


def queues_text(queues: Iterable[Sequence[Any]], between: str = "  ") -> str:
    """Return queues in their order, such as ``orders/main/0-3,7``; a dash for none.

    Runs of three and more numbers become ranges.
    """
    parts: list[tuple[str, list[int]]] = []
    for topic, broker_name, queue_id in queues:
        place = f"{topic}/{broker_name}/"
        if not parts or parts[-1][0] != place:
            parts.append((place, []))
        parts[-1][1].append(queue_id)
    return between.join(place + ",".join(_runs(numbers)) for place, numbers in parts) or "-"


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Yield numbers in their order, runs of neighbours as first-last."""
    first = 0
    for index in range(1, len(numbers) + 1):
        if index < len(numbers) and numbers[index] == numbers[index - 1] + 1:
            continue
        run = numbers[first:index]
        if len(run) < _RUN_MIN:
            yield from map(str, run)
        else:
            yield f"{run[0]}-{run[-1]}"
        first = index


def queue_row(group: "GroupStanding", queue: "QueueStanding", now_ms: int) -> dict[str, Any]:
    """Return one queue as a row: its owner and other holders, its position, remarks."""
    newest, place = queue.newest, queue.place
    waits = [one.client_id for gated in queue.gated for one in gated.waits_for]
    since_ms = queue.owner_since_ms
    if since_ms is None and newest is not None:
        since_ms = newest.since_ms
    return {
        "queue": queue_words(queue.queue),
        "owner": None if queue.owner is None else queue.owner.client_id,
        "state": queue.state,
        "held": _names(queue.held),
        "draining": _names(queue.draining),
        "gated": _names(queue.gated),
        "target": queue.target,
        "waits for": ", ".join(waits) or None,
        "epoch": None if newest is None else epoch_words(newest.epoch),
        "for": since_words(since_ms, now_ms),
        "position": None if place.position is None else place.position.offset,
        "end": place.end,
        "lag": place.lag,
        "waiting": _waiting(place),
        "remark": ", ".join(_remarks(group, queue)) or None,
    }


def shown_queue_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns without those that tell nothing in any row."""
    columns = telling_columns(rows, QUEUE_COLUMNS, _MAY_BE_LEFT_OUT)
    on_the_way = any(row["target"] != row["held"] for row in rows)
    return tuple(name for name in columns if name != "target" or on_the_way)


def _remarks(group: "GroupStanding", queue: "QueueStanding") -> Iterator[str]:
    if queue.state == "unassigned":
        kept_for = group.kept_for(queue.queue)
        if kept_for is not None:
            yield f"kept for {kept_for} (restart_grace_ms)"
    if len(queue.held) > 1:
        yield "overlap"
    if queue.shared_unsafely:
        yield "unsafe"
    if queue.place.end_is_older:
        yield "its end is older than its position"
    if not queue.readable and group.live.planned.members:
        yield "not shared"


def _names(holders: Sequence["GrantHolder"]) -> str | None:
    names = (
        each.member.client_id if each.alive else f"{each.member.client_id} (silent)"
        for each in holders
    )
    return ", ".join(names) or None


def lag_words(lag_ms: int | None, *, at_least: bool) -> str | None:
    """Return how long the oldest message waits; None: unknown."""
    if lag_ms is None:
        return None
    return ("> " if at_least else "") + duration_words(lag_ms)


def _waiting(place: "QueuePosition") -> str | None:
    return lag_words(place.lag_ms, at_least=place.lag_at_least)
