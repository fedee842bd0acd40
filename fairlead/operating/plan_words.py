"""What an operator reads of a plan that is carried out: what came between, differs, and is left."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fairlead.history.formatting import queue_words, time_words
from fairlead.observed.phase_words import cause_words
from fairlead.planning.changes import Changes
from fairlead.planning.saved_plan import PlannedMove
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["came_between", "differences", "left_lines", "left_words", "way_words"]

_NAMED_MAX: Final = 10


def came_between(decisions: Sequence[DecisionRecord]) -> str:
    """Return the decisions that came after a plan, a line for each, the newest of many."""
    lines = [*_lines(decisions)]
    if not lines:
        return "\n  The decisions in between are not kept any more."
    more = len(lines) - _NAMED_MAX
    return ("" if more <= 0 else f"\n  {more} more before these") + "".join(lines[-_NAMED_MAX:])


def _lines(decisions: Sequence[DecisionRecord]) -> Iterator[str]:
    for each in decisions:
        why = "; ".join(map(cause_words, each.causes)) or ", ".join(each.triggers)
        why = why or "it names no cause"
        yield f"\n  {each.epoch} at {time_words(each.written_ms)}: {why}"


def differences(planned: Iterable[PlannedMove], now: Iterable[PlannedMove]) -> str:
    """Return the moves that differ from the plan, a line for each queue, the first of many."""
    wanted, actual = ({move.queue: move for move in moves} for moves in (planned, now))
    lines = [
        f"\n  {queue_words(queue)}: planned {way_words(wanted.get(queue)) or 'to stay'}, "
        f"now {way_words(actual.get(queue)) or 'to stay'}"
        for queue in dict.fromkeys([*wanted, *actual])
        if wanted.get(queue) != actual.get(queue)
    ]
    more = len(lines) - _NAMED_MAX
    return "".join(lines[:_NAMED_MAX]) + ("" if more <= 0 else f"\n  and {more} more")


def way_words(move: PlannedMove | None) -> str | None:
    """Return from whom to whom a queue goes; None: it does not."""
    return None if move is None else f"{move.holder or 'nobody'} → {move.successor or 'nobody'}"


def left_words(changes: Changes, before: str = "  ") -> str:
    """Return what of a plan remains to be done by others, a line for each."""
    return "".join(f"\n{before}to be done: {line}" for line in left_lines(changes))


def left_lines(changes: Changes) -> Iterator[str]:
    """Yield what of a plan remains to be done by others."""
    for join in changes.joins:
        topics = "" if join.topics is None else f", subscribed to {', '.join(join.topics)}"
        yield f"start client {join.client_id}{topics} (its application's operator)"
    for client_id in changes.leaves:
        yield f"stop client {client_id} in order (its application's operator)"
    for size in changes.routes:
        place = size.topic if size.broker_name is None else f"{size.topic} on {size.broker_name}"
        yield f"give {place} {size.queues} queues (the topic's owner; a bridge publishes the route)"
