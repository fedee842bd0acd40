"""One decision with its proof: the records that led to it, and how each queue went over."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.history.cause_words import headline
from fairlead.history.evidence import Evidence
from fairlead.history.history_model import ExplainedDecision, FoundRelease
from fairlead.history.moves import Move
from fairlead.kafka.missing_record import RecordPlace
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["DecisionProof", "HandoverStep", "ProvedDecision", "QueueSpread", "steps_of"]

StepName = Literal["heard", "dropped", "released", "taken", "granted", "began"]
"""``taken``: the engine took the queue from a client that did not release it."""


@dataclass(frozen=True, slots=True)
class QueueSpread:
    """How many queues the members of a group own."""

    members: int
    most: int
    least: int

    @classmethod
    def of(cls, owners: Iterable[str | None], members: Iterable[str]) -> "QueueSpread":
        """Return the spread of queues over members; ``owners``: the owner of each queue."""
        counts = dict.fromkeys(members, 0)
        for owner in owners:
            if owner in counts:
                counts[owner] += 1
        numbers = counts.values() or (0,)
        return cls(len(counts), max(numbers), min(numbers))

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "members": self.members,
            "most": self.most,
            "least": self.least,
            "skew": self.most - self.least,
        }


@dataclass(frozen=True, slots=True)
class HandoverStep:
    """One step of a queue's way from its former client to the next.

    Attributes:
        step: what happened.
        at_ms: when its record was appended.
        place: of that record; None: it was not looked up.
        offset: the position that the step tells of.
    """

    step: StepName
    at_ms: int
    place: RecordPlace | None = None
    offset: int | None = None

    def to_json(self, before: "HandoverStep | None") -> dict[str, Any]:
        """Return JSON values; ``before``: the step before it."""
        return {
            "step": self.step,
            "at_ms": self.at_ms,
            "place": None if self.place is None else [*self.place],
            "offset": self.offset,
            "took_ms": None if before is None else self.at_ms - before.at_ms,
        }


def steps_of(
    move: Move,
    released: FoundRelease | None,
    began_ms: int | None,
    released_ms: int | None = None,
    heard_ms: int | None = None,
) -> list[HandoverStep]:
    """Return the steps of a move, in the order in which they happened.

    Args:
        move: the move.
        released: the release of the former grant.
        began_ms: since when the next client could work; None: it waits, or there is none.
        released_ms: when that release was appended, if only that is known.
        heard_ms: the last heartbeat of a former client that was taken for dead.
    """
    before, after = move.before, move.after
    steps: list[HandoverStep] = []
    if before is not None and before.dropped is not None:
        steps.append(_decided("dropped", before.dropped))
    if released is not None:
        steps.append(HandoverStep("released", released.append_ms, released.place, released.offset))
    elif released_ms is not None:
        steps.append(HandoverStep("released", released_ms))
    elif before is not None and before.ended is not None:
        steps.append(_decided("taken", before.ended))
        if heard_ms is not None:
            steps.append(HandoverStep("heard", heard_ms))
    offset = None if after is None or after.position is None else after.position.offset
    if released is not None and after is not None and after.gate and after.given is not None:
        # It waited for that release, and may have begun with it before a decision let it in.
        free_ms = max(released.append_ms, after.given.written_ms)
        began_ms = free_ms if began_ms is None else min(began_ms, free_ms)
    if after is not None and after.granted is not None:
        steps.append(_decided("granted", after.granted, offset))
    if began_ms is not None:
        steps.append(HandoverStep("began", began_ms, None, offset))
    return sorted(steps, key=lambda each: each.at_ms)


def _decided(step: StepName, audit: DecisionRecord, offset: int | None = None) -> HandoverStep:
    row = audit.row
    place = (row.topic, row.partition, row.offset)
    return HandoverStep(step, audit.written_ms, place, offset)


@dataclass(frozen=True, slots=True)
class ProvedDecision:
    """A decision with its causes, and the evidence of each cause; None: there is none."""

    explained: ExplainedDecision
    evidence: Sequence[Evidence | None]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        body = self.explained.to_json()
        pairs = zip(body["cause"], self.evidence, strict=True)
        return {
            **body,
            "cause": [
                {**cause, "evidence": None if each is None else each.to_json()}
                for cause, each in pairs
            ],
        }


@dataclass(frozen=True, slots=True)
class DecisionProof:
    """All that can be told of one decision.

    Attributes:
        proved: the decision.
        led_by: the decisions that it followed up, oldest first.
        moves: the queues that it moved, with the steps of each.
        fewest_moves: the fewest moves that an even share by number needed.
        spread_before: how many queues the members that took part owned before it.
        spread_after: how many they own by it.
        previous: the offset of the group's decision before it; None: it is not remembered.
        next: the offset of the one after it; None: there is none.
        queues_moved: how many queues it gave to a client that did not have them.
    """

    proved: ProvedDecision
    led_by: Sequence[ProvedDecision]
    moves: Sequence[tuple[Move, Sequence[HandoverStep]]]
    fewest_moves: int
    spread_before: QueueSpread
    spread_after: QueueSpread
    previous: int | None
    next: int | None
    queues_moved: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        audit = self.proved.explained.audit
        return {
            **self.proved.to_json(),
            "queues_moved": self.queues_moved,
            "says": headline(audit, [each.explained.audit for each in self.led_by]),
            "led_by": [each.to_json() for each in self.led_by],
            "moves": [_move_json(move, steps) for move, steps in self.moves],
            "fewest_moves": self.fewest_moves,
            "skew_before": self.spread_before.to_json(),
            "skew_after": self.spread_after.to_json(),
            "previous": self.previous,
            "next": self.next,
        }


def _move_json(move: Move, steps: Sequence[HandoverStep]) -> Mapping[str, Any]:
    pairs: Iterator[tuple[HandoverStep | None, HandoverStep]] = zip(
        (None, *steps), steps, strict=False
    )
    return {**move.to_json(), "steps": [step.to_json(before) for before, step in pairs]}
