"""A recording, and journals if there are any, judged by every invariant."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from fairlead.core.allocation import Strategy
from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.rules import GroupRules
from fairlead.recording import RecordingError, RecordingFolder
from fairlead.replay.shard_replay import Replayed, ReplayError
from fairlead.verify.causes_judge import CausesJudge
from fairlead.verify.conservation import Place, judge_conservation, read_letters
from fairlead.verify.epochs_judge import EpochsJudge
from fairlead.verify.evidence import history_of
from fairlead.verify.grants_judge import GrantsJudge
from fairlead.verify.handover_copies import read_copies
from fairlead.verify.history import GrantKey, Journal, StepRecord
from fairlead.verify.invariants import INVARIANTS
from fairlead.verify.journals_judge import judge_journals
from fairlead.verify.members_judge import MembersJudge
from fairlead.verify.pace_judge import PaceJudge
from fairlead.verify.positions_judge import PositionsJudge
from fairlead.verify.recoveries import Recovery, recoveries
from fairlead.verify.replay_judge import judge_replay
from fairlead.verify.replaying import Replay, claims_of, drivers_of
from fairlead.verify.resets_judge import ResetsJudge
from fairlead.verify.tenures import read_tenures
from fairlead.verify.verdicts import Docket, Ruling
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
"""So many messages of sources are judged at most: each is held in memory."""


class UnknownGroupError(LookupError):
    """Journals are of one group, and which one is not clear; ``known`` are those that decided."""

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
        steps: what was done to them, and when.
    """

    journals: Sequence[Journal]
    group: str | None = None
    steps: Sequence[StepRecord] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict.

    Attributes:
        rulings: one for each invariant.
        counts: what was met.
        recoveries: what followed each fault, if there is a log of them.
        nothing: why nothing is proved; empty if something is.
        refused: places of rows that have a dead letter.
    """

    rulings: tuple[Ruling, ...]
    counts: Mapping[str, Any]
    recoveries: tuple[Recovery, ...] = ()
    nothing: str = ""
    refused: Collection[Place] = frozenset()

    @property
    def broken(self) -> tuple[str, ...]:
        """The numbers of the invariants that do not hold."""
        return tuple(each.number for each in self.rulings if each.outcome == "broken")

    @property
    def passed(self) -> bool:
        """True if something was proved and nothing is broken."""
        return not self.broken and not self.nothing

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "v": 1,
            "passed": self.passed,
            "nothing_proved": self.nothing or None,
            "invariants": [
                {
                    **asdict(each),
                    "findings": [finding.to_json() for finding in each.findings],
                    "title": INVARIANTS[each.number].title,
                }
                for each in self.rulings
            ],
            "counts": dict(self.counts),
            "recoveries": [asdict(each) for each in self.recoveries],
        }


@dataclass(slots=True)
class _Inquiry:
    """A judgement in the making."""

    recording: RecordingFolder
    strategies: Mapping[str, Strategy]
    defaults: GroupRules | None = None
    docket: Docket = field(default_factory=Docket)
    counts: dict[str, Any] = field(default_factory=dict)
    recoveries: tuple[Recovery, ...] = ()
    refused: Collection[Place] = frozenset()

    def walk(self) -> Walk:
        """Judge what the topics show, decision by decision."""
        recording, docket = self.recording, self.docket
        manifest = recording.manifest
        letters = read_letters(recording, docket)
        drivers = drivers_of(recording, self.strategies, self.defaults)
        self.refused = frozenset(letters.reasons)
        walk = Walk(recording, drivers, docket, letters.reasons)
        routes_whole = all(part.whole for part in manifest.topics["routes"].values())
        topics_whole = all(
            part.whole
            for suffix in ("control", "routes", "offsets")
            for part in manifest.topics[suffix].values()
        )
        epochs = EpochsJudge(docket, claims_of(recording))
        walk.run(
            [
                GrantsJudge(docket, read_copies(recording)),
                epochs,
                PositionsJudge(docket, topics_whole=topics_whole),
                ResetsJudge(docket, manifest.sources),
                MembersJudge(docket, walk.told, routes_whole=routes_whole),
                CausesJudge(docket, manifest.names, manifest.partitions.shards),
                PaceJudge(docket),
            ]
        )
        judge_conservation(recording, walk.facts, letters, walk.read, docket)
        docket.excuse("S8", "a recording does not show it: clients answered the cuts there were")
        found = walk.counts
        self.counts |= {
            "decisions": found.decisions,
            "generations": len(found.generations),
            "epochs": len(found.epochs),
            "grants": found.adds,
            "handovers": found.handovers,
            "moves": dict(sorted(found.moves.items())),
            "triggers": dict(sorted(found.triggers.items())),
            "alarms": dict(sorted(found.alarms.items())),
            "lapses": found.lapses,
            "rejects": dict(sorted(letters.counts.items())),
            "reports": dict(sorted(_reports(walk).items())),
            "decisions_written_again": found.resent,
            "adds_without_decision": found.orphans,
            "decisions_of_superseded_drivers": epochs.late,
            "unsafe_queues": len(found.unsafe),
            "groups": len({group for group, _ in found.epochs}),
        }
        return walk

    def replay(self, walk: Walk, watch: Callable[[Replayed], None]) -> None:
        """Judge by running everything again."""
        try:
            ready = Replay.of(self.recording, self.strategies, self.defaults)
        except ReplayError as error:
            self.docket.find("S6", str(error))
            return
        self.counts |= judge_replay(ready, self.docket, lambda: _seen(walk), watch)

    def journals(self, given: Journals, walk: Walk) -> None:
        """Judge what consumers wrote down."""
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
        told = given.journals, given.steps
        history = history_of(self.recording, group, *told, source, refused=self.refused)
        self.counts |= judge_journals(history, tenures, self.docket)
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
        journals: what consumers wrote down; None: there are none.
        watch: is shown each cut that is run again.
        defaults: the rules of a group that has none, where the engine had them by another way than
            the log, as in a simulation.

    Raises:
        RecordingError: the recording is damaged.
        UnknownGroupError: it is not clear whose the journals are.
    """
    inquiry = _Inquiry(recording, strategies, defaults)
    walk = inquiry.walk()
    inquiry.replay(walk, watch)
    if journals is None or not journals.journals:
        reason = "no journals were given (--journals)"
        inquiry.docket.excuse("S1", reason)
        inquiry.docket.excuse("S5", f"what was processed: {reason}")
    else:
        inquiry.journals(journals, walk)
    nothing = ""
    if not walk.counts.decisions:
        nothing = "the history is empty: no decision was recorded"
    elif not walk.counts.handovers:
        nothing = "no queue went from one client to another"
    return Judgement(
        inquiry.docket.rulings(), inquiry.counts, inquiry.recoveries, nothing, inquiry.refused
    )


def _reports(walk: Walk) -> Counter[str]:
    counts: Counter[str] = Counter()
    for shard in walk.facts:
        for group in shard.groups.values():
            counts.update(group.counts)
    return counts


def lapsed_grants(walk: Walk, group: str) -> frozenset[GrantKey]:
    """Return the grants of a group that ended by the silence of their member."""
    return frozenset(
        (MessageQueue(*grant.queue), grant.client_id, Epoch(*grant.epoch))
        for shard in walk.facts
        if group in shard.groups
        for grant in shard.groups[group].lapsed
    )


def _seen(walk: Walk) -> int:
    """Return how many members, queues and groups were ever seen."""
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
            f"its sources have {messages:,} messages, and {_SOURCE_MAX:,} can be judged",
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
