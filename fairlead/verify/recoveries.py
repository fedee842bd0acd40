"""How long queues were without an owner after each fault, by the journals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from fairlead.core.model import MessageQueue
from fairlead.verify.history import (
    ClientFrozen,
    ClientKilled,
    Closing,
    EngineKilled,
    Fault,
    StepBegun,
    StepRecord,
)
from fairlead.verify.tenures import Tenures

__all__ = ["Recovery", "recoveries"]


@dataclass(frozen=True, slots=True)
class Recovery:
    """The queues without an owner after a fault, until the next fault or the end.

    Attributes:
        fault: what was done.
        begin_ns: when.
        queues: how many queues lost their owner.
        recovered_ms: from the fault until the last of them had an owner again; None: never.
        longest_ms: the longest time that one queue had no owner.
    """

    fault: str
    begin_ns: int
    queues: int
    recovered_ms: float | None
    longest_ms: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "fault": self.fault,
            "fault_ms": self.begin_ns / 1e6,
            "queues_lost": self.queues,
            "recovered_ms": self.recovered_ms,
            "longest_ms": self.longest_ms,
        }


def recoveries(steps: Sequence[StepRecord], tenures: Tenures) -> tuple[Recovery, ...]:
    """Return what followed each fault; each step of the script counts as a fault."""
    marks = sorted((begin, name) for begin, name in _marks(steps))
    closing = min((each.t_ns for each in steps if isinstance(each, Closing)), default=None)
    gaps = list(_gaps(tenures, closing))
    followed = []
    for index, (begin_ns, name) in enumerate(marks):
        end_ns = marks[index + 1][0] if index + 1 < len(marks) else closing
        own = [
            gap for gap in gaps if begin_ns <= gap.begin_ns < (inf if end_ns is None else end_ns)
        ]
        ends = [gap.end_ns for gap in own]
        lengths = [gap.end_ns - gap.begin_ns for gap in own if gap.end_ns is not None]
        never = any(end is None for end in ends)
        last = max((end for end in ends if end is not None), default=begin_ns)
        followed.append(
            Recovery(
                name,
                begin_ns,
                len({gap.queue for gap in own}),
                None if never else (last - begin_ns) / 1e6,
                max(lengths, default=0) / 1e6,
            )
        )
    return tuple(followed)


def _marks(steps: Sequence[StepRecord]) -> Iterator[tuple[int, str]]:
    for step in steps:
        match step:
            case ClientKilled():
                yield step.sent_ns, f"{step.client_id} killed"
            case ClientFrozen():
                yield step.begin_ns, f"{step.client_id} frozen"
            case EngineKilled():
                yield step.sent_ns, f"engine of generation {step.generation} killed"
            case Fault():
                yield step.begin_ns, step.name
            case StepBegun():
                yield step.t_ns, step.name
            case Closing():
                pass


class _Gap(NamedTuple):
    """When a queue lost its owner, and when it had one again (None: never)."""

    queue: MessageQueue
    begin_ns: int
    end_ns: int | None


def _gaps(tenures: Tenures, closing: int | None) -> Iterator[_Gap]:
    for queue, queue_tenures in tenures.by_queue.items():
        reached: int | None = None
        for tenure in queue_tenures:
            if reached is not None and tenure.begin_ns > reached:
                yield _Gap(queue, reached, tenure.begin_ns)
            if tenure.end_ns is None:
                reached = None
                break
            reached = max(reached or 0, tenure.end_ns)
        if reached is not None and (closing is None or reached < closing):
            yield _Gap(queue, reached, None)
