"""Two clients and one queue, as journals tell of them, before the judge."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairlead.core.model import Epoch
from fairlead.verify.history import (
    Consumed,
    GrantKey,
    History,
    Journal,
    JournalRecord,
    ProgressReport,
    Start,
    StepRecord,
    Stop,
)
from fairlead.verify.journals_judge import judge_journals
from fairlead.verify.tenures import read_tenures
from fairlead.verify.verdicts import Verdicts
from fairlead.wire.decision_records import MoveRecord
from tests.kit.decisions import decision_of, move_of
from tests.kit.recorded_history import queue

QUEUE = queue(0)


FIRST, SECOND, THIRD = Epoch(1, 1), Epoch(1, 2), Epoch(1, 3)


SOURCE = ("t.heartbeats", 0)


def start(epoch: Epoch, offset: int, t: int) -> Start:
    """START."""
    return Start(QUEUE, epoch, offset, t)


def stop(epoch: Epoch, offset: int, t: int) -> Stop:
    """STOP."""
    return Stop(QUEUE, epoch, offset, t)


def done(*offsets: int, t: int) -> list[Consumed]:
    """Messages processed at one moment."""
    return [Consumed(QUEUE, offset, offset, t) for offset in offsets]


@dataclass
class Scene:
    """Two clients and one queue; ``progress`` is what the engine had read of the first's work."""

    journals: list[Journal] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    lapsed: set[GrantKey] = field(default_factory=set)
    progress: list[tuple[str, Epoch, int]] = field(default_factory=list)
    grants: list[tuple[str, Epoch, int]] = field(default_factory=list)
    source: Iterable[int] = ()
    lives: dict[Epoch, str] = field(default_factory=dict)

    def write(self, client_id: str, *records: JournalRecord, pid: int | None = None) -> "Scene":
        """A process writes a journal; what it starts was granted."""
        begun = records[0].t_ns - 1 if records else None
        self.journals.append(Journal(client_id, records, (), pid, begun))
        self.grants += [
            (client_id, each.epoch, each.offset) for each in records if isinstance(each, Start)
        ]
        return self

    def judge(self) -> tuple[tuple[str, ...], str, dict[str, int]]:
        """Return what is broken, every finding, and the counts."""
        decisions = tuple(
            decision_of(epoch, [self._granted(client_id, epoch, offset)], read={SOURCE: 100})
            for client_id, epoch, offset in self.grants
        )
        history = History(
            journals=self.journals,
            steps=self.steps,
            source={QUEUE: dict.fromkeys(self.source)} if self.source else {},
            decisions=decisions,
            grants=frozenset((QUEUE, client_id, epoch) for client_id, epoch, _ in self.grants),
            identities={(QUEUE, epoch): life for epoch, life in self.lives.items()},
            progress=tuple(
                ProgressReport(SOURCE, 1, client_id, QUEUE, epoch, offset)
                for client_id, epoch, offset in self.progress
            ),
        )
        verdicts = Verdicts()
        tenures = read_tenures(self.journals, self.steps, self.lapsed)
        counts = judge_journals(history, tenures, verdicts)
        rulings = verdicts.rulings()
        told = [found.text for each in rulings for found in each.findings]
        told += [each.reason for each in rulings]
        broken = tuple(each.number for each in rulings if each.outcome == "broken")
        return broken, "\n".join(told), counts

    @staticmethod
    def _granted(client_id: str, epoch: Epoch, offset: int) -> MoveRecord:
        return move_of(QUEUE, "granted", client_id, epoch, offset, "release")


LIVES = {FIRST: "old", SECOND: "new", THIRD: "new"}


def recreated(*, again: range = range(2, 4), last: int = 4, lives: bool = True) -> Scene:
    """A and B read the old life up to 6, then the new one: A up to 2, and B the rest up to 4."""
    scene = Scene(source=range(4), lives=dict(LIVES) if lives else {})
    scene.write(
        "a",
        start(FIRST, 0, 10),
        *done(*range(7), t=15),
        stop(FIRST, 7, 20),
        start(SECOND, 0, 30),
        *done(0, 1, t=35),
        stop(SECOND, 2, 40),
    )
    scene.write("b", start(THIRD, again.start, 50), *done(*again, t=55), stop(THIRD, last, 60))
    return scene
