"""Judges a trial from journals and topics: the demo's own reading of them, and the faults' part.

What the faults add: a process that stood still did nothing meanwhile, and a lease that a fault
ended excuses second readings as a death does, within the same bound. Everything else is held as
strictly as in a run without faults.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import orjson

from fairlead.core.model import MessageQueue
from fairlead.verify.evidence import grants, progress_reports
from fairlead.verify.history import ClientKilled, History
from fairlead.verify.journal import read_journal
from fairlead.verify.overlaps import find_overlaps
from fairlead.verify.reads import count_reads
from fairlead.verify.reset_epochs import Era, Eras
from fairlead.verify.tenures import Tenure, Tenures, read_tenures
from fairlead.verify.unsafe_grants import marked_unsafe
from fairlead.wire.decision_records import DecisionReader, DecisionRecord
from fairlead.wire.raw import RawRecord
from tests.faults.overtaken import set_aside
from tests.faults.trial import FaultLog, Freeze, Lapse, Life, Phase, Trial


@dataclass(frozen=True, slots=True)
class Evidence:
    """The traces of one group.

    Attributes:
        group: its name.
        tenures: who worked on what, by the journals.
        source: what the topic that it reads holds: per queue, offset → number.
        ends: how far it must have been processed, per queue.
        records: what Fairlead's topics hold, by the ends of their names.
    """

    group: str
    tenures: Tenures
    source: Mapping[MessageQueue, Mapping[int, int | None]]
    ends: Mapping[MessageQueue, int]
    records: Callable[[str], Sequence[RawRecord]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a trial came to.

    Attributes:
        faults: what must not be, one sentence each.
        converged_ms: per phase, from what was done to the last start.
        read_twice: messages read again after a death or a lost lease.
        expired: the client ids that the engine took for dead, in order.
        beside: who worked beside an owner in this trial, by the engine's own marks.
    """

    faults: tuple[str, ...]
    converged_ms: Mapping[str, float] = field(default_factory=dict)
    read_twice: int = 0
    expired: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def judge(evidence: Evidence, trial: Trial) -> Judgement:
    """Return the verdict on one group in one trial."""
    tenures = evidence.tenures
    decisions = list(_decisions(evidence))
    granted = list(grants(evidence.records("assignments"), evidence.group))
    history = History(
        source=evidence.source,
        decisions=decisions,
        grants=frozenset(each[:3] for each in granted),
        identities={
            (each.queue, each.epoch): each.identity for each in granted if each.identity is not None
        },
        progress=tuple(progress_reports(evidence.records("heartbeats"), evidence.group)),
    )
    overlaps = set_aside(tenures, marked_unsafe(decisions))
    reads, eras = count_reads(history, tenures), Eras(history, tenures)
    expired = tuple(_expired(evidence, trial))
    faults = [
        *(f"two owners: {' | '.join(overlap.slice())}" for overlap in find_overlaps(tenures)),
        *(f"missed: {each}" for each in missed(history.source, evidence.ends, eras)),
        *(f"read twice: {each}" for each in (*reads.clean_repeats, *reads.excess_repeats)),
        *reads.forged,
        *tenures.flaws,
        *falling_epochs(tenures),
        *_beside_their_reset(tenures, eras),
        *_ungranted(tenures, history),
        *_disputed(evidence),
        *_falling_decisions(decisions),
        *(
            f"{client_id} was taken for dead"
            for client_id in expired
            if client_id not in trial.may_expire.get(evidence.group, ())
        ),
        *([] if evidence.group in trial.unsafe else _marked(evidence, trial)),
    ]
    phases = [phase for phase in trial.phases if phase.group == evidence.group]
    for phase in phases:
        faults += moved_without_need(phase, tenures)
        if phase.settled:
            faults += _without_owner(phase, tenures, evidence.ends)
    return Judgement(
        faults=tuple(faults),
        converged_ms={phase.name: _converged_ms(phase, tenures) for phase in phases},
        read_twice=sum(client.read_twice for client in reads.killed),
        expired=expired,
        beside=tuple(
            overlap.earlier.client_id
            for overlap in overlaps
            if overlap.later.begin_ns >= trial.begun_ns
        ),
    )


def read_lives(lives: Sequence[Life], log: FaultLog) -> Tenures:
    """Return who worked on what, by the journals of all processes."""
    by_queue: dict[MessageQueue, list[Tenure]] = {}
    flaws: list[str] = []
    for life in lives:
        found = _read_life(life)
        flaws += found.flaws
        for queue, tenures in found.by_queue.items():
            for tenure in tenures:
                _apply_freezes(tenure, life, log.freezes, log.lapses)
                _apply_lapses(tenure, log.lapses)
            by_queue.setdefault(queue, []).extend(tenures)
    for tenures in by_queue.values():
        tenures.sort(key=lambda tenure: tenure.begin_ns)
    return Tenures(by_queue, tuple(flaws))


def _read_life(life: Life) -> Tenures:
    """Return the intervals of one process; work that goes on is closed by this look at it."""
    (journal,) = read_journal(life.journal)
    journal = replace(journal, client_id=life.client_id)
    deaths = []
    if life.killed is not None:
        deaths.append(ClientKilled(life.client_id, life.killed.sent_ns, life.killed.dead_ns))
    elif life.running:
        now_ns = time.monotonic_ns()
        deaths.append(ClientKilled(life.client_id, now_ns, now_ns))
    found = read_tenures([journal], deaths)
    if life.running:
        for tenures in found.by_queue.values():
            for tenure in tenures:
                tenure.ending = "open" if tenure.ending == "killed" else tenure.ending
    return found


def _apply_freezes(
    tenure: Tenure, life: Life, freezes: Sequence[Freeze], lapses: Sequence[Lapse]
) -> None:
    """End work that stood still longer than its lease where it stood still.

    Only if nothing was processed after it: what then stopped had not gone on.
    """
    for freeze in freezes:
        mine = freeze.name == life.name and _covers(tenure, freeze.since_ns)
        lost = any(
            lapse.client_id == life.client_id and lapse.since_ns == freeze.since_ns
            for lapse in lapses
        )
        idle = all(message.t_ns < freeze.since_ns for message in tenure.consumed)
        if mine and lost and idle:
            tenure.end_ns = freeze.since_ns


def _apply_lapses(tenure: Tenure, lapses: Sequence[Lapse]) -> None:
    """Count work whose lease a fault ended as work that a death ended."""
    for lapse in lapses:
        if (
            tenure.client_id == lapse.client_id
            and tenure.ending == "stopped"
            and tenure.end_ns is not None
            and tenure.begin_ns < lapse.since_ns <= tenure.end_ns <= lapse.until_ns
        ):
            tenure.ending = "killed"


def _covers(tenure: Tenure, t_ns: int) -> bool:
    return tenure.begin_ns < t_ns and (tenure.end_ns is None or tenure.end_ns > t_ns)


def missed(
    source: Mapping[MessageQueue, Mapping[int, int | None]],
    ends: Mapping[MessageQueue, int],
    eras: Eras,
) -> Iterator[str]:
    """Yield every message before these ends that nobody processed and no reset left out."""
    for queue, offsets in sorted(source.items()):
        before = [offset for offset in offsets if offset < ends[queue]]
        for offset in eras.unread(queue, before):
            yield f"{queue}@{offset}"


def _beside_their_reset(tenures: Tenures, eras: Eras) -> Iterator[str]:
    """Yield every first start behind a reset that is not where the operator wanted it."""
    for found in tenures.by_queue.values():
        newest = Era(0, 0)
        for tenure in found:
            era, begin = eras.of(tenure), eras.begin(tenure)
            if begin is not None and era > newest and tenure.start_offset != begin:
                yield (
                    f"{tenure.queue} was reset to {begin}, and {tenure.client_id}"
                    f" started at {tenure.start_offset}"
                )
            newest = era


def falling_epochs(tenures: Tenures) -> Iterator[str]:
    """Yield every start under an epoch that is not greater than those before it."""
    for queue, found in sorted(tenures.by_queue.items()):
        for before, after in pairwise(found):
            if after.epoch <= before.epoch:
                yield (
                    f"{queue} was started by {after.client_id} under {after.epoch} after"
                    f" {before.client_id} under {before.epoch}"
                )


def moved_without_need(phase: Phase, tenures: Tenures) -> Iterator[str]:
    """Yield the starts of a phase that its event does not explain."""
    starts = 0
    for queue, found in sorted(tenures.by_queue.items()):
        before = [tenure for tenure in found if tenure.begin_ns < phase.begun_ns]
        for tenure in found:
            if not phase.begun_ns <= tenure.begin_ns < phase.ended_ns:
                continue
            starts += 1
            owner = before[-1].client_id if before else None
            if phase.owners is not None and owner not in phase.owners:
                yield f"{phase.name}: {queue} of {owner} was started by {tenure.client_id}"
    if phase.starts_max is not None and starts > phase.starts_max:
        yield f"{phase.name}: {starts} starts, more than {phase.starts_max}"


def _without_owner(phase: Phase, tenures: Tenures, queues: Iterable[MessageQueue]) -> Iterator[str]:
    for queue in sorted(queues):
        if tenures.owner(queue, phase.ended_ns) is None:
            yield f"{phase.name}: {queue} has no owner after it"


def _converged_ms(phase: Phase, tenures: Tenures) -> float:
    starts = [
        tenure.begin_ns
        for found in tenures.by_queue.values()
        for tenure in found
        if phase.begun_ns <= tenure.begin_ns < phase.ended_ns
    ]
    return (max(starts) - phase.begun_ns) / 1e6 if starts else 0.0


def _ungranted(tenures: Tenures, history: History) -> Iterator[str]:
    for found in tenures.by_queue.values():
        for tenure in found:
            if (tenure.queue, tenure.client_id, tenure.epoch) not in history.grants:
                yield f"{tenure.queue} by {tenure.client_id} under {tenure.epoch}: not granted"


def _decisions(evidence: Evidence) -> Iterator[DecisionRecord]:
    reader = DecisionReader(evidence.group)
    for record in evidence.records("decisions"):
        decision = None if record.value is None else reader.read(record)
        if decision is not None:
            yield decision


def _disputed(evidence: Evidence) -> Iterator[str]:
    """Yield every epoch of a queue that was granted to two incarnations."""
    granted: dict[tuple[str, str], str] = {}
    for record in evidence.records("assignments"):
        fields = {} if record.value is None else orjson.loads(record.value)
        if fields.get("kind") != "assignment" or fields["group"] != evidence.group:
            continue
        for add in fields["add"]:
            key = (str(add["queue"]), str(add["epoch"]))
            owner = f"{fields['client_id']} ({fields['incarnation']})"
            if granted.setdefault(key, owner) != owner:
                yield f"{key[0]} under {key[1]} was granted to {granted[key]} and to {owner}"


def _falling_decisions(decisions: Sequence[DecisionRecord]) -> Iterator[str]:
    """Yield what an engine decided behind a newer engine, or behind a decision of its own.

    An engine that starts from an older state names that state's epochs until its barrier is passed.
    """
    for before, after in pairwise(decisions):
        if (after.generation, after.epoch) < (before.generation, before.epoch):
            yield (
                f"decision {after.epoch} of generation {after.generation} stands behind"
                f" {before.epoch} of generation {before.generation}"
            )


def _expired(evidence: Evidence, trial: Trial) -> Iterator[str]:
    """Yield whom the engine took for dead in this trial."""
    for fields in _decided(evidence, trial):
        for cause in fields["cause"]:
            if cause["kind"] == "client_expired":
                yield cause["client_id"]


def _marked(evidence: Evidence, trial: Trial) -> Iterator[str]:
    """Yield what the engine granted without waiting in this trial."""
    for fields in _decided(evidence, trial):
        for move in fields["moves"]:
            if move.get("unsafe"):
                yield f"{move['queue']} was granted to {move['client_id']} without waiting"


def _decided(evidence: Evidence, trial: Trial) -> Iterator[dict[str, Any]]:
    """Yield the decision records of the group in this trial."""
    found = 0
    for record in evidence.records("decisions"):
        fields = {} if record.value is None else orjson.loads(record.value)
        if fields.get("group") == evidence.group:
            found += 1
            if found > trial.decisions[evidence.group]:
                yield fields
