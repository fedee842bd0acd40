"""The judge on deaths: what a kill excuses, what it does not, and what it must have met."""

from collections.abc import Sequence
from dataclasses import replace

from fairlead_proof.demo.judge import Requirements, judge
from fairlead_proof.demo.verdict import Check, Verdict

from fairlead.verify.history import (
    ClientKilled,
    Consumed,
    EngineKilled,
    Held,
    JournalRecord,
)
from tests.kit.recorded_history import (
    MILLISECOND,
    SMALL,
    queue,
    sound_history,
    with_journal,
)


def _check(verdict: Verdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)


def _consumed(record: JournalRecord, number: int, offset: int) -> bool:
    return (
        isinstance(record, Consumed) and record.queue == queue(number) and record.offset == offset
    )


def test_what_a_killed_client_did_may_be_read_twice() -> None:
    """What a killed client processed after its last progress may be read twice, and is counted."""
    verdict = judge(sound_history(), SMALL)
    (killed,) = verdict.killed
    assert killed.client_id == "b"
    assert killed.in_hand == "orders/main/4@9"
    by_queue = {q.queue: (q.progress, q.processed, q.granted, q.read_twice) for q in killed.queues}
    assert by_queue == {
        "orders/main/0": (6, 9, 6, 3),
        "orders/main/3": (6, 9, 6, 3),
        "orders/main/4": (6, 9, 6, 3),
    }
    assert (killed.read_twice, killed.at_most) == (9, 9)


def test_more_than_progress_read() -> None:
    """A progress that the engine had read forbids to read again what it covers."""
    history = sound_history()
    reports = tuple(
        replace(report, offset=8) if report.queue == queue(3) else report
        for report in history.progress
    )
    verdict = judge(replace(history, progress=reports), SMALL)
    check = _check(verdict, "read twice on kills")
    assert verdict.failed() == ("read twice on kills",)
    assert len([finding for finding in check.findings if "the engine had read 8" in finding]) == 2


def test_progress_not_yet_read() -> None:
    """A progress behind the cut of the granting decision does not count: it was not read."""
    history = sound_history()
    late = tuple(
        replace(report, offset=8, source_offset=10_000) if report.queue == queue(3) else report
        for report in history.progress
    )
    verdict = judge(replace(history, progress=(*history.progress, *late)), SMALL)
    assert verdict.passed


def test_killed_owned_too_few() -> None:
    """A killed client that owned fewer queues than demanded fails the run."""
    verdict = judge(sound_history(), replace(SMALL, killed_queues=4))
    check = _check(verdict, "queues of the killed")
    assert (check.passed, check.measured) == (False, "3")
    assert Requirements().killed_queues == 3


def test_a_client_killed_at_rest_fails_the_run() -> None:
    """A client killed between two messages was not killed in mid-processing, and fails the run."""

    def at_rest(record: JournalRecord) -> Sequence[JournalRecord]:
        return () if isinstance(record, Held) else (record,)

    verdict = judge(with_journal(sound_history(), "b", at_rest), SMALL)
    assert verdict.failed() == ("queues of the killed",)


def test_a_script_without_its_kill_fails() -> None:
    """A script without its kill fails, and the victim's open work is no longer excused."""
    history = sound_history()
    steps = tuple(s for s in history.steps if not isinstance(s, ClientKilled))
    verdict = judge(replace(history, steps=steps), SMALL)
    assert {"queues of the killed", "two owners at once", "flaws in the journals"} <= set(
        verdict.failed()
    )


def test_a_killed_client_owns_until_its_death_is_certain() -> None:
    """A killed client owns until its death is certain, not until its last record."""
    history = sound_history()
    steps = [
        replace(record, dead_ns=record.dead_ns + 3 * MILLISECOND)
        if isinstance(record, ClientKilled)
        else record
        for record in history.steps
    ]
    verdict = judge(replace(history, steps=tuple(steps)), SMALL)
    check = _check(verdict, "two owners at once")
    assert (check.passed, check.measured) == (False, "2")
    assert "killed" in check.findings[3]


def test_engine_kill_without_handover() -> None:
    """An engine killed when every drop was answered was not killed with a handover open."""
    history = sound_history()
    moved = tuple(
        replace(record, sent_ns=record.sent_ns + 9 * MILLISECOND, dead_ns=10**12)
        if isinstance(record, EngineKilled)
        else record
        for record in history.steps
    )
    verdict = judge(replace(history, steps=moved), SMALL)
    assert verdict.failed() == ("handovers open at the engine's death",)


def test_an_engine_without_a_successor_fails_the_run() -> None:
    """An engine without a successor that decides fails the run."""
    history = sound_history()
    decisions = tuple(
        replace(decision, cut=replace(decision.cut, generation=1)) for decision in history.decisions
    )
    verdict = judge(replace(history, decisions=decisions), SMALL)
    check = _check(verdict, "handovers open at the engine's death")
    assert "the engine of generation 1 has no successor that decided" in check.findings


def test_a_script_that_spares_the_engine_fails() -> None:
    """A script that spares the engine fails."""
    history = sound_history()
    steps = tuple(s for s in history.steps if not isinstance(s, EngineKilled))
    verdict = judge(replace(history, steps=steps), SMALL)
    check = _check(verdict, "handovers open at the engine's death")
    assert check.findings == ("the engine was not killed",)


def test_journal_of_killed_missing() -> None:
    """A killed client without a journal fails: its evidence is lost."""
    history = sound_history()
    journals = tuple(j for j in history.journals if j.client_id != "b")
    verdict = judge(replace(history, journals=journals), SMALL)
    flaws = _check(verdict, "flaws in the journals").findings
    assert "b was killed, but there is no journal of it" in flaws
