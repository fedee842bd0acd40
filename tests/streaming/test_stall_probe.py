"""What a long batch shows of itself: tasks that end well are progress, failed tries are not."""

from types import SimpleNamespace
from typing import Any

from streaming.health import Health, Patience
from streaming.stall_probe import StallProbe


class Batch:
    """A batch that takes long: one stage, whose numbers the test sets; a broker takes ticks."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stage = SimpleNamespace(stageId=5, numCompletedTasks=3, numFailedTasks=0)
        tracker = SimpleNamespace(
            getActiveStageIds=lambda: [5, 6], getStageInfo={5: self.stage, 6: None}.__getitem__
        )
        spark: Any = SimpleNamespace(
            sparkContext=SimpleNamespace(statusTracker=lambda: tracker),
        )
        checkpoint: Any = SimpleNamespace(newest_plan=lambda: 17)
        self.looks = 0
        self.health = Health(Patience(), clock=lambda: self.now)
        self.health.claimed(3, lambda: self.now)
        self.health.committed()
        self.probe = StallProbe(self.health, checkpoint, spark, self.look)

    def look(self) -> None:
        """Count that somebody was to look up what failed."""
        self.looks += 1

    def live(self, *, completed: int, failed: int) -> str:
        """Let so many tasks end well or badly, one a minute or so; return the state after that."""
        for _ in range(completed + failed):
            self.stage.numCompletedTasks += completed > 0
            self.stage.numFailedTasks += failed > 0
            for _ in range(50):
                self.now += 1
                self.probe.check()
        return self.health.verdict().state


def test_failing_tries_are_stalled_after_twenty_minutes() -> None:
    """Twenty minutes of tasks that end are slow; of tries that fail, stalled, and looked up."""
    batch = Batch()
    assert batch.live(completed=24, failed=0) == "slow"
    assert batch.looks == 0
    assert batch.live(completed=0, failed=24) == "stalled"
    assert batch.looks == 24, "once for each change, however often the pulse is felt"
