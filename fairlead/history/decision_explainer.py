"""Looks up what proves a decision: the records of its causes, and heartbeats of silent clients."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.control.rules_in_force import rules_in_force
from fairlead.core.allocation import Strategy
from fairlead.history.cause_check import CauseCheck, CauseChecks, place_of
from fairlead.history.cause_words import is_consequence, sentence
from fairlead.history.history_model import ExplainedCause, ExplainedDecision
from fairlead.history.last_heard import LastHeard, Patience, last_heard
from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["DecisionExplainer"]

_HEARD_MS: Final = (120_000, 1_320_000)
"""Read heartbeats from this long before a decision: no lease is longer than ten minutes."""


@dataclass(slots=True)
class DecisionExplainer:
    """Explains decisions of one group.

    Attributes:
        source: the topics.
        group: its name.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        shard: the group's partition of heartbeats, releases and control.
        found: what stands at the places that were looked up.
    """

    source: TopicSource
    group: str
    strategies: Mapping[str, Strategy]
    tick_ms: int
    shard: int = field(init=False)
    found: dict[RecordPlace, RawRecord | WhyMissing] = field(default_factory=dict)
    _checks: CauseChecks = field(init=False)
    _heard: dict[int, Mapping[str, LastHeard]] = field(default_factory=dict)
    _known_patience: Patience | None = None

    def __post_init__(self) -> None:
        shards = self.source.partitions.shards
        self.shard = partition_of_group(self.group, shards)
        self._checks = CauseChecks(self.group, self.source.names, shards)

    def look_up(self, places: Iterable[RecordPlace]) -> None:
        """Fetch what stands at some places.

        Raises:
            EnvironmentMissingError: a topic cannot be read.
        """
        self.found.update(self.source.records_at({*places} - self.found.keys()))

    @staticmethod
    def places(*decisions: DecisionRecord) -> Iterator[RecordPlace]:
        """Yield where the records of the causes of some decisions stand."""
        for audit in decisions:
            for cause in audit.causes:
                place = place_of(cause)
                if place is not None:
                    yield place

    def explained(self, audit: DecisionRecord) -> ExplainedDecision:
        """Return a decision with its causes checked, whose places were looked up."""
        lapsed = self.lapsed(audit)
        ordered = sorted(audit.causes, key=is_consequence)
        return ExplainedDecision(
            audit, tuple(self._explained_cause(cause, audit, lapsed) for cause in ordered)
        )

    def _explained_cause(
        self, cause: Mapping[str, Any], audit: DecisionRecord, lapsed: Mapping[str, LastHeard]
    ) -> ExplainedCause:
        place = place_of(cause)
        record = None if place is None else self.found[place]
        check = self._checks.check(cause, audit.cut, record)
        heard = lapsed.get(str(cause.get("client_id")))
        if cause["kind"] == "client_expired" and place is None:
            text = (
                "the log no longer has its last heartbeat"
                if heard is None
                else heard.words(self.patience())
            )
            check = CauseCheck("no_record", text)
        return ExplainedCause(cause, sentence(cause, audit, deletes=check.deletes), check)

    def lapsed(self, audit: DecisionRecord) -> Mapping[str, LastHeard]:
        """Return the last heartbeats of the clients that lapsed by a decision."""
        clients = {
            str(cause.get("client_id"))
            for cause in audit.causes
            if cause["kind"] == "client_expired" and cause.get("at") is None
        }
        if clients and audit.row.offset not in self._heard:
            topic = self.source.names.name("heartbeats")
            end = audit.cut.positions.get(topic, {}).get(self.shard, 0)
            self._heard[audit.row.offset] = self.last_heard(clients, audit.at_ms, end)
        return self._heard.get(audit.row.offset, {})

    def last_heard(
        self, clients: Collection[str], at_ms: int, end: int, *, newest: bool = False
    ) -> Mapping[str, LastHeard]:
        """Return the last heartbeats of clients before an offset of their partition.

        Args:
            clients: the clients.
            at_ms: about when the record at that offset was appended.
            end: the offset.
            newest: of each client its newest process counts, not one that fell silent.
        """
        heard: Mapping[str, LastHeard] = {}
        for before_ms in _HEARD_MS:
            rows = self.source.rows("heartbeats", [self.shard], max(at_ms - before_ms, 0))
            heard = last_heard(
                rows,
                self.group,
                clients,
                end,
                self.tick_ms,
                lease_ms=self.patience().lease_ms,
                newest=newest,
            )
            if heard.keys() >= {*clients}:
                break
        return heard

    def patience(self) -> Patience:
        """Return how long the engine waits for silent clients of the group, by today's rules."""
        if self._known_patience is None:
            rows = self.source.rows("control", [self.shard])
            shards = self.source.partitions.shards
            rules = rules_in_force(rows, self.group, shards, self.strategies).rules
            self._known_patience = Patience(rules.lease_ms, rules.margin_ms)
        return self._known_patience
