"""A decision in JSON without what it did to single queues (ADR 0194)."""

from typing import Any

from fairlead.wire.bodies import failure_body, summary_body
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["decision_head"]


def decision_head(decision: DecisionRecord, queues_moved: int | None = None) -> dict[str, Any]:
    """Return a decision as JSON values.

    Args:
        decision: the decision.
        queues_moved: how many queues it moved, by all that was read before it; None: by itself.
    """
    row = decision.row
    return {
        "group": decision.group,
        "epoch": [*decision.epoch],
        "previous_epoch": [*decision.previous_epoch],
        "at": [row.topic, row.partition, row.offset],
        "at_ms": decision.at_ms,
        "append_ms": decision.written_ms,
        "triggers": [*decision.triggers],
        "cause": [dict(cause) for cause in decision.causes],
        "strategy": decision.strategy,
        "queues_moved": decision.queues_moved if queues_moved is None else queues_moved,
        "state": summary_body(decision.state),
        "failures": [failure_body(each) for each in decision.failures.values()],
        "alarms": [*decision.alarms],
    }
