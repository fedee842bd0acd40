"""S1, and what journals add to S2, S3 and S5: who worked on which queue, from when to when."""

from collections.abc import Set as AbstractSet

from fairlead.verify.history import ClientKilled, GrantKey, History, ProgressReport
from fairlead.verify.overlaps import find_overlaps
from fairlead.verify.reads import Reads, count_reads
from fairlead.verify.reset_epochs import Era, Eras
from fairlead.verify.tenures import Tenure, Tenures
from fairlead.verify.unsafe_grants import UnsafeGrants
from fairlead.verify.verdicts import Evidence, Verdicts

__all__ = ["judge_journals"]


def judge_journals(history: History, tenures: Tenures, verdicts: Verdicts) -> dict[str, int]:
    """Judge the journals of one group; return counts.

    Args:
        history: journals, deaths, grants and progress; the source may be empty.
        tenures: the journals as intervals.
        verdicts: collects the findings.
    """
    unsafe = UnsafeGrants(history.decisions)
    _judge_owners(history, tenures, verdicts, unsafe)
    _judge_unwritten(history, tenures, verdicts)
    _judge_starts(history, tenures, verdicts)
    reads = count_reads(history, tenures, unsafe)
    holes = _judge_holes(tenures, Eras(history, tenures), verdicts)
    _judge_reads(history, tenures, reads, verdicts)
    all_tenures = [tenure for queue in tenures.by_queue.values() for tenure in queue]
    return {
        "tenures": len(all_tenures),
        "queues_worked_on": len(tenures.by_queue),
        "messages_processed": sum(len(tenure.consumed) for tenure in all_tenures),
        "duplicates_clean": len(reads.clean_repeats),
        "duplicates_killed": sum(client.read_twice for client in reads.killed)
        + len(reads.excess_repeats),
        "duplicates_lease_lost": reads.lapsed_repeats,
        "duplicates_unfinished": reads.early_repeats,
        "duplicates_killed_at_most": sum(client.at_most for client in reads.killed),
        "holes": holes + (len(reads.missed) if history.source else 0),
        "unknown_outcomes": sum(tenure.held is not None for tenure in all_tenures)
        + sum(tenure.ending == "open" for tenure in all_tenures),
    }


def _judge_owners(
    history: History, tenures: Tenures, verdicts: Verdicts, unsafe: UnsafeGrants
) -> None:
    verdicts.count(
        "S1", "tenures", sum(len(queue_tenures) for queue_tenures in tenures.by_queue.values())
    )
    for overlap in find_overlaps(tenures):
        if unsafe.excuse(overlap.earlier, overlap.later):
            verdicts.excuse("S1", f"{overlap.later.queue}: a decision marked a grant of it unsafe")
            continue
        length = overlap.length_ns
        span = "without end" if length is None else f"for {length / 1e6:.3f} ms"
        owners = (overlap.earlier.client_id, overlap.later.client_id, overlap.earlier.client_id)
        verdicts.add_finding(
            "S1",
            f"{overlap.later.queue} had two owners {span}: {owners[0]} and {owners[1]}",
            *(
                Evidence(f"journal of {owner}", line)
                for owner, line in zip(owners, overlap.slice(), strict=True)
            ),
        )
    worked = {each.client_id for each in history.journals if each.records}
    for unknown in sorted(worked - _granted(history)):
        verdicts.add_finding(
            "S1",
            f"the journals prove nothing here: no grant names a client {unknown!r}; without a line"
            " of kind opened, a file's name is the client id",
        )
    for flaw in tenures.flaws:
        verdicts.add_finding("S1", f"the journals prove nothing here: {flaw}")


def _early_death(history: History, death: ClientKilled, granted: AbstractSet[str]) -> str:
    """Return the text about a death in the fault log that no journal shows."""
    who = death.client_id
    text = f"{who} was killed before its first line and is not judged"
    if who not in granted:
        return f"{text} (no grant names this client id)"
    pids = sorted({each.pid for each in history.journals if each.client_id == who and each.pid})
    if death.pid is not None and pids:
        return f"{text} (pid {death.pid}; its journals are of pid {', '.join(map(str, pids))})"
    return text


def _granted(history: History) -> set[str]:
    """Return the ids of the clients that ever got a grant."""
    return {client_id for _, client_id, _ in history.grants}


def _judge_unwritten(history: History, tenures: Tenures, verdicts: Verdicts) -> None:
    """Judge work without a journal: a silent client would otherwise count as no owner.

    The topics show whether a killed client without a line had worked. A live client must have a
    line for each grant under which it reported progress.
    """
    written = {
        tenure.key for queue_tenures in tenures.by_queue.values() for tenure in queue_tenures
    }
    granted = _granted(history)
    for death in tenures.unwritten:
        client_id = death.client_id
        lost = [
            report
            for report in history.progress
            if report.client_id == client_id
            and (report.queue, client_id, report.epoch) not in written
        ]
        if not lost:
            verdicts.excuse("S1", _early_death(history, death, granted))
            continue
        first = lost[0]
        verdicts.add_finding(
            "S1",
            f"the journals prove nothing here: {client_id} was killed, and no journal has its work"
            f" on {first.queue} under {first.epoch}",
            Evidence(_place(first), f"its progress: {first.offset}"),
        )
    if history.journals:
        _judge_silent(history, written, {death.client_id for death in tenures.unwritten}, verdicts)


def _judge_silent(
    history: History, written: AbstractSet[GrantKey], dead: AbstractSet[str], verdicts: Verdicts
) -> None:
    """Judge grants under which a client reported growing progress and that no journal has."""
    begun: dict[GrantKey, int] = {}
    accused: set[GrantKey] = set()
    for report in history.progress:
        key = report.queue, report.client_id, report.epoch
        if key in written or key in accused or report.client_id in dead:
            continue
        first = begun.setdefault(key, report.offset)
        if report.offset <= first:
            continue
        accused.add(key)
        verdicts.add_finding(
            "S1",
            f"the journals prove nothing here: no journal has the work of {report.client_id} on"
            f" {report.queue} under {report.epoch}",
            Evidence(_place(report), f"its progress: {report.offset}, {first} before"),
        )


def _judge_starts(history: History, tenures: Tenures, verdicts: Verdicts) -> None:
    for queue, queue_tenures in tenures.by_queue.items():
        newest: Tenure | None = None
        for tenure in queue_tenures:
            if tenure.ending == "unowned":
                continue
            verdicts.count("S2", "starts in journals")
            if (queue, tenure.client_id, tenure.epoch) not in history.grants:
                text = f"{tenure.client_id} started {queue} under {tenure.epoch} without a grant"
                verdicts.add_finding("S2", text, _start(tenure))
            if newest is not None and tenure.epoch <= newest.epoch:
                text = f"{queue} was started under {tenure.epoch} after {newest.epoch}"
                verdicts.add_finding("S3", text, _start(newest), _start(tenure))
            newest = tenure


def _judge_holes(tenures: Tenures, eras: Eras, verdicts: Verdicts) -> int:
    """Judge each start against the work before it; return the number of holes.

    The first start of an era is judged against the operator's reset.
    """
    holes = 0
    for queue, queue_tenures in sorted(tenures.by_queue.items()):
        done: int | None = None
        era = Era(0, 0)
        for tenure in queue_tenures:
            if tenure.ending == "unowned":
                continue
            verdicts.count("S5", "starts in journals")
            if eras.of(tenure) > era:
                era, done = eras.of(tenure), eras.begin(tenure)
            if done is not None and tenure.start_offset > done:
                holes += 1
                skipped = tenure.start_offset - done
                who = tenure.client_id
                text = f"{queue}: {skipped} messages from {done} on were skipped by {who}"
                before = Evidence("journals before", f"processed up to {done}")
                verdicts.add_finding("S5", text, before, _start(tenure))
            done = max(tenure.reached, tenure.stop_offset or 0, done or 0)
    return holes


def _judge_reads(history: History, tenures: Tenures, reads: Reads, verdicts: Verdicts) -> None:
    for repeat in (*reads.clean_repeats, *reads.excess_repeats):
        verdicts.add_finding("S5", f"read twice: {repeat}")
    if reads.unsafe_repeats:
        verdicts.excuse("S5", "second readings after a grant that a decision marked unsafe")
    if not history.source:
        verdicts.excuse("S5", "the source was not recorded (--source): messages inside a tenure")
        return
    verdicts.count("S5", "messages of the source", reads.processed)
    recorded = {queue.topic for queue in history.source}
    for topic in sorted({queue.topic for queue in tenures.by_queue} - recorded):
        verdicts.excuse("S5", f"{topic} was not recorded (--source): its messages inside a tenure")
    missed: dict[str, int] = {}
    for name in reads.missed:
        queue = name.rpartition("@")[0]
        missed[queue] = missed.get(queue, 0) + 1
    for queue, number in sorted(missed.items()):
        first = next(name for name in reads.missed if name.startswith(f"{queue}@"))
        text = f"{queue}: nobody processed {number} messages, the first is {first}"
        verdicts.add_finding("S5", text)
    for forged in reads.forged:
        verdicts.add_finding("S5", forged)


def _place(report: ProgressReport) -> str:
    return f"{report.source[0]}/{report.source[1]}@{report.source_offset}"


def _start(tenure: Tenure) -> Evidence:
    text = f"START {tenure.queue} epoch {tenure.epoch} offset {tenure.start_offset}"
    return Evidence(f"journal of {tenure.client_id}", f"{text} at {tenure.begin_ns} ns")
