"""S1, and what journals add to S2, S3 and S5: who really worked on what, from when to when."""

from collections.abc import Set as AbstractSet

from fairlead.verify.history import ClientKilled, GrantKey, History, ProgressReport
from fairlead.verify.overlaps import find_overlaps
from fairlead.verify.reads import Reads, count_reads
from fairlead.verify.reset_epochs import Era, Eras
from fairlead.verify.tenures import Tenure, Tenures
from fairlead.verify.unsafe_grants import UnsafeGrants
from fairlead.verify.verdicts import Docket, Evidence

__all__ = ["judge_journals"]


def judge_journals(history: History, tenures: Tenures, docket: Docket) -> dict[str, int]:
    """Judge the journals of one group; return what was counted.

    Args:
        history: journals, deaths, grants and progress; a source of nothing if none was recorded.
        tenures: the journals as intervals.
        docket: takes what is found.
    """
    unsafe = UnsafeGrants(history.decisions)
    _judge_owners(history, tenures, docket, unsafe)
    _judge_unwritten(history, tenures, docket)
    _judge_starts(history, tenures, docket)
    reads = count_reads(history, tenures, unsafe)
    holes = _judge_holes(tenures, Eras(history, tenures), docket)
    _judge_reads(history, tenures, reads, docket)
    found = [tenure for queue in tenures.by_queue.values() for tenure in queue]
    return {
        "tenures": len(found),
        "queues_worked_on": len(tenures.by_queue),
        "messages_processed": sum(len(tenure.consumed) for tenure in found),
        "duplicates_clean": len(reads.clean_repeats),
        "duplicates_killed": sum(client.read_twice for client in reads.killed)
        + len(reads.excess_repeats),
        "duplicates_lease_lost": reads.lapsed_repeats,
        "duplicates_unfinished": reads.early_repeats,
        "duplicates_killed_at_most": sum(client.at_most for client in reads.killed),
        "holes": holes + (len(reads.missed) if history.source else 0),
        "unknown_outcomes": sum(tenure.held is not None for tenure in found)
        + sum(tenure.ending == "open" for tenure in found),
    }


def _judge_owners(history: History, tenures: Tenures, docket: Docket, unsafe: UnsafeGrants) -> None:
    docket.look("S1", "tenures", sum(len(found) for found in tenures.by_queue.values()))
    for overlap in find_overlaps(tenures):
        if unsafe.excuse(overlap.earlier, overlap.later):
            docket.excuse("S1", f"{overlap.later.queue}: a grant of it was marked unsafe")
            continue
        length = overlap.length_ns
        span = "without end" if length is None else f"for {length / 1e6:.3f} ms"
        owners = (overlap.earlier.client_id, overlap.later.client_id, overlap.earlier.client_id)
        docket.find(
            "S1",
            f"{overlap.later.queue} had two owners {span}: {owners[0]} and {owners[1]}",
            *(
                Evidence(f"journal of {owner}", line)
                for owner, line in zip(owners, overlap.slice(), strict=True)
            ),
        )
    worked = {each.client_id for each in history.journals if each.records}
    for unknown in sorted(worked - _granted(history)):
        docket.find(
            "S1",
            f"the journals prove nothing here: no grant is of a client {unknown!r}; a file without"
            " a line of kind opened is of the client that its name says",
        )
    for flaw in tenures.flaws:
        docket.find("S1", f"the journals prove nothing here: {flaw}")


def _early_death(history: History, death: ClientKilled, granted: AbstractSet[str]) -> str:
    """Say of whom the fault log tells a death that no journal has."""
    who = death.client_id
    text = f"{who} was killed before its first line: it is not judged"
    if who not in granted:
        return f"{text} (nothing was ever granted to a client of this id)"
    pids = sorted({each.pid for each in history.journals if each.client_id == who and each.pid})
    if death.pid is not None and pids:
        return f"{text} (as pid {death.pid}, and its journals are of {', '.join(map(str, pids))})"
    return text


def _granted(history: History) -> set[str]:
    """Return the ids of the clients to which anything was granted."""
    return {client_id for _, client_id, _ in history.grants}


def _judge_unwritten(history: History, tenures: Tenures, docket: Docket) -> None:
    """Judge work of which there is no journal: who says nothing is no owner in anybody's eyes.

    Of the dead that wrote no line the topics tell whether they had worked. Who lives has a line for
    each grant under which it told that it got on.
    """
    written = {tenure.key for found in tenures.by_queue.values() for tenure in found}
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
            docket.excuse("S1", _early_death(history, death, granted))
            continue
        first = lost[0]
        docket.find(
            "S1",
            f"the journals prove nothing here: {client_id} was killed, and worked on {first.queue}"
            f" under {first.epoch}, of which there is no journal",
            Evidence(_place(first), f"its progress: {first.offset}"),
        )
    if history.journals:
        _judge_silent(history, written, {death.client_id for death in tenures.unwritten}, docket)


def _judge_silent(
    history: History, written: AbstractSet[GrantKey], dead: AbstractSet[str], docket: Docket
) -> None:
    """Judge grants under which a client got on, by its own progress, and that no journal has."""
    begun: dict[GrantKey, int] = {}
    told: set[GrantKey] = set()
    for report in history.progress:
        key = report.queue, report.client_id, report.epoch
        if key in written or key in told or report.client_id in dead:
            continue
        first = begun.setdefault(key, report.offset)
        if report.offset <= first:
            continue
        told.add(key)
        docket.find(
            "S1",
            f"the journals prove nothing here: {report.client_id} worked on {report.queue} under"
            f" {report.epoch}, of which there is no journal",
            Evidence(_place(report), f"its progress: {report.offset}, {first} before"),
        )


def _judge_starts(history: History, tenures: Tenures, docket: Docket) -> None:
    for queue, found in tenures.by_queue.items():
        newest: Tenure | None = None
        for tenure in found:
            if tenure.ending == "unowned":
                continue
            docket.look("S2", "starts in journals")
            if (queue, tenure.client_id, tenure.epoch) not in history.grants:
                text = f"{tenure.client_id} started {queue} under {tenure.epoch}, never granted"
                docket.find("S2", text, _start(tenure))
            if newest is not None and tenure.epoch <= newest.epoch:
                text = f"{queue} was started under {tenure.epoch} after {newest.epoch}"
                docket.find("S3", text, _start(newest), _start(tenure))
            newest = tenure


def _judge_holes(tenures: Tenures, eras: Eras, docket: Docket) -> int:
    """Judge each start against what all before it had processed; return the number of holes.

    The first one of an era is judged against where the operator let it begin.
    """
    holes = 0
    for queue, found in sorted(tenures.by_queue.items()):
        done: int | None = None
        era = Era(0, 0)
        for tenure in found:
            if tenure.ending == "unowned":
                continue
            docket.look("S5", "starts in journals")
            if eras.of(tenure) > era:
                era, done = eras.of(tenure), eras.begin(tenure)
            if done is not None and tenure.start_offset > done:
                holes += 1
                text = f"{queue}: {tenure.start_offset - done} messages from {done} on were skipped"
                before = Evidence("journals before", f"processed up to {done}")
                docket.find("S5", text, before, _start(tenure))
            done = max(tenure.reached, tenure.stop_offset or 0, done or 0)
    return holes


def _judge_reads(history: History, tenures: Tenures, reads: Reads, docket: Docket) -> None:
    for repeat in (*reads.clean_repeats, *reads.excess_repeats):
        docket.find("S5", f"read twice: {repeat}")
    if reads.unsafe_repeats:
        docket.excuse("S5", "what was read twice since a grant was marked unsafe")
    if not history.source:
        docket.excuse("S5", "the source was not recorded (--source): messages inside a tenure")
        return
    docket.look("S5", "messages of the source", reads.processed)
    recorded = {queue.topic for queue in history.source}
    for topic in sorted({queue.topic for queue in tenures.by_queue} - recorded):
        docket.excuse("S5", f"{topic} was not recorded (--source): its messages inside a tenure")
    missed: dict[str, int] = {}
    for name in reads.missed:
        queue = name.rpartition("@")[0]
        missed[queue] = missed.get(queue, 0) + 1
    for queue, number in sorted(missed.items()):
        first = next(name for name in reads.missed if name.startswith(f"{queue}@"))
        docket.find("S5", f"{queue}: {number} messages were never processed, the first is {first}")
    for forged in reads.forged:
        docket.find("S5", forged)


def _place(report: ProgressReport) -> str:
    return f"{report.source[0]}/{report.source[1]}@{report.source_offset}"


def _start(tenure: Tenure) -> Evidence:
    text = f"START {tenure.queue} epoch {tenure.epoch} offset {tenure.start_offset}"
    return Evidence(f"journal of {tenure.client_id}", f"{text} at {tenure.begin_ns} ns")
