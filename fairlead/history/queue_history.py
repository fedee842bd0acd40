"""Reads what the stories of queues need: decisions, their causes' records, releases, heartbeats."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fairlead.control.rules_in_force import rules_in_force
from fairlead.core.allocation import Strategy
from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import Release
from fairlead.history.cause_check import CauseCheck, CauseChecks, place_of
from fairlead.history.cause_words import is_consequence, sentence
from fairlead.history.grant_history import GrantHistory, GrantSpan, grant_history
from fairlead.history.history_model import (
    CurrentOwner,
    ExplainedCause,
    ExplainedDecision,
    ExplainedGrant,
    FoundRelease,
    Handover,
    begins_by_release,
    current_owner,
)
from fairlead.history.last_heard import LastHeard, Patience, last_heard
from fairlead.history.ownerless import LostQueue, SilentOwner, silent_owner
from fairlead.history.queue_names import UnknownQueueError, queue_named
from fairlead.history.queue_story import QueueStory
from fairlead.kafka.decision_log import Decisions, Reading, reaching_back, read_decisions
from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import UnknownGroupError
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.reading import observe_assignments
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["HistoryQuestion", "queue_stories"]

_RELEASES_MAX: Final = 20_000
"""Look for a release in this many records of releases behind a drop."""
_HEARD_MS: Final = (120_000, 1_320_000)
"""Read heartbeats from this long before a decision: no lease is longer than ten minutes."""


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """The user's question.

    Attributes:
        group: the group.
        queues: the queues, as the user names them.
        depth: how many owners before the present one; None: all that the log has.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
    """

    group: str
    queues: Sequence[str]
    depth: int | None
    strategies: Mapping[str, Strategy]
    tick_ms: int


def queue_stories(
    source: TopicSource, asked: HistoryQuestion, reading: Reading
) -> list[QueueStory]:
    """Return the story of each queue, in the order of the question.

    Raises:
        UnknownGroupError: no record is of this group.
        UnknownQueueError: the group has no such queue.
        EnvironmentMissingError: a topic cannot be read.
    """
    return _StoryReader(source, asked, reading).read_stories()


def _group_queues(
    source: TopicSource, group: str, groups: ObservedGroups, grants: GrantHistory
) -> set[MessageQueue]:
    """Return every queue that a group has, had, or could have by the routes of its topics."""
    groups.apply(source.read("routes", [0]))
    observed = groups.fold(group)
    named = {*grants.of, *observed.assignments.queues()}
    topics = {queue.topic for queue in named}
    return named.union(*(observed.facts.queues_of(topic) for topic in topics))


@dataclass(slots=True)
class _StoryReader:
    source: TopicSource
    asked: HistoryQuestion
    reading: Reading
    shard: int = field(init=False)
    grants: GrantHistory = field(init=False)
    decisions: Decisions = field(init=False)
    checks: CauseChecks = field(init=False)
    found: Mapping[RecordPlace, RawRecord | WhyMissing] = field(default_factory=dict)
    patience: Patience | None = None

    def __post_init__(self) -> None:
        shards = self.source.partitions.shards
        self.shard = partition_of_group(self.asked.group, shards)
        self.checks = CauseChecks(self.asked.group, self.source.names, shards)

    def read_stories(self) -> list[QueueStory]:
        """Read the topics and return the stories."""
        groups = observe_assignments(self.source, self.asked.group)
        newest = groups.fold(self.asked.group).assignments.newest()
        assigned = {
            queue: (member.client_id, entry.epoch, entry.state)
            for queue, (member, entry) in newest.items()
        }
        now_ms = self.source.now_ms()
        queues = self._read_back(groups, assigned, now_ms)
        shown = {queue: self._shown(queue) for queue in queues}
        places = {
            place for pairs in shown.values() for pair in pairs for place in self._places(*pair)
        }
        places |= {place for queue in queues for place in self._loss_places(queue)}
        self.found = self.source.records_at(places)
        heard: dict[int, Mapping[str, LastHeard]] = {}
        stories, owners = [], {queue: self._holder(queue, assigned.get(queue)) for queue in queues}
        silences = self._silences({each.owner for each in owners.values() if each.owner}, now_ms)
        for queue, holder in owners.items():
            known = self.grants.of.get(queue, [])
            grants = tuple(self._explained(*pair, heard) for pair in shown[queue])
            stories.append(
                QueueStory(
                    group=self.asked.group,
                    queue=queue,
                    holder=holder,
                    grants=grants,
                    earlier=len(known) - len(grants),
                    reaches_back=self.decisions.is_whole,
                    newest=self.grants.newest,
                    as_of_ms=now_ms,
                    orders_at=(self.source.names.name("control"), self.shard),
                    loss=None if holder.owner is not None else self._loss(queue, heard),
                    silence=silences.get(holder.owner or ""),
                )
            )
        return stories

    def _read_back(
        self,
        groups: ObservedGroups,
        assigned: Mapping[MessageQueue, tuple[str, Epoch, str]],
        now_ms: int,
    ) -> list[MessageQueue]:
        """Read decisions further and further back, until they tell enough of each queue."""
        reaches = [None] if self.asked.depth is None else list(reaching_back(now_ms))
        for since_ms in reaches:
            self.decisions = read_decisions(self.source, self.asked.group, since_ms, self.reading)
            self.grants = grant_history(self.decisions.audits)
            known = {*self.grants.of, *assigned}
            try:
                queues = [queue_named(text, known) for text in self.asked.queues]
            except UnknownQueueError:
                if self.decisions.is_whole:
                    break
                continue
            enough = all(self._is_enough(queue, assigned.get(queue)) for queue in queues)
            if enough or self.decisions.is_whole:
                return queues
        group = self.asked.group
        if not groups.fold(group).assignments.sets and not self.decisions.records:
            raise UnknownGroupError(group, frozenset(groups.other_groups | self.decisions.groups))
        known = _group_queues(self.source, group, groups, self.grants)
        return list(dict.fromkeys(queue_named(text, known) for text in self.asked.queues))

    def _is_enough(self, queue: MessageQueue, assigned: tuple[str, Epoch, str] | None) -> bool:
        known = self.grants.of.get(queue, [])
        if self.asked.depth is None or not known or (assigned and known[-1].epoch < assigned[1]):
            return False
        return sum(grant.given is not None for grant in known) > self.asked.depth

    def _shown(self, queue: MessageQueue) -> list[tuple[GrantSpan, GrantSpan | None]]:
        """Return the grants to tell of, each with the one before it, the newest first."""
        known = self.grants.of.get(queue, [])
        pairs = [(grant, known[place - 1] if place else None) for place, grant in enumerate(known)]
        pairs.reverse()
        alive = sum(grant.state != "over" for grant in known)
        number = len(pairs) if self.asked.depth is None else max(alive, 1) + self.asked.depth
        return pairs[:number]

    def _holder(self, queue: MessageQueue, assigned: tuple[str, Epoch, str] | None) -> CurrentOwner:
        return current_owner(self.grants.of.get(queue, []), assigned)

    def _silences(self, owners: set[str], now_ms: int) -> dict[str, SilentOwner]:
        """Return the silent ones among these clients."""
        if not owners:
            return {}
        patience = self._patience()
        heard = self._last_heard(owners, now_ms, INT64_MAX)
        silences = {each: silent_owner(heard.get(each), patience, now_ms) for each in owners}
        return {each: silence for each, silence in silences.items() if silence is not None}

    def _loss(
        self, queue: MessageQueue, heard: dict[int, Mapping[str, LastHeard]]
    ) -> LostQueue | None:
        """Return how an ownerless queue lost its last owner; None: it never had one."""
        known = self.grants.of.get(queue, [])
        if not known:
            return None
        taker = known[-1].taken_by
        decision = None if taker is None else self._explained_decision(taker, heard)
        given_up = self._handover(known[-1], None, heard)
        if known[-1].ended is taker:
            # The causes of that decision say what ended it.
            given_up = replace(given_up, how=None)
        return LostQueue(given_up, decision, known[-1].ended)

    def _loss_places(self, queue: MessageQueue) -> Iterator[RecordPlace]:
        known = self.grants.of.get(queue, [])
        if known and known[-1].state == "over" and known[-1].taken_by is not None:
            places = map(place_of, known[-1].taken_by.causes)
            yield from (place for place in places if place is not None)
            yield from self._release_places(known[-1])

    def _places(self, grant: GrantSpan, before: GrantSpan | None) -> Iterator[RecordPlace]:
        if grant.given is not None:
            for audit in (*self.grants.prelude_of(grant.given), grant.given):
                places = map(place_of, audit.causes)
                yield from (place for place in places if place is not None)
        if before is not None:
            yield from self._release_places(before)

    def _release_places(self, grant: GrantSpan) -> Iterator[RecordPlace]:
        """Yield the places where the release of an ended grant must stand."""
        first, last = grant.taken_by, grant.ended
        topic = self.source.names.name("releases")
        if first is None or last is None:
            return
        begin = first.cut.begin.get(topic, {}).get(self.shard, 0)
        end = last.cut.positions.get(topic, {}).get(self.shard, 0)
        for offset in range(max(begin, end - _RELEASES_MAX), end):
            yield topic, self.shard, offset

    def _explained(
        self, grant: GrantSpan, before: GrantSpan | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> ExplainedGrant:
        given = None if grant.given is None else self._explained_decision(grant.given, heard)
        prelude = () if grant.given is None else self.grants.prelude_of(grant.given)
        led_by = tuple(self._explained_decision(each, heard) for each in prelude)
        handover = None if before is None else self._handover(before, grant, heard)
        return ExplainedGrant(grant, given, led_by, handover)

    def _explained_decision(
        self, audit: DecisionRecord, heard: dict[int, Mapping[str, LastHeard]]
    ) -> ExplainedDecision:
        lapsed = self._lapsed(audit, heard)
        ordered = sorted(audit.causes, key=is_consequence)
        return ExplainedDecision(
            audit, tuple(self._explained_cause(cause, audit, lapsed) for cause in ordered)
        )

    def _explained_cause(
        self, cause: Mapping[str, Any], audit: DecisionRecord, lapsed: Mapping[str, LastHeard]
    ) -> ExplainedCause:
        place = place_of(cause)
        record = None if place is None else self.found[place]
        check = self.checks.check(cause, audit.cut, record)
        heard = lapsed.get(str(cause.get("client_id")))
        if cause["kind"] == "client_expired" and place is None:
            text = (
                "the log no longer has its last heartbeat"
                if heard is None
                else heard.words(self._patience())
            )
            check = CauseCheck("no_record", text)
        return ExplainedCause(cause, sentence(cause, audit, deletes=check.deletes), check)

    def _lapsed(
        self, audit: DecisionRecord, heard: dict[int, Mapping[str, LastHeard]]
    ) -> Mapping[str, LastHeard]:
        """Return the last heartbeats of the clients that lapsed by a decision."""
        clients = {
            str(cause.get("client_id"))
            for cause in audit.causes
            if cause["kind"] == "client_expired" and cause.get("at") is None
        }
        if clients and audit.row.offset not in heard:
            heard[audit.row.offset] = self._search(audit, clients)
        return heard.get(audit.row.offset, {})

    def _search(self, audit: DecisionRecord, clients: set[str]) -> Mapping[str, LastHeard]:
        topic = self.source.names.name("heartbeats")
        end = audit.cut.positions.get(topic, {}).get(self.shard, 0)
        return self._last_heard(clients, audit.at_ms, end)

    def _last_heard(self, clients: set[str], at_ms: int, end: int) -> Mapping[str, LastHeard]:
        heard: Mapping[str, LastHeard] = {}
        for before_ms in _HEARD_MS:
            rows = self.source.rows("heartbeats", [self.shard], at_ms - before_ms)
            heard = last_heard(
                rows,
                self.asked.group,
                clients,
                end,
                self.asked.tick_ms,
                lease_ms=self._patience().lease_ms,
            )
            if heard.keys() >= clients:
                break
        return heard

    def _patience(self) -> Patience:
        if self.patience is None:
            rows = self.source.rows("control", [self.shard])
            shards, strategies = self.source.partitions.shards, self.asked.strategies
            rules = rules_in_force(rows, self.asked.group, shards, strategies).rules
            self.patience = Patience(rules.lease_ms, rules.margin_ms)
        return self.patience

    def _handover(
        self, before: GrantSpan, grant: GrantSpan | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> Handover:
        """Return how a grant ended, for the next grant or, so far, for nobody (None)."""
        released = self._released(before)
        granted, gap_ms = None if grant is None else grant.granted, None
        by_release = grant is not None and begins_by_release(grant, released)
        if released is not None and granted is not None and not by_release:
            gap_ms = max(granted.row.append_ms - released.append_ms, 0)
        return Handover(
            before=before,
            dropped_ms=None if before.dropped is None else before.dropped.written_ms,
            released=released,
            how=None if released is not None else self._end_words(before, grant, heard),
            granted_ms=None if granted is None else granted.written_ms,
            gap_ms=gap_ms,
            by_release=by_release,
        )

    def _released(self, grant: GrantSpan) -> FoundRelease | None:
        limits = WireLimits(self.source.partitions.shards)
        for place in self._release_places(grant):
            row = self.found[place]
            if isinstance(row, str):
                continue
            try:
                record = decode("releases", row, limits)
            except WireError:
                continue
            if (
                isinstance(record, Release)
                and (record.queue, record.epoch) == (grant.queue, grant.epoch)
                and record.member.client_id == grant.client_id
            ):
                offset = None if record.position is None else record.position.offset
                return FoundRelease(place, row.append_ms, grant.client_id, offset)
        return None

    def _end_words(
        self, grant: GrantSpan, after: GrantSpan | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> str:
        """Say what ended a grant whose release is not found."""
        if grant.ended is None:
            return "it has not released it yet" if grant.dropped else "it has not been told to stop"
        ended, client_id = grant.ended, grant.client_id
        kinds = {str(cause["kind"]) for cause in ended.causes if "client_id" not in cause}
        lapsed = self._lapsed(ended, heard)
        taker = grant.taken_by if after is None else after.given
        if client_id in lapsed and ended is not taker:
            return f"it was taken for dead: {lapsed[client_id].words(self._patience())}"
        own = {str(each["kind"]) for each in ended.causes if each.get("client_id") == client_id}
        if "client_expired" in own:
            return "it was taken for dead"
        if "mute_member" in own:
            return "it did not answer, and the engine passed it over (on_mute)"
        if kinds & {"generation_passed", "recovery_passed"}:
            return "an engine started, and by the clients' answers it no longer had the queue"
        if "released" in own:
            return "it released it; the record is gone from the log, or its leave said so"
        return "no record that was found tells its end"
