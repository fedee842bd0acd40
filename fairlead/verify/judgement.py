"""Judges a recording, and journals if there are any, by every invariant."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.allocation import Strategy
from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.rules.group_rules import GroupRules
from fairlead.recording import RecordingError, RecordingFolder
from fairlead.replay.shard_replay import Replayed, ReplayError
from fairlead.verify.causes_judge import CausesJudge
from fairlead.verify.conservation import RowPlace, judge_conservation, read_letters
from fairlead.verify.epochs_judge import EpochsJudge
from fairlead.verify.evidence import history_of
from fairlead.verify.grants_judge import GrantsJudge
from fairlead.verify.handover_copies import read_copies
from fairlead.verify.history import GrantKey, Journal, StepRecord
from fairlead.verify.journals_judge import judge_journals
from fairlead.verify.members_judge import MembersJudge
from fairlead.verify.pace_judge import PaceJudge
from fairlead.verify.positions_judge import PositionsJudge
from fairlead.verify.recoveries import Recovery, recoveries
from fairlead.verify.replay_judge import judge_replay
from fairlead.verify.replaying import Replay, claims_of, drivers_of
from fairlead.verify.resets_judge import ResetsJudge
from fairlead.verify.tenures import read_tenures
from fairlead.verify.verdicts import Ruling, Verdicts
from fairlead.verify.walk import Walk

__all__ = [
    "Journals",
    "Judgement",
    "UnknownGroupError",
    "judge_recording",
    "lapsed_grants",
    "source_offsets",
]


_SOURCE_MAX: Final = 20_000_000
"""The judge takes at most this many messages of sources: it holds each in memory."""


class UnknownGroupError(LookupError):
    """It is unclear to which group the journals belong; ``known`` are the groups with decisions."""

    def __init__(self, group: str | None, known: tuple[str, ...]) -> None:
        super().__init__(group)
        self.group = group
        self.known = known


@dataclass(frozen=True, slots=True)
class Journals:
    """What consumers wrote down themselves.

    Attributes:
        journals: one for each process.
        group: theirs; None: the only one of the recording.
        steps: the fault log: what was done to them, and when.
    """

    journals: Sequence[Journal]
    group: str | None = None
    steps: Sequence[StepRecord] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict.

    Attributes:
        rulings: one for each invariant.
        counts: how much the recording holds, by name.
        recoveries: what followed each fault of the fault log.
        nothing: why the recording proves nothing; empty if it proves something.
        refused: places of rows that have a dead letter.
    """

    rulings: tuple[Ruling, ...]
    counts: Mapping[str, Any]
    recoveries: tuple[Recovery, ...] = ()
    nothing: str = ""
    refused: Collection[RowPlace] = frozenset()

    @property
    def broken(self) -> tuple[str, ...]:
        """The numbers of the invariants that do not hold."""
        return tuple(each.number for each in self.rulings if each.outcome == "broken")

    @property
    def passed(self) -> bool:
        """True if the recording proves something and no invariant is broken."""
        return not self.broken and not self.nothing

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        return {
            "passed": self.passed,
            "nothing_proved": self.nothing or None,
            "invariants": [each.to_json() for each in self.rulings],
            "counts": dict(self.counts),
            "recoveries": [each.to_json() for each in self.recoveries],
        }


@dataclass(slots=True)
class _Inquiry:
    """A judgement in the making."""

    recording: RecordingFolder
    strategies: Mapping[str, Strategy]
    defaults: GroupRules | None = None
    verdicts: Verdicts = field(default_factory=Verdicts)
    counts: dict[str, Any] = field(default_factory=dict)
    recoveries: tuple[Recovery, ...] = ()
    refused: Collection[RowPlace] = frozenset()

    def walk(self) -> Walk:
        """Judge the topics, decision by decision."""
        recording, verdicts = self.recording, self.verdicts
        manifest = recording.manifest
        letters = read_letters(recording, verdicts)
        drivers = drivers_of(recording, self.strategies, self.defaults)
        self.refused = frozenset(letters.reasons)
        walk = Walk(recording, drivers, verdicts, letters.reasons)
        routes_whole = all(part.whole for part in manifest.topics["routes"].values())
        topics_whole = all(
            part.whole
            for suffix in ("control", "routes", "offsets")
            for part in manifest.topics[suffix].values()
        )
        epochs = EpochsJudge(verdicts, claims_of(recording))
        walk.run(
            [
                GrantsJudge(verdicts, read_copies(recording)),
                epochs,
                PositionsJudge(verdicts, topics_whole=topics_whole),
                ResetsJudge(verdicts, manifest.sources),
                MembersJudge(verdicts, walk.issued, routes_whole=routes_whole),
                CausesJudge(verdicts, manifest.names, manifest.partitions.shards),
                PaceJudge(verdicts),
            ]
        )
        judge_conservation(recording, walk.facts, letters, walk.read, verdicts)
        reason = "a recording cannot show it: clients answered the batches as they were"
        verdicts.excuse("S8", reason)
        met = walk.counts
        self.counts |= {
            "decisions": met.decisions,
            "generations": len(met.generations),
            "epochs": len(met.epochs),
            "grants": met.adds,
            "handovers": met.handovers,
            "moves": dict(sorted(met.moves.items())),
            "triggers": dict(sorted(met.triggers.items())),
            "alarms": dict(sorted(met.alarms.items())),
            "lapses": met.lapses,
            "rejects": dict(sorted(letters.counts.items())),
            "reports": dict(sorted(_reports(walk).items())),
            "decisions_written_again": met.resent,
            "adds_without_decision": met.orphans,
            "decisions_of_superseded_drivers": epochs.late,
            "unsafe_queues": len(met.unsafe),
            "groups": len({group for group, _ in met.epochs}),
        }
        return walk

    def replay(self, walk: Walk, watch: Callable[[Replayed], None]) -> None:
        """Run every batch again, and judge the outputs."""
        try:
            ready = Replay.of(self.recording, self.strategies, self.defaults)
        except ReplayError as error:
            self.verdicts.add_finding("S6", str(error))
            return
        self.counts |= judge_replay(ready, self.verdicts, lambda: _seen(walk), watch)

    def journals(self, given: Journals, walk: Walk) -> None:
        """Judge the consumers' journals."""
        known = tuple(sorted({group for group, _ in walk.counts.epochs}))
        group = given.group or (known[0] if len(known) == 1 else None)
        if group is None or group not in known:
            raise UnknownGroupError(given.group, known)
        lapsed = lapsed_grants(walk, group)
        tenures = read_tenures(given.journals, given.steps, lapsed)
        granted = [
            MessageQueue(*queue)
            for shard in walk.facts
            if group in shard.groups
            for queue in shard.groups[group].grants
        ]
        source = source_offsets(self.recording, [*granted, *tenures.by_queue])
        evidence = given.journals, given.steps
        history = history_of(self.recording, group, *evidence, source, refused=self.refused)
        self.counts |= judge_journals(history, tenures, self.verdicts)
        self.recoveries = recoveries(given.steps, tenures)


def judge_recording(
    recording: RecordingFolder,
    strategies: Mapping[str, Strategy],
    journals: Journals | None = None,
    watch: Callable[[Replayed], None] = lambda _: None,
    defaults: GroupRules | None = None,
) -> Judgement:
    """Judge a recording by every invariant.

    Args:
        recording: the topics.
        strategies: those known here.
        journals: of consumers; None: there are none.
        watch: called with each batch that runs again.
        defaults: the rules of a group without rules, if the engine had them from elsewhere than
            the log, as in a simulation.

    Raises:
        RecordingError: the recording is damaged.
        UnknownGroupError: it is unclear to which group the journals belong.
    """
    inquiry = _Inquiry(recording, strategies, defaults)
    walk = inquiry.walk()
    inquiry.replay(walk, watch)
    if journals is None or not journals.journals:
        reason = "no journals were given (--journals)"
        inquiry.verdicts.excuse("S1", reason)
        inquiry.verdicts.excuse("S5", f"which messages were processed: {reason}")
    else:
        inquiry.journals(journals, walk)
    nothing = ""
    if not walk.counts.decisions:
        nothing = "the recording holds no decision"
    elif not walk.counts.handovers:
        nothing = "no queue went from one client to another"
    return Judgement(
        inquiry.verdicts.rulings(), inquiry.counts, inquiry.recoveries, nothing, inquiry.refused
    )


def _reports(walk: Walk) -> Counter[str]:
    counts: Counter[str] = Counter()
    for shard in walk.facts:
        for group in shard.groups.values():
            counts.update(group.counts)
    return counts


def lapsed_grants(walk: Walk, group: str) -> frozenset[GrantKey]:
    """Return the grants of a group that ended because their member was silent."""
    return frozenset(
        (MessageQueue(*grant.queue), grant.client_id, Epoch(*grant.epoch))
        for shard in walk.facts
        if group in shard.groups
        for grant in shard.groups[group].lapsed
    )


def _seen(walk: Walk) -> int:
    """Return how many members, queues and groups the recording has in all."""
    return sum(
        1 + len(group.members) + len(group.grants)
        for shard in walk.facts
        for group in shard.groups.values()
    )


def source_offsets(
    recording: RecordingFolder, queues: Sequence[MessageQueue]
) -> dict[MessageQueue, dict[int, int | None]]:
    """Return the offsets that the recorded source topics hold, by queues as journals name them."""
    brokers = {queue.topic: queue.broker_name for queue in queues}
    messages = sum(
        last - first + 1
        for topic, parts in recording.manifest.sources.items()
        if topic in brokers
        for runs in parts.values()
        for first, last in runs
    )
    if messages > _SOURCE_MAX:
        raise RecordingError(
            recording.folder,
            f"its sources have {messages:,} messages; the judge takes {_SOURCE_MAX:,} at most",
            "Record a shorter run, or leave --source out.",
        )
    return {
        MessageQueue(topic, brokers[topic], number): {
            offset: None for first, last in runs for offset in range(first, last + 1)
        }
        for topic, parts in recording.manifest.sources.items()
        if topic in brokers
        for number, runs in parts.items()
    }
