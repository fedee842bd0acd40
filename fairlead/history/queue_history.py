"""Reads what the stories of queues need: decisions, their causes' records, releases, heartbeats."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fairlead.core.allocation import Strategy
from fairlead.core.model import Epoch, MessageQueue
from fairlead.history.cause_check import place_of
from fairlead.history.decision_explainer import DecisionExplainer
from fairlead.history.grant_history import GrantHistory, GrantSpan, grant_history
from fairlead.history.history_model import (
    ExplainedGrant,
    Handover,
    begins_by_release,
)
from fairlead.history.ownerless import LostQueue, SilentOwner, silent_owner, why_nobody
from fairlead.history.queue_names import UnknownQueueError, queue_named
from fairlead.history.queue_story import QueueStory
from fairlead.history.release_search import ReleaseSearch
from fairlead.kafka.decision_log import Decisions, Reading, reaching_back, read_decisions
from fairlead.kafka.missing_record import RecordPlace
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.positions import QueuePosition
from fairlead.observed.reading import observe_assignments, read_standing
from fairlead.wire.limits import INT64_MAX

__all__ = ["HistoryQuestion", "queue_stories"]


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """The user's question.

    Attributes:
        group: the group.
        queues: the queues, as the user names them.
        depth: how many owners before the present one; None: all that the log has.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far back to read decisions at least.
        places: where the data cluster says the group is in its queues.
    """

    group: str
    queues: Sequence[str]
    depth: int | None
    strategies: Mapping[str, Strategy]
    tick_ms: int
    history_ms: int
    places: Mapping[MessageQueue, QueuePosition] = field(default_factory=dict)


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


@dataclass(slots=True)
class _StoryReader:
    source: TopicSource
    asked: HistoryQuestion
    reading: Reading
    explainer: DecisionExplainer = field(init=False)
    releases: ReleaseSearch = field(init=False)
    grants: GrantHistory = field(init=False)
    decisions: Decisions = field(init=False)

    def __post_init__(self) -> None:
        asked = self.asked
        self.explainer = DecisionExplainer(
            self.source, asked.group, asked.strategies, asked.tick_ms
        )
        self.releases = ReleaseSearch(self.source, self.explainer.shard)

    def read_stories(self) -> list[QueueStory]:
        """Read the topics and return the stories."""
        queues, standing = self._read_all()
        shown = {queue: self._shown(queue) for queue in queues}
        places = {
            place for pairs in shown.values() for pair in pairs for place in self._places(*pair)
        }
        places |= {place for queue in queues for place in self._loss_places(queue)}
        self.explainer.look_up(places)
        stands = {queue: standing.queue(queue) for queue in queues}
        owners = {each.owner.client_id for each in stands.values() if each.owner is not None}
        silences = self._silences(owners, standing.now_ms)
        stories = []
        for queue, stand in stands.items():
            known = self.grants.of.get(queue, [])
            grants = tuple(self._explained(*pair) for pair in shown[queue])
            owner = None if stand.owner is None else stand.owner.client_id
            stories.append(
                QueueStory(
                    group=self.asked.group,
                    stand=stand,
                    nobody_because=why_nobody(stand, standing),
                    grants=grants,
                    earlier=len(known) - len(grants),
                    newest=self.grants.newest,
                    as_of_ms=standing.now_ms,
                    orders_at=(self.source.names.name("control"), self.explainer.shard),
                    loss=None if owner is not None else self._loss(queue),
                    silence=silences.get(owner or ""),
                )
            )
        return stories

    def _read_all(self) -> tuple[list[MessageQueue], GroupStanding]:
        """Read what is known of the queues; return them, and how the group stands."""
        asked, now_ms = self.asked, self.source.now_ms()
        since_ms = self._read_back(now_ms)
        read_ms = now_ms if since_ms is None else now_ms - since_ms
        standing = read_standing(
            self.source,
            asked.group,
            asked.strategies,
            asked.tick_ms,
            history_ms=max(read_ms, asked.history_ms),
            places=asked.places,
        )
        self.grants.settle(standing.live.observed.shares())
        known = {*self.grants.of, *(each.queue for each in standing.queues)}
        untold = standing.unrouted
        queues = [queue_named(text, known, untold) for text in asked.queues]
        return list(dict.fromkeys(queues)), standing

    def _read_back(self, now_ms: int) -> int | None:
        """Read decisions further and further back, until they tell enough of each queue.

        Return since when they were read; None: all that the log has.
        """
        newest = observe_assignments(self.source, self.asked.group).fold(self.asked.group)
        assigned = {queue: entry.epoch for queue, (_, entry) in newest.assignments.newest().items()}
        reaches = [None] if self.asked.depth is None else list(reaching_back(now_ms))
        for since_ms in reaches:
            self.decisions = read_decisions(self.source, self.asked.group, since_ms, self.reading)
            self.grants = grant_history(self.decisions.audits)
            if self.decisions.is_whole or self._is_enough(assigned):
                break
        return None if self.decisions.is_whole else self.decisions.since_ms

    def _is_enough(self, assigned: Mapping[MessageQueue, Epoch]) -> bool:
        known = {*self.grants.of, *assigned}
        try:
            queues = [queue_named(text, known) for text in self.asked.queues]
        except UnknownQueueError:
            return False
        return all(self._is_told(queue, assigned.get(queue)) for queue in queues)

    def _is_told(self, queue: MessageQueue, assigned: Epoch | None) -> bool:
        known = self.grants.of.get(queue, [])
        if self.asked.depth is None or not known or (assigned and known[-1].epoch < assigned):
            return False
        return sum(grant.given is not None for grant in known) > self.asked.depth

    def _shown(self, queue: MessageQueue) -> list[tuple[GrantSpan, GrantSpan | None]]:
        """Return the grants to tell of, each with the one before it, the newest first."""
        known = self.grants.of.get(queue, [])
        pairs = [(grant, known[place - 1] if place else None) for place, grant in enumerate(known)]
        pairs.reverse()
        alive = sum(grant.share is not None for grant in known)
        number = len(pairs) if self.asked.depth is None else max(alive, 1) + self.asked.depth
        return pairs[:number]

    def _silences(self, owners: set[str], now_ms: int) -> dict[str, SilentOwner]:
        """Return the silent ones among these clients."""
        if not owners:
            return {}
        patience = self.explainer.patience()
        heard = self.explainer.last_heard(owners, now_ms, INT64_MAX, newest=True)
        silences = {each: silent_owner(heard.get(each), patience, now_ms) for each in owners}
        return {each: silence for each, silence in silences.items() if silence is not None}

    def _loss(self, queue: MessageQueue) -> LostQueue | None:
        """Return how an ownerless queue lost its last owner; None: it never had one."""
        known = self.grants.of.get(queue, [])
        if not known:
            return None
        taker = known[-1].taken_by
        decision = None if taker is None else self.explainer.explained(taker)
        given_up = self._handover(known[-1], None)
        if known[-1].ended is taker:
            # The causes of that decision say what ended it.
            given_up = replace(given_up, how=None)
        return LostQueue(given_up, decision, known[-1].ended)

    def _loss_places(self, queue: MessageQueue) -> Iterator[RecordPlace]:
        known = self.grants.of.get(queue, [])
        if known and known[-1].taken_by is not None:
            places = map(place_of, known[-1].taken_by.causes)
            yield from (place for place in places if place is not None)
            yield from self.releases.places(known[-1])

    def _places(self, grant: GrantSpan, before: GrantSpan | None) -> Iterator[RecordPlace]:
        if grant.given is not None:
            for audit in (*self.grants.prelude_of(grant.given), grant.given):
                places = map(place_of, audit.causes)
                yield from (place for place in places if place is not None)
        if before is not None:
            yield from self.releases.places(before)

    def _explained(self, grant: GrantSpan, before: GrantSpan | None) -> ExplainedGrant:
        given = None if grant.given is None else self.explainer.explained(grant.given)
        prelude = () if grant.given is None else self.grants.prelude_of(grant.given)
        led_by = tuple(self.explainer.explained(each) for each in prelude)
        handover = None if before is None else self._handover(before, grant)
        return ExplainedGrant(grant, given, led_by, handover)

    def _handover(self, before: GrantSpan, grant: GrantSpan | None) -> Handover:
        """Return how a grant ended, for the next grant or, so far, for nobody (None)."""
        released = self.releases.released(before, self.explainer.found)
        granted, gap_ms = None if grant is None else grant.granted, None
        by_release = grant is not None and begins_by_release(grant, released)
        if released is not None and granted is not None and not by_release:
            gap_ms = granted.written_ms - released.append_ms
            if gap_ms < 0 and not (grant and grant.unsafe):
                # The engine had read the release: only its clock differs from the broker's.
                gap_ms = None
        return Handover(
            before=before,
            dropped_ms=None if before.dropped is None else before.dropped.written_ms,
            released=released,
            how=None if released is not None else self._end_words(before, grant),
            granted_ms=None if granted is None else granted.written_ms,
            gap_ms=gap_ms,
            by_release=by_release,
        )

    def _end_words(self, grant: GrantSpan, after: GrantSpan | None) -> str | None:
        """Say what ended a grant whose release is not found; None: it goes on."""
        if grant.share is not None:
            return None
        if grant.ended is None:
            return "it holds it no more, as it says itself; no decision that was read tells its end"
        ended, client_id = grant.ended, grant.client_id
        kinds = {str(cause["kind"]) for cause in ended.causes if "client_id" not in cause}
        lapsed = self.explainer.lapsed(ended)
        taker = grant.taken_by if after is None else after.given
        if client_id in lapsed and ended is not taker:
            return f"it was taken for dead: {lapsed[client_id].words(self.explainer.patience())}"
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
