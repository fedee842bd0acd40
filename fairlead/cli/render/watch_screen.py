"""What `fairlead watch` shows: a group's state, its queues, and what was decided last."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fairlead.cli.render.output import queues_text
from fairlead.cli.render.tables import block_lines, pair_lines, table_lines
from fairlead.durations import duration_words, since_words
from fairlead.observed.phase_words import PHASES, causes_words

if TYPE_CHECKING:
    from fairlead.observed.group_standing import GroupStanding
    from fairlead.observed.queue_standing import QueueStanding

__all__ = ["Moment", "decision_line", "screen_lines"]

_COLUMNS: Final = (
    ("queue", "owner", "state", "given up by", "epoch", "for", "lag", "waiting"),
    ("queue", "owner", "state", "given up by", "lag"),
    ("queue", "owner", "state", "lag"),
)
"""The first of these that fits is shown."""
_FEED: Final = 6
_ROWS_MIN: Final = 4
_FRAME: Final = 5
"""Lines of a screen that are no rows: of the table's frame, and empty ones."""
_SILENT_MS: Final = 5_000


def decision_line(decision: Mapping[str, Any]) -> str:
    """Return a decision as a line: when, which, what led to it, who gained what, what is odd.

    ``decision``: the record of docs/protocol.md §3.14, whole, and when it was appended,
    ``append_ms``.
    """
    at = datetime.fromtimestamp(decision["append_ms"] / 1_000, UTC).strftime("%H:%M:%SZ")
    epoch = decision["epoch"]
    gained: dict[str, list[list[Any]]] = {}
    for move in decision["moves"]:
        if move["stage"] in ("gated", "granted") and move["epoch"] == epoch:
            queues = gained.setdefault(move["client_id"], [])
            if move["queue"] not in queues:
                queues.append(move["queue"])
    # A decision under the epoch of the one before grants nothing anew: who waited may start.
    verb = "starts" if epoch == decision["previous_epoch"] else "gets"
    moves = [f"{client} {verb} {queues_text(sorted(queues))}" for client, queues in gained.items()]
    parts = [
        f"{at} {epoch[0]}.{epoch[1]} {decision['state']['phase']}",
        causes_words(decision["cause"], decision["triggers"]),
        "; ".join(moves),
        f"alarms {', '.join(decision['alarms'])}" if decision["alarms"] else "",
    ]
    return ": ".join(part for part in parts if part)


class Moment(NamedTuple):
    """When the screen is drawn: the time, and when the newest record was appended; 0: none was.

    ``strange``: that nobody knew the group at the beginning.
    """

    now_ms: int
    newest_ms: int
    strange: str = ""


def screen_lines(
    group: str,
    found: "GroupStanding | None",
    feed: Sequence[Mapping[str, Any]],
    moment: Moment,
    size: tuple[int, int],
) -> list[str]:
    """Return the screen, no longer than it is high.

    Args:
        group: its name.
        found: the group; None: nothing is known of it yet.
        feed: its decisions, oldest first.
        moment: when.
        size: columns and lines.
    """
    width, height = size
    now_ms = moment.now_ms
    head = [*pair_lines(_head(group, found, moment), width)]
    told = [line for each in feed[-_FEED:] for line in _folded(decision_line(each), width)]
    told = told[-max((height - len(head)) // 3, 1) :]
    left = max(height - len(head) - len(told) - _FRAME - 1, _ROWS_MIN)
    return [*head, *_queue_lines(found, now_ms, width, left), *told][:height]


def _folded(text: str, width: int) -> list[str]:
    return list(pair_lines([("", text)], width - 2))


def _head(group: str, found: "GroupStanding | None", moment: Moment) -> Iterable[tuple[str, str]]:
    newest_ms = moment.newest_ms
    silent_ms = max(moment.now_ms - newest_ms, 0)
    last = "none yet" if not newest_ms else f"{duration_words(silent_ms)} ago"
    quiet = " (nothing comes: no engine and no client, or the brokers are gone)"
    yield group, f"last record {last}{quiet if newest_ms and silent_ms > _SILENT_MS else ''}"
    if found is None:
        yield "", moment.strange or "no record of it was read"
        return
    said = found.summary
    yield "phase", f"{said.phase}: {PHASES.get(said.phase, 'of a newer engine')}"
    epoch = "-" if said.epoch is None else f"{said.epoch[0]}.{said.epoch[1]}"
    lag = "-" if said.lag_messages is None else f"{said.lag_messages}"
    counts = (
        f"epoch {epoch}, {said.strategy}, {said.members} members "
        f"({said.members_idle} idle), {said.queues} queues, {said.unassigned} unassigned, "
        f"{said.draining + said.gated} in handover, lag {lag}"
    )
    yield "", counts + ("" if said.converged else ", not converged")
    if said.alarms:
        yield "alarms", ", ".join(said.alarms)


def _queue_lines(
    found: "GroupStanding | None", now_ms: int, width: int, lines_max: int
) -> Iterable[str]:
    if found is None:
        return
    # What is under way is shown first where there is no room for all.
    queues = found.queues
    if len(queues) > lines_max:
        queues = tuple(sorted(queues, key=lambda each: each.state == "held"))
    rows = [_row(each, now_ms) for each in queues[:lines_max]]
    tables = (table_lines(rows, columns, width=width) for columns in _COLUMNS)
    table = next((found for found in tables if found is not None), None)
    if table is not None:
        yield from (line.rstrip() for line in table)
    else:
        blocks = [line for row in rows for line in block_lines(row, _COLUMNS[0], width)]
        yield from ["", *blocks[:lines_max], ""]
    if len(queues) > lines_max:
        yield f"and {len(queues) - lines_max} more queues, each held by its owner"


def _row(each: "QueueStanding", now_ms: int) -> dict[str, Any]:
    place, newest = each.place, each.newest
    at_least = "> " if place.lag_at_least else ""
    holder = each.draining[-1].member.client_id if each.draining else None
    return {
        "queue": "/".join(map(str, each.queue)),
        "owner": None if each.owner is None else each.owner.client_id,
        "state": each.state,
        "given up by": holder,
        "epoch": None if newest is None else ".".join(map(str, newest.epoch)),
        "for": since_words(each.owner_since_ms, now_ms),
        "lag": place.lag,
        "waiting": None if place.lag_ms is None else at_least + duration_words(place.lag_ms),
    }
