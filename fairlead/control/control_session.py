"""An operator's session with one group's rules: read them, write changes, wait for answers.

ADR 0095 gives the reasons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.control.engine_answers import AnswerWatch, ControlPlace, EngineAnswers, Refusal
from fairlead.control.rule_change import RuleChange
from fairlead.control.rule_json import rule_head
from fairlead.control.rules_in_force import RulesInForce, read_rules_in_force
from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.kafka.partition_reading import partitions_of
from fairlead.kafka.rule_writer import partitions_of_rule, write_rules
from fairlead.settings import KafkaSettings
from fairlead.wire.bodies import failure_body
from fairlead.wire.decision_records import DecisionRecord, decision_names
from fairlead.wire.topics import TopicNames

__all__ = ["ControlSession", "RuleAnswer", "RuleOutcome"]

RuleAnswer = Literal["in_force", "refused", "unchanged", "unanswered", "not_written"]
"""What came of a rule.

``unchanged``: it was in force already and is not written again. ``unanswered``: it stands in the
log, and no engine has answered it in time.
"""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What came of one rule.

    Attributes:
        rule: as the engine reads it.
        answer: see `RuleAnswer`.
        places: its places in the control topic.
        decisions: those that it led to, one for each group.
        refusal: why the engine rejected it.
        passed: the engine has read past the record, whatever it answered.
        ticking: an engine runs.
    """

    rule: RuleSet
    answer: RuleAnswer
    places: tuple[ControlPlace, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    refusal: Refusal | None = None
    passed: bool = False
    ticking: bool = False

    def to_json(self, topic: str) -> dict[str, Any]:
        """Return it as JSON values; ``topic`` is the name of the control topic."""
        decisions = self.decisions
        failures = {topic: failure for one in decisions for topic, failure in one.failures.items()}
        return {
            **rule_head(self.rule),
            "answer": self.answer,
            "by": self.rule.by,
            "because": self.rule.because,
            "places": [[topic, *place] for place in self.places],
            "led_to": decision_names(decisions),
            "queues_moved": sum(one.queues_moved for one in decisions) if decisions else None,
            "failures": [failure_body(each) for each in failures.values()],
            "alarms": sorted({alarm for one in decisions for alarm in one.alarms}),
            "refused": None if self.refusal is None else self.refusal.to_json(),
        }


class ControlSession:
    """The rules of one group (or, for ``*``, of all groups), and a way to change them.

    ``present``: the rules in force when the session began.
    """

    def __init__(
        self, kafka: KafkaSettings, group: str, strategies: Mapping[str, Strategy]
    ) -> None:
        """Read the rules.

        Raises:
            EnvironmentMissingError: the control topic cannot be read.
        """
        self._kafka = kafka
        self.topic = TopicNames(kafka.topic_prefix).name("control")
        self._shards = partitions_of(kafka, self.topic)
        self.present: RulesInForce = read_rules_in_force(kafka, group, self._shards, strategies)

    def write(self, changes: Sequence[RuleChange], seconds_max: float) -> list[RuleOutcome]:
        """Write the rules that change something and wait for the engine; return what came of each.

        Raises:
            EnvironmentMissingError: the topics cannot be read or written.
        """
        records = [
            (number, partition)
            for number, change in enumerate(changes)
            if change.changes
            for partition in partitions_of_rule(change.rule, self._shards)
        ]
        if not records:
            return [RuleOutcome(change.rule, "unchanged") for change in changes]
        with AnswerWatch(self._kafka, sorted({partition for _, partition in records})) as watch:
            written = [(partition, changes[number].rule) for number, partition in records]
            offsets = write_rules(self._kafka, written)
            places: dict[int, list[ControlPlace]] = {}
            for (number, partition), offset in zip(records, offsets, strict=True):
                places.setdefault(number, []).append(ControlPlace(partition, offset))
            answers = watch.wait([place for each in places.values() for place in each], seconds_max)
        return [
            _outcome(change.rule, places[number], answers)
            if number in places
            else RuleOutcome(change.rule, "unchanged")
            for number, change in enumerate(changes)
        ]


def _outcome(rule: RuleSet, places: Sequence[ControlPlace], answers: EngineAnswers) -> RuleOutcome:
    refusals = [answers.refusals[place] for place in places if place in answers.refusals]
    decisions = [each for place in places for each in answers.decisions.get(place, ())]
    ticking = all(place.partition in answers.ticking for place in places)
    answer: RuleAnswer = "unanswered"
    if refusals:
        answer = "refused"
    elif decisions or (rule.group == ALL_GROUPS and ticking):
        # A rule of all groups leads to decisions only in groups that it changes.
        answer = "in_force"
    return RuleOutcome(
        rule,
        answer,
        tuple(places),
        tuple(decisions),
        refusals[0] if refusals else None,
        all(place in answers.passed for place in places),
        ticking,
    )
