"""The judge passes a sound history and fails every forged one, naming what is wrong."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fairlead_proof.demo.judge import STEPS, Requirements, _every_step, judge
from fairlead_proof.demo.memory import MemoryUse
from fairlead_proof.demo.verdict import Check, StepOutcome, Verdict

from fairlead.core.model import Epoch
from fairlead.verify.history import (
    Closing,
    Consumed,
    History,
    Journal,
    JournalRecord,
    Start,
    StepBegun,
    Stop,
)
from tests.kit.recorded_history import (
    BARE,
    MESSAGES,
    MILLISECOND,
    QUEUES,
    SMALL,
    queue,
    sound_history,
    with_journal,
    without_moves,
)


def _check(verdict: Verdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)


def _consumed(record: JournalRecord, number: int, offset: int) -> bool:
    return (
        isinstance(record, Consumed) and record.queue == queue(number) and record.offset == offset
    )


def test_a_sound_history_passes_every_requirement() -> None:
    """A history of the whole script without a fault passes every requirement."""
    verdict = judge(sound_history(), SMALL)
    assert verdict.failed() == ()
    assert verdict.passed
    assert verdict.messages == QUEUES * MESSAGES
    assert [step.name for step in verdict.steps] == list(STEPS)
    assert [step.moved for step in verdict.steps] == [6, 2, 2, 3, 2, 1]
    assert [step.moved_by_avg for step in verdict.steps] == [6, 3, 3, 3, 2, 4]


def test_the_same_history_gives_the_same_verdict() -> None:
    """The same history gives the same verdict."""
    assert judge(sound_history(), SMALL) == judge(sound_history(), SMALL)


def test_an_empty_history_fails() -> None:
    """An empty history is no success: it fails, and says what is missing."""
    verdict = judge(History())
    assert not verdict.passed
    assert "history is not empty" in verdict.failed()
    assert "no journals" in _check(verdict, "history is not empty").findings


@pytest.mark.parametrize(
    "missing", ["journals", "steps", "source", "decisions", "grants"], ids=lambda name: f"no_{name}"
)
def test_a_history_without_one_kind_of_evidence_fails(missing: str) -> None:
    """A history without one kind of evidence fails, whatever the others say."""
    empty: object = {} if missing == "source" else ()
    verdict = judge(replace(sound_history(), **{missing: empty}), SMALL)  # type: ignore[arg-type]
    assert "history is not empty" in verdict.failed()


def test_two_owners_for_two_milliseconds_are_found() -> None:
    """One owner that stops two milliseconds after its successor started: two owners at once."""

    def late(record: JournalRecord) -> Sequence[JournalRecord]:
        if isinstance(record, Stop) and record.queue == queue(2):
            return (replace(record, t_ns=record.t_ns + 2 * MILLISECOND),)
        return (record,)

    verdict = judge(with_journal(sound_history(), "a", late), SMALL)
    check = _check(verdict, "two owners at once")
    assert not check.passed
    assert check.measured == "1"
    assert "for 1.000 ms" in check.findings[0]
    assert "by a" in check.findings[1]
    assert "+0.000 ms START orders/main/2" in check.findings[2]
    assert "STOP" in check.findings[3]


def test_of_two_overlaps_the_shorter_is_shown() -> None:
    """Of two overlaps the shorter is shown, by the first sign of life of the earlier owner."""

    def never(record: JournalRecord) -> Sequence[JournalRecord]:
        if isinstance(record, Stop) and record.queue in (queue(0), queue(1)):
            extra = Consumed(record.queue, record.offset, 1000 + record.offset, record.t_ns)
            later = 9 * MILLISECOND if record.queue == queue(0) else 5 * MILLISECOND
            return (
                replace(extra, t_ns=record.t_ns + later - MILLISECOND),
                replace(record, t_ns=record.t_ns + later, offset=record.offset + 1),
            )
        return (record,)

    verdict = judge(with_journal(sound_history(), "a", never), SMALL)
    check = _check(verdict, "two owners at once")
    assert check.measured == "2"
    assert "orders/main/1" in check.findings[1]
    assert "CONSUMED orders/main/1" in check.findings[3]
    assert "read twice on clean moves" in verdict.failed()


def test_a_missed_message_is_named() -> None:
    """A message of the source that nobody processed is missed, and named."""

    def skip(record: JournalRecord) -> Sequence[JournalRecord]:
        return () if _consumed(record, 7, 1) else (record,)

    verdict = judge(with_journal(sound_history(), "c", skip), SMALL)
    check = _check(verdict, "messages missed")
    assert (check.passed, check.measured) == (False, "1")
    assert check.findings == ("orders/main/7@1",)


def test_messages_after_the_last_stop_are_missed() -> None:
    """The source is the measure: messages that arrived after the consumers stopped are missed."""
    history = sound_history()
    longer = {**history.source, queue(3): {**history.source[queue(3)], MESSAGES: 1000 + MESSAGES}}
    verdict = judge(replace(history, source=longer), SMALL)
    assert _check(verdict, "messages missed").findings == (f"orders/main/3@{MESSAGES}",)


def test_duplicate_on_clean_move() -> None:
    """A successor of a clean move that reads the last message once more reads it twice."""

    def again(record: JournalRecord) -> Sequence[JournalRecord]:
        if isinstance(record, Start) and record.queue == queue(2):
            before = record.offset - 1
            repeat = Consumed(record.queue, before, 1000 + before, record.t_ns)
            return (replace(record, offset=before), repeat)
        return (record,)

    verdict = judge(with_journal(sound_history(), "c", again), SMALL)
    check = _check(verdict, "read twice on clean moves")
    assert (check.passed, check.measured) == (False, "1")
    assert "orders/main/2@2 by a under 1.3 (stopped), again by c" in check.findings[0]
    assert verdict.failed() == ("read twice on clean moves",)


def test_one_owner_that_reads_twice_is_found() -> None:
    """One owner that processes a message twice reads it twice, also if it is killed later."""

    def twice(record: JournalRecord) -> Sequence[JournalRecord]:
        return (record, record) if _consumed(record, 3, 8) else (record,)

    verdict = judge(with_journal(sound_history(), "b", twice), SMALL)
    assert _check(verdict, "read twice on clean moves").measured == "1"


def test_a_queue_without_work_fails_the_run() -> None:
    """A queue without a processed message fails the run, also as the only fault."""
    history = sound_history()
    grown = {**history.source, queue(QUEUES): {}}
    verdict = judge(replace(history, source=grown), SMALL)
    check = _check(verdict, "queues consumed")
    assert (check.passed, check.measured) == (False, str(QUEUES))
    assert check.findings == (f"orders/main/{QUEUES}",)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_moved_nothing_fails_the_run(name: str) -> None:
    """A step that moved no queue proves nothing, and fails the run."""
    verdict = judge(without_moves(sound_history(), name), SMALL)
    check = _check(verdict, "queues moved per step")
    assert not check.passed
    assert f"{name} moved no queue" in check.findings


def test_many_steps_are_told_in_few_words() -> None:
    """The report lists up to eight, of more the least and the most; the judge judges each."""

    def told(*moved: int) -> Check:
        steps = [
            StepOutcome(f"step-{number}", each, 1.0, (), 0) for number, each in enumerate(moved)
        ]
        return _every_step(steps, replace(SMALL, steps=tuple(step.name for step in steps)))

    assert told(32, 4, 4, 4, 4, 4, 4, 4).measured == "32, 4, 4, 4, 4, 4, 4, 4"
    assert told(32, 4, 4, 4, 5, 4, 4, 4, 4).measured == "4 to 32 in 9 steps"
    assert told(32, 4, 4, 4, 0, 4, 4, 4, 4).findings == ("step-4 moved no queue",)


def test_a_script_without_a_step_fails() -> None:
    """A script that left out a step fails."""
    history = sound_history()
    steps = [s for s in history.steps if not (isinstance(s, StepBegun) and s.name == "grow")]
    verdict = judge(replace(history, steps=tuple(steps)), SMALL)
    assert "queues moved per step" in verdict.failed()


def test_a_step_that_leaves_a_queue_unowned_fails_the_run() -> None:
    """A queue without owner at the end of a step fails the run: the step never converged."""
    history = sound_history()
    steps = [
        Closing(record.t_ns - 2 * MILLISECOND) if isinstance(record, Closing) else record
        for record in history.steps
    ]
    verdict = judge(replace(history, steps=tuple(steps)), SMALL)
    check = _check(verdict, "queues moved per step")
    assert "engine_kill left 1 queues without owner: orders/main/0" in check.findings


def test_convergence_ends_with_the_last_start_of_a_moved_queue() -> None:
    """The time to converge runs from the event to the last start of a queue that moved."""
    verdict = judge(sound_history(), SMALL)
    assert [step.converged_ms for step in verdict.steps] == [6.0, 4.0, 4.0, 6.0, 2.0, 4.0]


def test_a_run_of_too_few_messages_fails() -> None:
    """A run below the demanded number of messages fails, however clean it was."""
    verdict = judge(sound_history(), replace(SMALL, messages=QUEUES * MESSAGES + 1))
    assert verdict.failed() == ("messages went through",)
    assert Requirements().messages == 10_000


@pytest.mark.parametrize("mib, failed", [(4_096, ()), (4_097, ("memory of all processes",))])
def test_a_run_that_needed_too_much_memory_fails(mib: int, failed: tuple[str, ...]) -> None:
    """A run whose processes needed more than 4 GiB together fails, however clean it was."""
    use = MemoryUse(mib * 2**20, processes=21, looks=80, broken_off=1)
    verdict = judge(sound_history(), SMALL, use)
    check = _check(verdict, "memory of all processes")
    assert (check.measured, check.required) == (f"{mib:,} MiB", "at most 4,096 MiB")
    assert check.findings[0] == "21 processes at the greatest of 80 looks"
    assert "1 of them broken off" in check.findings[1]
    assert verdict.failed() == failed
    assert verdict.memory_mib == mib


def test_memory_that_was_not_measured_fails_no_run() -> None:
    """A run whose memory could not be measured says so, and does not fail for it."""
    check = _check(judge(sound_history(), SMALL), "memory of all processes")
    assert (check.passed, check.measured) == (True, "not measured")


def test_open_start_is_open() -> None:
    """Work that nobody stopped and no death ended goes on: the next owner is a second one."""

    def unstopped(record: JournalRecord) -> Sequence[JournalRecord]:
        return () if isinstance(record, Stop) and record.queue == queue(1) else (record,)

    verdict = judge(with_journal(sound_history(), "a", unstopped), SMALL)
    check = _check(verdict, "two owners at once")
    assert (check.passed, check.measured) == (False, "1")
    assert "a never stopped orders/main/1" in check.findings[3]


def test_work_after_a_stop_is_found() -> None:
    """A message processed after the stop is work on a queue of somebody else."""

    def after(record: JournalRecord) -> Sequence[JournalRecord]:
        if isinstance(record, Stop) and record.queue == queue(2):
            return (record, Consumed(record.queue, 4, 1004, record.t_ns + 3 * MILLISECOND))
        return (record,)

    verdict = judge(with_journal(sound_history(), "a", after), SMALL)
    assert "two owners at once" in verdict.failed()
    assert any(
        "without being owned" in f for f in _check(verdict, "flaws in the journals").findings
    )


def test_a_start_without_a_grant_is_found() -> None:
    """A client that starts what was not granted to it fails the run."""
    history = sound_history()
    verdict = judge(replace(history, grants=history.grants - {BARE}), SMALL)
    check = _check(verdict, "starts that were not granted")
    assert check.findings == ("orders/main/0 by a under 1.1",)


@pytest.mark.parametrize(
    "offset, number, flaw",
    [(500, 1500, "but not in the source"), (19, 7, "1019 in the source")],
)
def test_a_forged_message_is_a_flaw(offset: int, number: int, flaw: str) -> None:
    """A message that the source does not hold, or holds with another number, is a flaw."""

    def forge(record: JournalRecord) -> Sequence[JournalRecord]:
        if _consumed(record, 0, MESSAGES - 1):
            assert isinstance(record, Consumed)
            return (replace(record, offset=offset, number=number),)
        return (record,)

    verdict = judge(with_journal(sound_history(), "d", forge), SMALL)
    assert any(flaw in f for f in _check(verdict, "flaws in the journals").findings)


def test_findings_are_few() -> None:
    """A report names the first findings and counts the others."""
    verdict = judge(replace(sound_history(), journals=(Journal("a", ()),)), SMALL)
    findings = _check(verdict, "messages missed").findings
    assert len(findings) == 9
    assert findings[-1] == f"and {QUEUES * MESSAGES - 8} more"


def test_a_stop_under_another_epoch_is_a_flaw() -> None:
    """A stop under another epoch than the start's, or at another offset, is a flaw."""

    def other(record: JournalRecord) -> Sequence[JournalRecord]:
        if isinstance(record, Stop) and record.queue == queue(2):
            return (replace(record, epoch=Epoch(9, 9), offset=0),)
        return (record,)

    verdict = judge(with_journal(sound_history(), "a", other), SMALL)
    flaws = _check(verdict, "flaws in the journals").findings
    assert any("stopped under 9.9" in flaw for flaw in flaws)
    assert any("was released at 0, but worked on up to 3" in flaw for flaw in flaws)
