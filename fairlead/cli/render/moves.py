"""Moves as people read them: a line for each decision, its queues below."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from fairlead.cli.render.output import visible
from fairlead.cli.render.queue import queues_text
from fairlead.cli.render.tables import folded
from fairlead.counts import counted
from fairlead.durations import duration_words
from fairlead.history.cause_words import headline
from fairlead.history.formatting import epoch_words, queue_words, time_words

if TYPE_CHECKING:
    from fairlead.history.moves import DecidedMoves, Move

__all__ = ["moves_text"]

_SINGLE_MAX: Final = 24
"""A decision that moved more queues than this is shown by owners, not queue by queue."""


def moves_text(
    group: str, decided: "Sequence[DecidedMoves]", since_ms: int, *, filtered: bool
) -> str:
    """Return the moves as text, without a line feed at its end.

    ``filtered``: some moves are left out, so the least number is unknown.
    """
    lines: list[str] = []
    for each in decided:
        lines += [*_decision(each), ""]
    lines.append(folded(_summary(group, decided, since_ms, filtered=filtered)))
    return "\n".join(lines)


def _decision(decided: "DecidedMoves") -> Iterator[str]:
    audit, number = decided.audit, len(decided.moves)
    queues = counted(number, "queue")
    why = headline(audit, decided.moves[0].prelude)
    epoch = epoch_words(audit.epoch)
    yield folded(
        f"{time_words(audit.written_ms)}  {why}: {queues} (epoch {epoch}, {audit.strategy})"
    )
    if number > _SINGLE_MAX:
        yield from _by_owners(decided.moves)
        return
    rows = [_row(move) for move in decided.moves]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield visible(f"    {'  '.join(cells)}").rstrip()


def _row(move: "Move") -> tuple[str, str, str, str]:
    after = move.after
    if after is None:
        return queue_words(move.queue), _way(move), "", ""
    where = ""
    if after.position is not None:
        later = " or later" if after.began_by_release else ""
        where = f"from offset {after.position.offset:,}{later} ({after.why})"
    took = "unsafe: somebody else may work on it" if after.unsafe else _took(move)
    return queue_words(move.queue), _way(move), where, took


def _took(move: "Move") -> str:
    if move.after is not None and move.after.began_by_release:
        began = "without an engine" if move.after.opened is not None else "no decision yet"
        return f"by its release, {began}"
    if move.handover_ms is None:
        gone = move.after is not None and move.after.state == "over"
        return "taken back before it began" if gone else "still waits"
    return "at once" if move.handover_ms == 0 else f"after {duration_words(move.handover_ms)}"


def _way(move: "Move") -> str:
    if move.kind == "renewed" and move.after is not None:
        return f"{move.after.client_id} again"
    before = "nobody" if move.before is None else move.before.client_id
    return f"{before} → {'nobody' if move.after is None else move.after.client_id}"


def _by_owners(moves: "Sequence[Move]") -> Iterator[str]:
    ways: dict[str, list[Move]] = {}
    for move in moves:
        ways.setdefault(_way(move), []).append(move)
    for way, each in ways.items():
        queues = queues_text([move.queue for move in each])
        yield folded(f"    {way}: {counted(len(each), 'queue')}: {queues}")


def _summary(
    group: str, decided: "Sequence[DecidedMoves]", since_ms: int, *, filtered: bool
) -> str:
    from fairlead.history.moves import moves_by_trigger

    moved = sum(each.queues_moved for each in decided)
    decisions = sum(each.queues_moved > 0 for each in decided)
    if not decided:
        what = "such move" if filtered else "queue moved"
        return f"{group}: no {what} since {time_words(since_ms)}"
    kinds = Counter[str](move.kind for each in decided for move in each.moves)
    words = {"renewed": "taken again by the same client", "given_up": "left without an owner"}
    beside = [f"{kinds[kind]} {what}" for kind, what in words.items() if kinds[kind]]
    triggers = ", ".join(f"{each} {number}" for each, number in moves_by_trigger(decided).items())
    least = "" if filtered else f"; the least for even shares is {sum(x.least for x in decided)}"
    if not moved:
        what = f"no queue moved to another client since {time_words(since_ms)}"
        return "; ".join([f"{group}: {what}", *beside])
    return (
        f"{group}: {counted(moved, 'queue')} moved by {counted(decisions, 'decision')} since "
        f"{time_words(since_ms)}{f' ({triggers})' if triggers else ''}{least}"
        f"{''.join(f'; {each}' for each in beside)}"
    )
