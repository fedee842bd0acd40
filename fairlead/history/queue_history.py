"""Reads what the stories of some queues need: decisions, their causes' records, releases, beats."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fairlead.control.rules_in_force import rules_in_force
from fairlead.core.allocation import Strategy
from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import Release, RouteChanged
from fairlead.core.topics.routes import readable_queues
from fairlead.history.cause_check import CauseCheck, CauseChecks, place_of
from fairlead.history.cause_words import is_consequence, sentence
from fairlead.history.grant_history import Tenure, Tenures, tenures_of
from fairlead.history.history_model import (
    CauseTold,
    DecisionTold,
    Handover,
    Holder,
    Released,
    TenureTold,
    begins_by_release,
    standing_of,
)
from fairlead.history.last_heard import LastHeard, Patience, last_heard
from fairlead.history.ownerless import Loss, Silence, silence_of
from fairlead.history.queue_names import UnknownQueueError, queue_named
from fairlead.history.queue_story import QueueStory
from fairlead.kafka.decision_log import Decisions, Reading, reaching_back, read_decisions
from fairlead.kafka.missing_record import Place, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import UnknownGroupError
from fairlead.observed.sets import Sets, newest_entries, read_sets
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["Asked", "group_queues", "tell_stories"]

_RELEASES_MAX: Final = 20_000
"""In so many records of releases behind a drop the release is looked for."""
_HEARD_MS: Final = (120_000, 1_320_000)
"""So long before a decision heartbeats are read: leases are short, and ten minutes at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be told.

    Attributes:
        group: of which group.
        queues: which queues, as the user names them.
        depth: how many owners before the present one; None: all that the log tells of.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
    """

    group: str
    queues: Sequence[str]
    depth: int | None
    strategies: Mapping[str, Strategy]
    tick_ms: int


def tell_stories(source: TopicSource, asked: Asked, reading: Reading) -> list[QueueStory]:
    """Return the story of each queue, in the order in which they were asked for.

    Raises:
        UnknownGroupError: no record is of this group.
        UnknownQueueError: the group has no such queue.
        EnvironmentMissingError: a topic cannot be read.
    """
    return _Teller(source, asked, reading).tell()


def group_queues(source: TopicSource, sets: Sets, tenures: Tenures) -> frozenset[MessageQueue]:
    """Return every queue that a group has, had, or could have by the routes of its topics."""
    named = {*tenures.of, *newest_entries(sets.told)}
    topics = {queue.topic for queue in named}
    limits = WireLimits(source.partitions.shards)
    for row in source.rows("routes", [0]):
        try:
            record = decode("routes", row, limits)
        except WireError:
            continue
        if isinstance(record, RouteChanged) and record.topic in topics and record.route:
            named |= {*readable_queues(record.route)}
    return frozenset(named)


@dataclass(slots=True)
class _Teller:
    source: TopicSource
    asked: Asked
    reading: Reading
    shard: int = field(init=False)
    tenures: Tenures = field(init=False)
    decisions: Decisions = field(init=False)
    checks: CauseChecks = field(init=False)
    found: Mapping[Place, RawRecord | WhyMissing] = field(default_factory=dict)
    patience: Patience | None = None

    def __post_init__(self) -> None:
        shards = self.source.partitions.shards
        self.shard = partition_of_group(self.asked.group, shards)
        self.checks = CauseChecks(self.asked.group, self.source.names, shards)

    def tell(self) -> list[QueueStory]:
        """Read, and tell."""
        assignments = range(self.source.partitions.assignments)
        sets = read_sets(self.source.rows("assignments", assignments), self.asked.group)
        told = {
            queue: (member.client_id, entry.epoch, entry.state)
            for queue, (member, entry) in newest_entries(sets.told).items()
        }
        now_ms = self.source.now_ms()
        queues = self._read_back(sets, told, now_ms)
        shown = {queue: self._shown(queue) for queue in queues}
        places = {
            place for pairs in shown.values() for pair in pairs for place in self._places(*pair)
        }
        places |= {place for queue in queues for place in self._loss_places(queue)}
        self.found = self.source.records_at(places)
        heard: dict[int, Mapping[str, LastHeard]] = {}
        stories, owners = [], {queue: self._holder(queue, told.get(queue)) for queue in queues}
        silences = self._silences({each.owner for each in owners.values() if each.owner}, now_ms)
        for queue, holder in owners.items():
            known = self.tenures.of.get(queue, [])
            tenures = tuple(self._told(*pair, heard) for pair in shown[queue])
            stories.append(
                QueueStory(
                    group=self.asked.group,
                    queue=queue,
                    holder=holder,
                    tenures=tenures,
                    earlier=len(known) - len(tenures),
                    reaches_back=self.decisions.is_whole,
                    newest=self.tenures.newest,
                    as_of_ms=now_ms,
                    orders_at=(self.source.names.name("control"), self.shard),
                    loss=None if holder.owner is not None else self._loss(queue, heard),
                    silence=silences.get(holder.owner or ""),
                )
            )
        return stories

    def _read_back(
        self, sets: Sets, told: Mapping[MessageQueue, tuple[str, Epoch, str]], now_ms: int
    ) -> list[MessageQueue]:
        """Read decisions, further and further back, until they tell enough of each queue."""
        reaches = [None] if self.asked.depth is None else list(reaching_back(now_ms))
        for since_ms in reaches:
            self.decisions = read_decisions(self.source, self.asked.group, since_ms, self.reading)
            self.tenures = tenures_of(self.decisions.audits)
            known = {*self.tenures.of, *told}
            try:
                queues = [queue_named(text, known) for text in self.asked.queues]
            except UnknownQueueError:
                if self.decisions.is_whole:
                    break
                continue
            enough = all(self._is_enough(queue, told.get(queue)) for queue in queues)
            if enough or self.decisions.is_whole:
                return queues
        if not sets.told and not self.decisions.records:
            raise UnknownGroupError(self.asked.group, sets.groups | self.decisions.groups)
        known = {*group_queues(self.source, sets, self.tenures)}
        return list(dict.fromkeys(queue_named(text, known) for text in self.asked.queues))

    def _is_enough(self, queue: MessageQueue, told: tuple[str, Epoch, str] | None) -> bool:
        known = self.tenures.of.get(queue, [])
        if self.asked.depth is None or not known or (told and known[-1].epoch < told[1]):
            return False
        return sum(tenure.given is not None for tenure in known) > self.asked.depth

    def _shown(self, queue: MessageQueue) -> list[tuple[Tenure, Tenure | None]]:
        """Return the grants that are told of, each with the one before it, the newest first."""
        known = self.tenures.of.get(queue, [])
        pairs = [
            (tenure, known[place - 1] if place else None) for place, tenure in enumerate(known)
        ]
        pairs.reverse()
        alive = sum(tenure.state != "over" for tenure in known)
        number = len(pairs) if self.asked.depth is None else max(alive, 1) + self.asked.depth
        return pairs[:number]

    def _holder(self, queue: MessageQueue, told: tuple[str, Epoch, str] | None) -> Holder:
        return standing_of(self.tenures.of.get(queue, []), told)

    def _silences(self, owners: set[str], now_ms: int) -> dict[str, Silence]:
        """Return which of these clients have fallen silent."""
        if not owners:
            return {}
        patience = self._patience()
        found = self._last_heard(owners, now_ms, INT64_MAX)
        silences = {each: silence_of(found.get(each), patience, now_ms) for each in owners}
        return {each: silence for each, silence in silences.items() if silence is not None}

    def _loss(self, queue: MessageQueue, heard: dict[int, Mapping[str, LastHeard]]) -> Loss | None:
        """Return how its last owner lost a queue that nobody has; None: it never had one."""
        known = self.tenures.of.get(queue, [])
        if not known:
            return None
        taken = known[-1].taken_by
        decision = None if taken is None else self._decision_told(taken, heard)
        given_up = self._handover(known[-1], None, heard)
        if known[-1].ended is taken:
            # What ended it stands among the causes of that decision.
            given_up = replace(given_up, how=None)
        return Loss(given_up, decision, known[-1].ended)

    def _loss_places(self, queue: MessageQueue) -> Iterator[Place]:
        known = self.tenures.of.get(queue, [])
        if known and known[-1].state == "over" and known[-1].taken_by is not None:
            places = map(place_of, known[-1].taken_by.causes)
            yield from (place for place in places if place is not None)
            yield from self._release_places(known[-1])

    def _places(self, tenure: Tenure, before: Tenure | None) -> Iterator[Place]:
        if tenure.given is not None:
            for audit in (*self.tenures.prelude_of(tenure.given), tenure.given):
                places = map(place_of, audit.causes)
                yield from (place for place in places if place is not None)
        if before is not None:
            yield from self._release_places(before)

    def _release_places(self, tenure: Tenure) -> Iterator[Place]:
        """Yield where the release of a grant must stand that is known to be over."""
        first, last = tenure.taken_by, tenure.ended
        topic = self.source.names.name("releases")
        if first is None or last is None:
            return
        begin = first.cut.begin.get(topic, {}).get(self.shard, 0)
        end = last.cut.positions.get(topic, {}).get(self.shard, 0)
        for offset in range(max(begin, end - _RELEASES_MAX), end):
            yield topic, self.shard, offset

    def _told(
        self, tenure: Tenure, before: Tenure | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> TenureTold:
        given = None if tenure.given is None else self._decision_told(tenure.given, heard)
        prelude = () if tenure.given is None else self.tenures.prelude_of(tenure.given)
        led_by = tuple(self._decision_told(each, heard) for each in prelude)
        handover = None if before is None else self._handover(before, tenure, heard)
        return TenureTold(tenure, given, led_by, handover)

    def _decision_told(
        self, audit: DecisionRecord, heard: dict[int, Mapping[str, LastHeard]]
    ) -> DecisionTold:
        lapsed = self._lapsed(audit, heard)
        ordered = sorted(audit.causes, key=is_consequence)
        return DecisionTold(
            audit, tuple(self._cause_told(cause, audit, lapsed) for cause in ordered)
        )

    def _cause_told(
        self, cause: Mapping[str, Any], audit: DecisionRecord, lapsed: Mapping[str, LastHeard]
    ) -> CauseTold:
        place = place_of(cause)
        found = None if place is None else self.found[place]
        check = self.checks.check(cause, audit.cut, found)
        heard = lapsed.get(str(cause.get("client_id")))
        if cause["kind"] == "client_expired" and place is None:
            text = (
                "its last heartbeat is not in the log any more"
                if heard is None
                else heard.words(self._patience())
            )
            check = CauseCheck("no_record", text)
        return CauseTold(cause, sentence(cause, audit, deletes=check.deletes), check)

    def _lapsed(
        self, audit: DecisionRecord, heard: dict[int, Mapping[str, LastHeard]]
    ) -> Mapping[str, LastHeard]:
        """Return the last heartbeats of those who lapsed by a decision."""
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
        found: Mapping[str, LastHeard] = {}
        for before_ms in _HEARD_MS:
            rows = self.source.rows("heartbeats", [self.shard], at_ms - before_ms)
            found = last_heard(
                rows,
                self.asked.group,
                clients,
                end,
                self.asked.tick_ms,
                lease_ms=self._patience().lease_ms,
            )
            if found.keys() >= clients:
                break
        return found

    def _patience(self) -> Patience:
        if self.patience is None:
            rows = self.source.rows("control", [self.shard])
            shards, strategies = self.source.partitions.shards, self.asked.strategies
            rules = rules_in_force(rows, self.asked.group, shards, strategies).rules
            self.patience = Patience(rules.lease_ms, rules.margin_ms)
        return self.patience

    def _handover(
        self, before: Tenure, tenure: Tenure | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> Handover:
        """Return how a grant was given up, for the next one or, so far, for nobody (None)."""
        released = self._released(before)
        granted, gap_ms = None if tenure is None else tenure.granted, None
        by_release = tenure is not None and begins_by_release(tenure, released)
        if released is not None and granted is not None and not by_release:
            gap_ms = max(granted.row.append_ms - released.append_ms, 0)
        return Handover(
            before=before,
            dropped_ms=None if before.dropped is None else before.dropped.written_ms,
            released=released,
            how=None if released is not None else self._end_words(before, tenure, heard),
            granted_ms=None if granted is None else granted.written_ms,
            gap_ms=gap_ms,
            by_release=by_release,
        )

    def _released(self, tenure: Tenure) -> Released | None:
        limits = WireLimits(self.source.partitions.shards)
        for place in self._release_places(tenure):
            row = self.found[place]
            if isinstance(row, str):
                continue
            try:
                record = decode("releases", row, limits)
            except WireError:
                continue
            if (
                isinstance(record, Release)
                and (record.queue, record.epoch) == (tenure.queue, tenure.epoch)
                and record.member.client_id == tenure.client_id
            ):
                offset = None if record.position is None else record.position.offset
                return Released(place, row.append_ms, tenure.client_id, offset)
        return None

    def _end_words(
        self, tenure: Tenure, after: Tenure | None, heard: dict[int, Mapping[str, LastHeard]]
    ) -> str:
        """Say what ended a grant of which no release is found."""
        if tenure.ended is None:
            return (
                "it has not released it yet" if tenure.dropped else "it has not been told to stop"
            )
        ended, client_id = tenure.ended, tenure.client_id
        kinds = {str(cause["kind"]) for cause in ended.causes if "client_id" not in cause}
        lapsed = self._lapsed(ended, heard)
        told = tenure.taken_by if after is None else after.given
        if client_id in lapsed and ended is not told:
            return f"it was taken for dead: {lapsed[client_id].words(self._patience())}"
        own = {str(each["kind"]) for each in ended.causes if each.get("client_id") == client_id}
        if "client_expired" in own:
            return "it was taken for dead"
        if "mute_member" in own:
            return "it did not answer, and was passed over (on_mute)"
        if kinds & {"generation_passed", "recovery_passed"}:
            return "an engine started, and by the clients' answers it did not have it any more"
        if "released" in own:
            return "it released it; the record is gone from the log, or told by its leave"
        return "its end is told by no record that is found"
