"""Turns a run of a pitfall into JSON values."""

from dataclasses import asdict
from typing import Any

from fairlead_proof.pitfalls.history import event_text
from fairlead_proof.pitfalls.pitfall import PitfallRun, Side
from fairlead_proof.pitfalls.text import trouble_lines

__all__ = ["document_of"]


def document_of(run: PitfallRun) -> dict[str, Any]:
    """Return the run; times in milliseconds, queues as [topic, broker name, queue id]."""
    pitfall = run.pitfall
    return {
        "name": pitfall.name,
        "title": pitfall.title,
        "rocketmq": pitfall.wrong,
        "fairlead": pitfall.right,
        "seen": list(pitfall.seen),
        "from_ms": pitfall.from_ms,
        "to_ms": pitfall.to_ms,
        "history": [{"at_ms": each.at_ms, "what": event_text(each)} for each in pitfall.history],
        "troubles": list(trouble_lines(pitfall)),
        "sides": {name.lower(): _side(side) for name, side in run.sides.items()},
    }


def _side(side: Side) -> dict[str, Any]:
    course = [{"at_ms": at_ms, "what": line} for at_ms, line in side.ledger.lines]
    tally = side.tally
    queues = {
        "twice": [[*each] for each in tally.twice],
        "nobody": [[*each] for each in tally.nobody],
    }
    counts = {**asdict(tally), **queues, "per_client": list(side.per_client)}
    return {"counts": counts, "course": course}
