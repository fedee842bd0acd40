"""Decisions as people read them: when, under which epoch, why, and what they move."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fairlead.cli.render.queue import queues_text
from fairlead.counts import counted
from fairlead.durations import since_words
from fairlead.history.formatting import epoch_words, time_words
from fairlead.observed.phase_words import causes_words

if TYPE_CHECKING:
    from fairlead.wire.decision_records import DecisionRecord

__all__ = ["decision_line", "decision_words"]


def decision_line(decision: Mapping[str, Any]) -> str:
    """Return a decision as a line: time, epoch, causes, who gets which queues, alarms.

    ``decision``: the whole record of docs/protocol.md §3.14, and its append time ``append_ms``.
    """
    at = datetime.fromtimestamp(decision["append_ms"] / 1_000, UTC).strftime("%H:%M:%SZ")
    epoch = decision["epoch"]
    gained: dict[str, list[list[Any]]] = {}
    for move in decision["moves"]:
        if move["stage"] in ("gated", "granted") and move["epoch"] == epoch:
            queues = gained.setdefault(move["client_id"], [])
            if move["queue"] not in queues:
                queues.append(move["queue"])
    # A decision under the epoch before it grants nothing new: waiting clients may start.
    verb = "starts" if epoch == decision["previous_epoch"] else "gets"
    moves = [f"{client} {verb} {queues_text(sorted(queues))}" for client, queues in gained.items()]
    parts = [
        f"{at} {epoch_words(epoch)} {decision['state']['phase']}",
        causes_words(decision["cause"], decision["triggers"]),
        "; ".join(moves),
        f"alarms {', '.join(decision['alarms'])}" if decision["alarms"] else "",
    ]
    return ": ".join(part for part in parts if part)


def decision_words(decision: "DecisionRecord", now_ms: int, queues_moved: int) -> str:
    """Return a decision in a sentence: its epoch, when, why, and how many queues it moved."""
    ago = since_words(decision.written_ms, now_ms)
    why = causes_words(decision.causes, decision.triggers)
    at = time_words(decision.written_ms)
    return f"{decision.epoch} at {at}, {ago} ago: {why}; {counted(queues_moved, 'queue')} moved"
