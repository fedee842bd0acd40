"""Recorded runs in which nobody did wrong are not accused; what is planted in them is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from fairlead.verify.history import (
    ClientFrozen,
    ClientKilled,
    Committed,
    Consumed,
    JournalRecord,
    Passed,
    Stop,
)
from fairlead.verify.judgement import judge_recording
from strategies.registry import STRATEGIES
from tests.verify.healthy import GROUPS, Case, Runs, unpack

_BY_VERSION: Final = {"S6", "S7", "S13"}
"""Of a replay, which another version of the engine may answer otherwise."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The recorded runs."""
    return Runs(unpack(tmp_path_factory.mktemp("healthy")))


@pytest.mark.parametrize("group", GROUPS)
def test_a_healthy_run_breaks_nothing(runs: Runs, group: str) -> None:
    """The journals of a healthy run break nothing."""
    judged = runs.case(group).judge()
    assert judged.broken == (), judged.told
    assert judged.counts["messages_processed"] > 10


def test_topics_not_accused(runs: Runs) -> None:
    """Nor do the topics of all of them."""
    judgement = judge_recording(runs.recording, STRATEGIES)
    assert set(judgement.broken) <= _BY_VERSION
    assert judgement.nothing == ""


def test_they_show_it(runs: Runs) -> None:
    """The runs have in them what healthy runs were accused of."""
    counts = {group: runs.case(group).judge() for group in GROUPS}
    assert counts["frozen"].counts["duplicates_lease_lost"] > 0
    assert counts["failing"].counts["duplicates_unfinished"] > 0
    assert counts["batches"].counts["duplicates_unfinished"] > 0
    assert "ghost was killed before its first line" in counts["early"].excuses
    assert any(isinstance(each, Passed) for each in _lines(runs.case("sending-back")))
    assert len(runs.case("restarted").history.journals) == 4


def _lines(case: Case) -> list[JournalRecord]:
    return [each for journal in case.history.journals for each in journal.records]


def _nobody_died(case: Case) -> Case:
    return case.steps(lambda step: None if isinstance(step, ClientKilled) else step)


def _died_late(case: Case) -> Case:
    late = 60_000_000_000
    return case.steps(
        lambda step: (
            replace(step, dead_ns=step.dead_ns + late) if isinstance(step, ClientKilled) else step
        )
    )


def _never_stood(case: Case) -> Case:
    return case.steps(lambda step: None if isinstance(step, ClientFrozen) else step)


def _went_on(case: Case) -> Case:
    """The process that stood still processes one more message before it stops."""
    freeze = next(step for step in case.history.steps if isinstance(step, ClientFrozen))

    def edit(record: JournalRecord) -> list[JournalRecord]:
        if isinstance(record, Stop) and record.t_ns > freeze.end_ns:
            work = Consumed(record.queue, record.offset, 1, record.t_ns)
            return [work, replace(record, offset=record.offset + 1)]
        return [record]

    return case.lines(case.process("a"), edit)


def _no_lapse(case: Case) -> Case:
    return replace(case, lapsed=frozenset())


def _read_before(case: Case) -> Case:
    """The engine had read all that was processed before the lease ended."""
    told = {
        tenure.key: tenure.frontier for found in case.tenures.by_queue.values() for tenure in found
    }
    progress = tuple(
        replace(each, offset=told.get((each.queue, each.client_id, each.epoch), each.offset))
        for each in case.history.progress
    )
    return replace(case, history=replace(case.history, progress=progress))


def _all_committed(case: Case) -> Case:
    """The client that left in the middle of a batch had committed it."""

    def edit(record: JournalRecord) -> list[JournalRecord]:
        if isinstance(record, Stop):
            return [Committed(record.queue, record.offset + 1_000, record.t_ns), record]
        return [record]

    return case.lines(case.process("a"), edit)


def _released_lower(case: Case) -> Case:
    """A client releases below what it had finished."""

    def edit(record: JournalRecord) -> list[JournalRecord]:
        if isinstance(record, Stop) and record.offset > 0:
            return [replace(record, offset=record.offset - 1)]
        return [record]

    return case.lines(case.process("a"), edit)


def _nothing_passed(case: Case) -> Case:
    edited = case
    for process in range(len(case.history.journals)):
        edited = edited.lines(process, lambda each: [] if isinstance(each, Passed) else [each])
    return edited


def _journal_lost(case: Case) -> Case:
    journals = [each for each in case.history.journals if each.client_id != "b"]
    steps = [*case.history.steps, ClientKilled("b", 2**62, 2**62)]
    return replace(case, history=replace(case.history, journals=journals, steps=steps))


def _living_journal_lost(case: Case) -> Case:
    journals = [each for each in case.history.journals if each.client_id != "z"]
    assert len(journals) < len(case.history.journals)
    return replace(case, history=replace(case.history, journals=journals))


def _tenure_lost(case: Case) -> Case:
    """A client that lives wrote nothing of one of its grants."""
    process, lost = next(
        (process, tenure)
        for process, journal in enumerate(case.history.journals)
        for found in case.tenures.by_queue.values()
        for tenure in found
        if tenure.client_id == journal.client_id and len(tenure.consumed) > 10
    )

    def edit(record: JournalRecord) -> list[JournalRecord]:
        ended_ns = lost.end_ns or record.t_ns
        of_it = record.queue == lost.queue and lost.begin_ns <= record.t_ns <= ended_ns
        return [] if of_it else [record]

    return case.lines(process, edit)


TWINS: Final[dict[str, tuple[str, Callable[[Case], Case], str]]] = {
    "nobody died": ("restarted", _nobody_died, "S1"),
    "died after its successor began": ("restarted", _died_late, "S1"),
    "nobody stood still": ("frozen", _never_stood, "S1"),
    "went on after it stood": ("frozen", _went_on, "S1"),
    "stood, and its grant did not lapse": ("frozen", _no_lapse, "S1"),
    "no lease was lost": ("frozen", _no_lapse, "S5"),
    "what the engine had read is read again": ("frozen", _read_before, "S5"),
    "released below what was finished": ("failing", _released_lower, "S1"),
    "what was sent back is nowhere": ("sending-back", _nothing_passed, "S1"),
    "a committed batch is released below": ("batches", _all_committed, "S5"),
    "the journal of a worker is lost": ("early", _journal_lost, "S1"),
    "the journal of who lives is lost": ("back-and-forth", _living_journal_lost, "S1"),
    "a grant has no line": ("back-and-forth", _tenure_lost, "S1"),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_planted_violation_is_found(runs: Runs, name: str) -> None:
    """The real violation, planted in the healthy run, is found by its invariant."""
    group, plant, number = TWINS[name]
    judged = plant(runs.case(group)).judge()
    assert number in judged.broken, judged.told
