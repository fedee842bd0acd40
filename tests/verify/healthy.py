"""Healthy runs, recorded from real processes by the foreign harness; and what is planted in them.

``healthy_runs.tar.gz`` was made by ``tests.verify.foreign.harness``. What another version of the
engine decided is not run again here: that it comes out the same is another test's matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.recording import RecordingFolder, open_recording
from fairlead.verify.conservation import read_letters
from fairlead.verify.evidence import history_of
from fairlead.verify.fault_log import read_faults
from fairlead.verify.history import GrantKey, History, Journal, JournalRecord, StepRecord
from fairlead.verify.journal import read_journals
from fairlead.verify.journals_judge import judge_journals
from fairlead.verify.judgement import lapsed_grants, source_offsets
from fairlead.verify.replaying import drivers_of
from fairlead.verify.tenures import Tenures, read_tenures
from fairlead.verify.verdicts import Verdicts
from fairlead.verify.walk import Walk
from strategies.registry import STRATEGIES
from tests.kit.unpacking import unpack_archive

__all__ = ["GROUPS", "Case", "Judged", "Runs", "unpack"]

_ARCHIVE: Final = Path(__file__).with_name("healthy_runs.tar.gz")

GROUPS: Final = (
    "restarted",
    "frozen",
    "failing",
    "sending-back",
    "batches",
    "early",
    "back-and-forth",
    "lease-lost",
)


def unpack(folder: Path) -> Path:
    """Unpack the runs into a folder, and return it."""
    unpack_archive(_ARCHIVE, folder)
    return folder


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of journals: the numbers of the invariants, the sentences, the counts."""

    broken: tuple[str, ...]
    told: str
    counts: dict[str, int]
    excuses: str


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence of one group. Edits return another one, in which something is planted."""

    group: str
    history: History
    lapsed: frozenset[GrantKey]

    @property
    def tenures(self) -> Tenures:
        """Who worked on what."""
        return read_tenures(self.history.journals, self.history.steps, self.lapsed)

    def judge(self) -> Judged:
        """Judge the journals beside the topics."""
        verdicts = Verdicts()
        counts = judge_journals(self.history, self.tenures, verdicts)
        rulings = verdicts.rulings()
        return Judged(
            tuple(each.number for each in rulings if each.outcome == "broken"),
            "\n".join(found.text for each in rulings for found in each.findings),
            counts,
            "\n".join(each.reason for each in rulings),
        )

    def steps(self, edit: Callable[[StepRecord], StepRecord | None]) -> "Case":
        """Return it with another fault log: None leaves a line out."""
        steps = tuple(after for step in self.history.steps if (after := edit(step)) is not None)
        return replace(self, history=replace(self.history, steps=steps))

    def lines(
        self, process: int, edit: Callable[[JournalRecord], Sequence[JournalRecord]]
    ) -> "Case":
        """Return it with another journal of one process: each line becomes these lines."""

        def edited(number: int, journal: Journal) -> Journal:
            if number != process:
                return journal
            records = tuple(after for record in journal.records for after in edit(record))
            return replace(journal, records=records)

        journals = tuple(edited(*each) for each in enumerate(self.history.journals))
        return replace(self, history=replace(self.history, journals=journals))

    def process(self, client_id: str, nth: int = 0) -> int:
        """Return which journal is of the nth process of a client."""
        found = [
            (journal.begun_ns or 0, number)
            for number, journal in enumerate(self.history.journals)
            if journal.client_id == client_id
        ]
        return sorted(found)[nth][1]


class Runs:
    """The recorded runs: read once, judged group by group."""

    def __init__(self, folder: Path) -> None:
        """Walk through the topics."""
        self.folder = folder
        self.recording: RecordingFolder = open_recording(folder / "recording")
        self.verdicts = Verdicts()
        drivers = drivers_of(self.recording, STRATEGIES, None)
        self._refused = read_letters(self.recording, self.verdicts).reasons
        self._walk = Walk(self.recording, drivers, self.verdicts, self._refused)
        self._walk.run(())

    def case(self, group: str) -> Case:
        """Return the evidence of one group."""
        journals = read_journals(self.folder / group / "journals")
        steps = read_faults(self.folder / group / "faults.jsonl")
        lapsed = lapsed_grants(self._walk, group)
        queues: list[MessageQueue] = list(read_tenures(journals, steps, lapsed).by_queue)
        # Who has left does not process what is sent afterwards, to the groups that run then.
        done = read_tenures(journals, steps, lapsed).by_queue
        processed = {
            queue: {each.offset for tenure in found for each in tenure.consumed}
            for queue, found in done.items()
        }
        source = {
            queue: {
                offset: number
                for offset, number in offsets.items()
                if offset < (done[queue][-1].stop_offset or 0) or offset in processed[queue]
            }
            for queue, offsets in source_offsets(self.recording, queues).items()
            if queue in done
        }
        told = journals, steps
        history = history_of(self.recording, group, *told, source, refused=self._refused)
        return Case(group, history, lapsed)
