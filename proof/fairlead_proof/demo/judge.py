"""The judge: one verdict from the history of a run. Pure: the same history gives the same verdict.

It trusts nobody's own account of success. The journals say what the consumers did, the source
topic says what there was to do, the records of the control topics say what the engine knew; every
figure is computed from these. A history that proves nothing (empty, too short, a step without
effect) fails.

ADR 0070 gives the reasons.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from fairlead.verify.history import ClientKilled, EngineKilled, History
from fairlead.verify.judgement import Judgement
from fairlead.verify.killed_clients import KilledClient
from fairlead.verify.overlaps import Overlap, find_overlaps
from fairlead.verify.reads import Reads, count_reads
from fairlead.verify.tenures import Tenures, read_tenures
from fairlead_proof.demo.broker_faults import Outage
from fairlead_proof.demo.memory import MemoryUse
from fairlead_proof.demo.passage import follow_steps, unanswered_drops
from fairlead_proof.demo.verdict import Check, StepOutcome, Verdict

STEPS: Final = ("start", "join", "leave", "kill", "grow", "engine_kill")
DECIDED_SECONDS_MAX: Final = 5.0
BACK_SECONDS_MAX: Final = 12.0
"""A lease of 15 s, the client's default, less the 3 s by which its last heartbeat may be old."""
_FINDINGS_MAX: Final = 8
_STEPS_TOLD_MAX: Final = 8
"""Of more steps it prints the least and the greatest: a row of them all is 150 wide."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a run must have done for its verdict to mean anything.

    Attributes:
        messages: how many must have gone through.
        killed_queues: how many queues a killed client must have owned.
        steps: the steps that must have taken place, in this order.
        memory_mib: how much memory all its processes may have needed together.
        decided_s: so soon after new leaders there must have been decisions.
    """

    messages: int = 10_000
    killed_queues: int = 3
    steps: tuple[str, ...] = STEPS
    memory_mib: int = 4_096
    decided_s: float = DECIDED_SECONDS_MAX


def judge(
    history: History,
    requirements: Requirements | None = None,
    memory: MemoryUse | None = None,
    judgement: Judgement | None = None,
    outages: Sequence[Outage] = (),
) -> Verdict:
    """Return the verdict on a run.

    Args:
        history: all evidence of it.
        requirements: what must have happened; the default is the whole script.
        memory: what the run needed; None if it could not be measured.
        judgement: of the recorded topics, by the invariants; None if nothing was recorded.
        outages: of brokers, and when the engine decided in each.
    """
    wanted = requirements or Requirements()
    kills = [record for record in history.steps if isinstance(record, ClientKilled)]
    tenures = read_tenures(history.journals, kills)
    reads = count_reads(history, tenures)
    steps = follow_steps(history, tenures)
    return Verdict(
        checks=(
            _history(history, tenures),
            _one_owner(find_overlaps(tenures)),
            _none_missed(reads),
            _none_twice_on_clean_moves(reads),
            _twice_on_kills(reads),
            _enough_messages(reads, wanted),
            _every_queue(reads, history),
            _every_step(steps, wanted),
            *_kills(history, tenures, reads, wanted),
            _every_start_granted(history, tenures),
            _sound(tenures, reads),
            *_invariants(judgement),
            *_decided(outages, wanted),
            *_none_expired(outages),
            _memory(memory, wanted),
        ),
        steps=steps,
        killed=reads.killed,
        messages=reads.processed,
        queues=len(history.source),
        memory_mib=None if memory is None else memory.mib,
    )


def _history(history: History, tenures: Tenures) -> Check:
    counts = {
        "journals": len(history.journals),
        "starts": sum(len(found) for found in tenures.by_queue.values()),
        "messages in the source": sum(len(offsets) for offsets in history.source.values()),
        "steps": len(history.steps),
        "decisions": len(history.decisions),
        "grants": len(history.grants),
    }
    missing = [f"no {name}" for name, count in counts.items() if count == 0]
    findings = missing or [f"{count:,} {name}" for name, count in counts.items()]
    measured = f"{len(counts) - len(missing)} kinds of evidence"
    required = f"all {len(counts)}"
    return Check("history is not empty", measured, required, not missing, _few(findings))


def _one_owner(overlaps: Sequence[Overlap]) -> Check:
    findings: tuple[str, ...] = ()
    if overlaps:
        length = overlaps[0].length_ns
        span = "without end" if length is None else f"for {length / 1e6:.3f} ms"
        findings = (f"the shortest of them, {span}:", *overlaps[0].slice())
    return Check("two owners at once", str(len(overlaps)), "0", not overlaps, findings)


def _none_missed(reads: Reads) -> Check:
    missed = len(reads.missed)
    return Check("messages missed", str(missed), "0", missed == 0, _few(reads.missed))


def _none_twice_on_clean_moves(reads: Reads) -> Check:
    twice = len(reads.clean_repeats)
    name = "read twice on clean moves"
    return Check(name, str(twice), "0", twice == 0, _few(reads.clean_repeats))


def _twice_on_kills(reads: Reads) -> Check:
    excess = reads.excess_repeats
    twice = sum(client.read_twice for client in reads.killed) + len(excess)
    at_most = sum(client.at_most for client in reads.killed)
    findings = [
        f"{client.client_id}: {client.read_twice} read twice; {client.at_most} processed after the"
        f" last progress that the engine read, over {len(client.queues)} queues"
        for client in reads.killed
    ]
    required = f"at most {at_most}"
    return Check(
        "read twice on kills", str(twice), required, not excess, _few([*excess, *findings])
    )


def _enough_messages(reads: Reads, wanted: Requirements) -> Check:
    enough = reads.processed >= wanted.messages
    required = f"≥ {wanted.messages:,}"
    return Check("messages went through", f"{reads.processed:,}", required, enough)


def _every_queue(reads: Reads, history: History) -> Check:
    queues = len(history.source)
    consumed = queues - len(reads.silent)
    passed = queues > 0 and not reads.silent
    name = "queues consumed"
    return Check(name, str(consumed), f"all {queues}", passed, _few(reads.silent))


def _every_step(steps: Sequence[StepOutcome], wanted: Requirements) -> Check:
    findings = [f"{step.name} moved no queue" for step in steps if step.moved == 0]
    findings += [
        f"{step.name} left {len(step.unowned)} queues without owner: {', '.join(step.unowned[:4])}"
        for step in steps
        if step.unowned
    ]
    names = tuple(step.name for step in steps)
    if names != wanted.steps:
        findings.append(f"steps taken: {', '.join(names) or 'none'}; wanted: {wanted.steps}")
    moved = [step.moved for step in steps]
    measured = ", ".join(map(str, moved)) or "no steps"
    if len(moved) > _STEPS_TOLD_MAX:
        measured = f"{min(moved)} to {max(moved)} in {len(moved)} steps"
    required = "each ≥ 1, none left alone"
    return Check("queues moved per step", measured, required, not findings, _few(findings))


def _kills(
    history: History, tenures: Tenures, reads: Reads, wanted: Requirements
) -> Iterator[Check]:
    """Judge the kills of clients and engine, in a run that has any or should have."""
    clients = [record for record in history.steps if isinstance(record, ClientKilled)]
    if clients or "kill" in wanted.steps:
        yield _killed_owned(clients, reads.killed, wanted)
    engines = any(isinstance(record, EngineKilled) for record in history.steps)
    if engines or "engine_kill" in wanted.steps:
        yield _engine_killed_in_handover(history, tenures, wanted)


def _killed_owned(
    kills: Sequence[ClientKilled], killed: Sequence[KilledClient], wanted: Requirements
) -> Check:
    clients = {client.client_id: client for client in killed}
    findings: list[str] = []
    counts: list[int] = []
    for kill in kills:
        client = clients.get(kill.client_id)
        owned = len(client.queues) if client else 0
        counts.append(owned)
        in_hand = client.in_hand if client else None
        if in_hand is None:
            findings.append(f"{kill.client_id} was not processing a message when it was killed")
        if owned < wanted.killed_queues:
            findings.append(f"{kill.client_id} owned {owned} queues when it was killed")
    needed = "kill" in wanted.steps
    if needed and not kills:
        findings.append("no client was killed")
    measured = ", ".join(map(str, counts)) or "nobody killed"
    required = f"≥ {wanted.killed_queues}, a message in hand"
    return Check("queues of the killed", measured, required, not findings, _few(findings))


def _engine_killed_in_handover(history: History, tenures: Tenures, wanted: Requirements) -> Check:
    drops = unanswered_drops(history, tenures)
    findings = [f"engine of generation {g}: no open handover" for g, d in drops.items() if not d]
    if "engine_kill" in wanted.steps and not drops:
        findings.append("the engine was not killed")
    newest = max((decision.generation for decision in history.decisions), default=0)
    findings += [
        f"the engine of generation {kill.generation} has no successor that decided"
        for kill in history.steps
        if isinstance(kill, EngineKilled) and newest <= kill.generation
    ]
    open_drops = [drop for found in drops.values() for drop in found]
    return Check(
        "handovers open at the engine's death",
        str(len(open_drops)),
        "≥ 1, and decisions after it",
        not findings,
        _few(findings or open_drops),
    )


def _every_start_granted(history: History, tenures: Tenures) -> Check:
    starts = [t for found in tenures.by_queue.values() for t in found if t.ending != "unowned"]
    bare = [
        f"{tenure.queue} by {tenure.client_id} under {tenure.epoch}"
        for tenure in starts
        if (tenure.queue, tenure.client_id, tenure.epoch) not in history.grants
    ]
    return Check("starts that were not granted", str(len(bare)), "0", not bare, _few(bare))


def _sound(tenures: Tenures, reads: Reads) -> Check:
    unwritten = [
        f"{death.client_id} was killed, but there is no journal of it"
        for death in tenures.unwritten
    ]
    flaws = (*tenures.flaws, *unwritten, *reads.forged)
    return Check("flaws in the journals", str(len(flaws)), "0", not flaws, _few(flaws))


def _invariants(judgement: Judgement | None) -> Iterator[Check]:
    """Judge the topics by every invariant that they show."""
    if judgement is None:
        return
    broken = [each for each in judgement.rulings if each.outcome == "broken"]
    held = sum(each.outcome == "held" for each in judgement.rulings)
    findings = [
        line
        for ruling in broken
        for finding in ruling.findings[:1]
        for line in (
            f"{ruling.number}: {finding.text}",
            *(f"  {each.place}  {each.says}" for each in finding.slice),
        )
    ]
    measured = f"{len(broken)} of {held + len(broken)}"
    found = [*findings, judgement.nothing] if judgement.nothing else findings
    passed = judgement.passed and held > 0
    yield Check(
        "invariants that the topics break", measured, "0, ≥ 1 handover", passed, _few(found)
    )


def _decided(outages: Sequence[Outage], wanted: Requirements) -> Iterator[Check]:
    """Judge how soon there were decisions once others led; of fewer than 20 outages, each one."""
    for fault in dict.fromkeys(outage.fault for outage in outages):
        of_fault = [outage for outage in outages if outage.fault is fault]
        seconds = sorted(outage.seconds_to_decision for outage in of_fault)
        nearly_all = seconds[ceil(0.95 * len(seconds)) - 1]
        yield Check(
            f"decided after new leaders: {fault}",
            f"{nearly_all:.1f} s, {len(seconds)} times",
            f"95 % within {wanted.decided_s:.0f} s",
            nearly_all <= wanted.decided_s,
            _few(
                f"broker {one.node}: others led after {one.seconds_to_leaders:.1f} s, decided"
                f" {one.seconds_to_decision:.1f} s later"
                for one in of_fault
            ),
        )


def _none_expired(outages: Sequence[Outage]) -> Iterator[Check]:
    """Judge whether a lease ended of a client that lived: it must outlast the loss of a broker.

    Nobody's heartbeat can be written until others lead, and the first decision shows that it can
    be: leases end where that takes too long. A decision that is late fails by itself.
    """
    if not outages:
        return
    expired = [one for one in outages if one.expired]
    in_time = [
        one
        for one in expired
        if one.seconds_to_leaders + one.seconds_to_decision <= BACK_SECONDS_MAX
    ]
    owed = sum(len(one.expired) for one in in_time)
    yield Check(
        "living clients taken for dead",
        str(owed),
        f"0 where decisions were back in {BACK_SECONDS_MAX:.0f} s",
        not owed,
        _few(
            f"broker {one.node} {one.fault}, others led after {one.seconds_to_leaders:.1f} s:"
            f" {', '.join(one.expired)}"
            for one in expired
        ),
    )


def _memory(use: MemoryUse | None, wanted: Requirements) -> Check:
    name, required = "memory of all processes", f"at most {wanted.memory_mib:,} MiB"
    if use is None:
        # Not every kernel tells: that is no fault of the run.
        return Check(name, "not measured", required, passed=True)
    looks = f"{use.processes} processes at the greatest of {use.looks} looks"
    broken_off = f"{use.broken_off} of them broken off, for they took too long"
    findings = (looks, broken_off) if use.broken_off else (looks,)
    return Check(name, f"{use.mib:,} MiB", required, use.mib <= wanted.memory_mib, findings)


def _few(findings: Iterable[str]) -> tuple[str, ...]:
    """The first findings, and how many more there are."""
    all_findings = list(findings)
    if len(all_findings) <= _FINDINGS_MAX:
        return tuple(all_findings)
    return (*all_findings[:_FINDINGS_MAX], f"and {len(all_findings) - _FINDINGS_MAX} more")
