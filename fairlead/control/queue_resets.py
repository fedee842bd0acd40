"""Resets of a group's queues: what each would do, and what came of it.

Decides how many messages are skipped or read again. The engine carries a reset out as a move (rule
H25 of docs/handover.md). A reset names the identity of the topic that the operator saw, and the
engine follows it under that identity only (rule H28).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.control.engine_answers import AnswerWatch, ControlPlace, Refusal
from fairlead.control.queue_place import QueuePlace
from fairlead.control.reset_target import ResetTarget
from fairlead.core.records import Reset
from fairlead.kafka.partition_reading import partitions_of
from fairlead.kafka.rule_writer import write_resets
from fairlead.settings import KafkaSettings
from fairlead.wire.decision_records import DecisionRecord, decision_names
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames

__all__ = ["PlannedReset", "ResetOutcome", "answer_json", "plan_resets", "write_planned"]

ResetAnswer = Literal["followed", "refused", "unanswered", "not_written"]


@dataclass(frozen=True, slots=True)
class PlannedReset:
    """One queue, and where it shall go on."""

    place: QueuePlace
    offset: int

    @property
    def ahead(self) -> int | None:
        """How many kept messages are skipped (> 0) or read again (< 0); None: unknown."""
        place = self.place
        return None if place.lag is None else self.offset - (place.latest - place.lag)


@dataclass(frozen=True, slots=True)
class ResetOutcome:
    """What came of one reset.

    Attributes:
        planned: the reset.
        answer: ``followed``: a decision of the engine names it as a cause; ``unanswered``: it
            stands in the log, and no engine has answered it in time.
        at: its place in the control topic.
        decision: the decision that it led to.
        refusal: why the engine rejected it.
        passed: the engine has read past it, whatever it answered.
        ticking: an engine runs.
    """

    planned: PlannedReset
    answer: ResetAnswer
    at: ControlPlace | None = None
    decision: DecisionRecord | None = None
    refusal: Refusal | None = None
    passed: bool = False
    ticking: bool = False

    def to_json(self, reset: Reset, topic: str) -> dict[str, Any]:
        """Return it as JSON values.

        Args:
            reset: its record.
            topic: the name of the control topic.
        """
        ahead = self.planned.ahead
        return {
            **self.planned.place.to_json(),
            "to_offset": self.planned.offset,
            "skipped_messages": None if ahead is None else max(ahead, 0),
            "repeated_messages": None if ahead is None else max(-ahead, 0),
            "by": reset.by,
            "because": reset.because,
            "at": None if self.at is None else [topic, *self.at],
            **answer_json(self),
        }


def answer_json(outcome: ResetOutcome | None) -> dict[str, Any]:
    """Return what the engine said of a reset, as JSON values; None: nothing was written."""
    if outcome is None:
        return {"answer": "not_written", "led_to": [], "refused": None}
    decision, refusal = outcome.decision, outcome.refusal
    return {
        "answer": outcome.answer,
        "led_to": decision_names([] if decision is None else [decision]),
        "refused": None if refusal is None else refusal.to_json(),
    }


def plan_resets(places: Sequence[QueuePlace], target: ResetTarget) -> list[PlannedReset]:
    """Return where each queue would go on, inside its bounds."""
    return [
        PlannedReset(each, target.offset_of(each.earliest, each.latest, each.for_times))
        for each in places
    ]


def write_planned(
    kafka: KafkaSettings, planned: Sequence[PlannedReset], resets: Sequence[Reset], seconds: float
) -> list[ResetOutcome]:
    """Write the resets of one group and wait for the engine; return what came of each.

    Args:
        kafka: Fairlead's topics.
        planned: the resets, for the outcome.
        resets: the records, in the same order.
        seconds: how long to wait for the engine.

    Raises:
        EnvironmentMissingError: the topics cannot be read or written.
    """
    shards = partitions_of(kafka, TopicNames(kafka.topic_prefix).name("control"))
    shard = partition_of_group(resets[0].group, shards)
    with AnswerWatch(kafka, [shard]) as watch:
        places = [ControlPlace(shard, offset) for offset in write_resets(kafka, resets, shards)]
        answers = watch.wait(places, seconds)
    outcomes = []
    for each, place in zip(planned, places, strict=True):
        decisions, refusal = answers.decisions.get(place), answers.refusals.get(place)
        answer: ResetAnswer = "unanswered"
        if refusal is not None:
            answer = "refused"
        elif decisions:
            answer = "followed"
        outcomes.append(
            ResetOutcome(
                each,
                answer,
                place,
                decisions[0] if decisions else None,
                refusal,
                place in answers.passed,
                shard in answers.ticking,
            )
        )
    return outcomes
