"""The screen of `fairlead watch`: a group's state, its queues, and its last decisions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fairlead.cli.render.decision import decision_line
from fairlead.cli.render.group import phase_words
from fairlead.cli.render.queue import queue_row
from fairlead.cli.render.tables import block_lines, pair_lines, table_lines
from fairlead.durations import duration_words
from fairlead.history.formatting import epoch_words

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding

__all__ = ["Moment", "screen_lines"]

_COLUMNS: Final = (
    ("queue", "owner", "state", "draining", "epoch", "for", "lag", "waiting"),
    ("queue", "owner", "state", "draining", "lag"),
    ("queue", "owner", "state", "lag"),
)
"""The screen shows the first of these that fits."""
_FEED: Final = 6
_ROWS_MIN: Final = 4
_FRAME: Final = 5
"""Lines of a screen that are no rows."""
_SILENT_MS: Final = 5_000


class Moment(NamedTuple):
    """The time of a screen, and the append time of the newest record; 0: there is none.

    ``strange``: a note that nobody knew the group at the beginning.
    """

    now_ms: int
    newest_ms: int
    strange: str = ""


def screen_lines(
    group: str,
    standing: "GroupStanding | None",
    feed: Sequence[Mapping[str, Any]],
    moment: Moment,
    size: tuple[int, int],
) -> list[str]:
    """Return the lines of the screen, no more than fit.

    Args:
        group: the group's name.
        standing: the group; None: nothing is known of it yet.
        feed: its decisions, oldest first.
        moment: the time of the screen.
        size: columns and lines.
    """
    width, height = size
    head = [*pair_lines(_head(group, standing, moment), width)]
    newest = [line for each in feed[-_FEED:] for line in _folded(decision_line(each), width)]
    newest = newest[-max((height - len(head)) // 3, 1) :]
    left = max(height - len(head) - len(newest) - _FRAME - 1, _ROWS_MIN)
    return [*head, *_queue_lines(standing, moment.now_ms, (width, left)), *newest][:height]


def _folded(text: str, width: int) -> list[str]:
    return list(pair_lines([("", text)], width - 2))


def _head(
    group: str, standing: "GroupStanding | None", moment: Moment
) -> Iterable[tuple[str, str]]:
    newest_ms = moment.newest_ms
    silent_ms = max(moment.now_ms - newest_ms, 0)
    last = "none yet" if not newest_ms else f"{duration_words(silent_ms)} ago"
    quiet = " (nothing comes: no engine and no client, or the brokers are gone)"
    yield group, f"last record {last}{quiet if newest_ms and silent_ms > _SILENT_MS else ''}"
    if standing is None:
        yield "", moment.strange or "no record of it was read"
        return
    summary = standing.summary
    yield "phase", phase_words(standing, moment.now_ms)
    epoch = "-" if summary.epoch is None else epoch_words(summary.epoch)
    lag = "-" if summary.lag_messages is None else f"{summary.lag_messages}"
    counts = (
        f"epoch {epoch}, {summary.strategy}, {summary.members} members "
        f"({summary.members_idle} idle), {summary.queues} queues, {summary.unassigned} unassigned, "
        f"{summary.in_handover} in handover, lag {lag}"
    )
    yield "", counts + ("" if summary.converged else ", not converged")
    if summary.alarms:
        yield "alarms", ", ".join(summary.alarms)


def _queue_lines(
    standing: "GroupStanding | None", now_ms: int, size: tuple[int, int]
) -> Iterable[str]:
    if standing is None:
        return
    width, lines_max = size
    # Without room for all queues, those on the move come first.
    queues = standing.queues
    if len(queues) > lines_max:
        queues = tuple(sorted(queues, key=lambda each: each.state == "held"))
    rows = [queue_row(standing, each, now_ms) for each in queues[:lines_max]]
    tables = (table_lines(rows, columns, width=width) for columns in _COLUMNS)
    table = next((each for each in tables if each is not None), None)
    if table is not None:
        yield from (line.rstrip() for line in table)
    else:
        blocks = [line for row in rows for line in block_lines(row, _COLUMNS[0], width)]
        yield from ["", *blocks[:lines_max], ""]
    if len(queues) > lines_max:
        yield f"and {len(queues) - lines_max} more queues, each held by its owner"
