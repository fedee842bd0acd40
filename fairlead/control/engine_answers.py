"""The engine's answers to rules: the decision that a rule led to, or the reject of its record.

Both name the place of the record that they answer, so nothing is guessed. A rule that changes
nothing in any group gets no answer; ticks show whether an engine runs at all.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

import orjson
from kafka import TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.topic_reader import consumer_of, unreadable
from fairlead.settings import KafkaSettings
from fairlead.wire.decision_records import DecisionReader, DecisionRecord
from fairlead.wire.raw import raw_record
from fairlead.wire.topics import TopicNames

__all__ = ["AnswerWatch", "ControlPlace", "EngineAnswers", "Refusal"]

_POLL_MS: Final = 200


class ControlPlace(NamedTuple):
    """The place of a rule in the control topic."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a reject says: the reason is stable, the rest is for people."""

    reason: str
    field: str | None
    detail: str
    remedy: str

    def to_json(self) -> dict[str, str | None]:
        """Return it as JSON values."""
        return {
            "reason": self.reason,
            "field": self.field,
            "detail": self.detail,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class EngineAnswers:
    """What the engine said of some rules.

    Attributes:
        decisions: place -> the first decision of each group that names the record as a cause.
        refusals: place -> the reject.
        passed: places that some decision of their shard had read, whatever it was about.
        ticking: partitions in which an engine has ticked meanwhile.
    """

    decisions: Mapping[ControlPlace, Sequence[DecisionRecord]] = field(default_factory=dict)
    refusals: Mapping[ControlPlace, Refusal] = field(default_factory=dict)
    passed: frozenset[ControlPlace] = frozenset()
    ticking: frozenset[int] = frozenset()

    def has(self, place: ControlPlace) -> bool:
        """Tell whether a rule was answered."""
        return place in self.decisions or place in self.refusals


class AnswerWatch:
    """Follows decisions, rejects and ticks from the moment it is opened."""

    def __init__(self, kafka: KafkaSettings, shards: Sequence[int]) -> None:
        """Describe the watch; ``shards``: the partitions whose ticks count."""
        names = TopicNames(kafka.topic_prefix)
        self._control = names.name("control")
        self._decisions = names.name("decisions")
        self._rejects = names.name("rejects")
        self._heartbeats = names.name("heartbeats")
        self._kafka = kafka
        self._partitions = [
            TopicPartition(self._decisions, 0),
            TopicPartition(self._rejects, 0),
            *(TopicPartition(self._heartbeats, shard) for shard in shards),
        ]
        self._reader = DecisionReader()
        self._heard: list[DecisionRecord] = []
        self._refused: dict[ControlPlace, Refusal] = {}
        self._ticking: set[int] = set()

    def __enter__(self) -> Self:
        """Begin at the present ends.

        Raises:
            EnvironmentMissingError: the topics cannot be read.
        """
        self._consumer = consumer_of(self._kafka, "answers")
        try:
            self._consumer.assign(self._partitions)
            ends = self._consumer.end_offsets(self._partitions)
            for partition, end in ends.items():
                self._consumer.seek(partition, end)
        except KafkaError as error:
            self._consumer.close()
            raise self._unreadable(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def wait(self, places: Sequence[ControlPlace], seconds_max: float) -> EngineAnswers:
        """Return the answers once each rule has one, or when the time is over.

        Raises:
            EnvironmentMissingError: the topics cannot be read any more.
        """
        deadline = time.monotonic() + seconds_max
        while True:
            answers = self._answers(places)
            left = deadline - time.monotonic()
            if left <= 0 or all(answers.has(place) for place in places):
                return answers
            try:
                polled = self._consumer.poll(timeout_ms=min(_POLL_MS, int(left * 1_000) + 1))
            except KafkaError as error:
                raise self._unreadable(error) from error
            for records in polled.values():
                for record in records:
                    self._take(record)

    def _take(self, record: ConsumerRecord) -> None:
        if record.topic == self._heartbeats:
            if record.key is None:
                self._ticking.add(record.partition)
            return
        try:
            if record.topic == self._rejects:
                self._take_reject(orjson.loads(record.value or b"{}"))
            else:
                decision = self._reader.read(raw_record(record))
                if decision is not None and not decision.superseded:
                    self._heard.append(decision)
        except (KeyError, TypeError, ValueError):
            # A record of another version, or nobody's: it answers nothing.
            return

    def _take_reject(self, body: Mapping[str, Any]) -> None:
        topic, partition, offset = body["at"]
        if topic == self._control:
            refusal = Refusal(body["reason"], body["field"], body["detail"], body["remedy"])
            self._refused[ControlPlace(partition, offset)] = refusal

    def _answers(self, places: Sequence[ControlPlace]) -> EngineAnswers:
        decisions: dict[ControlPlace, list[DecisionRecord]] = {}
        for decision in self._heard:
            for topic, partition, offset in decision.places():
                place = ControlPlace(partition, offset)
                if topic == self._control and place in places:
                    first = decisions.setdefault(place, [])
                    if decision.group not in {each.group for each in first}:
                        first.append(decision)
        return EngineAnswers(
            decisions,
            {place: self._refused[place] for place in places if place in self._refused},
            frozenset(place for place in places if self._is_behind(place)),
            frozenset(self._ticking),
        )

    def _is_behind(self, place: ControlPlace) -> bool:
        return any(
            decision.cut.end_of(self._control, place.partition) > place.offset
            for decision in self._heard
        )

    def _unreadable(self, error: KafkaError) -> EnvironmentMissingError:
        return unreadable(self._kafka, f"{self._decisions} and {self._rejects}", error)
