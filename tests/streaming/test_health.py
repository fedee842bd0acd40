"""What the engine says that it is doing: it knows a stalled query from a slow one."""

from collections.abc import Callable

import pytest

from fairlead.errors import QueryDiedError, SupersededError
from streaming.health import Health, Patience


class World:
    """A health on a clock that the test moves; a broker takes ticks until it goes away."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.shards = 0
        self.has_broker = True
        self.ticked_at: float | None = None
        self.health = Health(Patience(), clock=lambda: self.now, recovering=lambda: self.shards)

    def claim(self) -> None:
        """Claim a generation."""
        self.health.claimed(3, lambda: self.ticked_at)

    def live(self, seconds: int, sign: Callable[[int], object] = lambda _: None) -> None:
        """Let time pass; the JVM answers each second, with a sign if it is asked for one."""
        for second in range(seconds):
            self.now += 1
            if self.has_broker:
                self.ticked_at = self.now
            wanted = self.health.wants_sign
            self.health.note_answer(sign(second) if wanted else None)

    @property
    def state(self) -> str:
        """The verdict's word."""
        return self.health.verdict().state


@pytest.fixture
def world() -> World:
    """A driver that has claimed a generation and committed a batch."""
    made = World()
    made.claim()
    made.live(1)
    made.health.committed()
    return made


def test_before_the_first_batch_the_reason_says_how_far() -> None:
    """Until a batch is committed nothing is decided, and the reason says how far it is."""
    world = World()
    assert (world.state, world.health.verdict().ready) == ("starting", False)
    assert "no generation is claimed" in world.health.verdict().reason
    world.claim()
    world.live(20, sign=lambda second: second)
    assert "no batch committed yet" in world.health.verdict().reason
    world.health.committed()
    found = world.health.verdict()
    assert (found.state, found.ready, found.generation) == ("running", True, 3)
    assert found.started_seconds == 20
    assert found.last_batch_seconds == 0


def test_a_long_start_is_not_silent() -> None:
    """Before the query runs nobody asks the JVM, so it is not silent; a broker may be awaited."""
    world = World()
    world.claim()
    for seconds, state in ((5, "starting"), (6, "waiting_for_broker"), (300, "waiting_for_broker")):
        world.now += seconds
        assert (world.state, world.health.verdict().ready) == (state, False)
    world.ticked_at = world.now
    assert world.state == "starting"
    assert "claimed 311 s ago" in world.health.verdict().reason
    world.live(1)
    assert world.state == "starting", "the pulse has begun: no batch has stood still so far"
    world.live(70, sign=lambda _: "the same")
    assert world.state == "stalled"
    world.now += 11
    assert "the JVM has not answered for 11 s" in world.health.verdict().reason


def test_a_long_batch_whose_tasks_end_is_slow_and_ready(world: World) -> None:
    """A long batch whose tasks end is slow however long it takes, and goes on being ready."""
    world.live(600, sign=lambda second: second // 50)
    assert world.state == "slow"
    assert world.health.verdict().ready
    assert "taken 600 s so far" in world.health.verdict().reason
    world.health.committed()
    assert world.state == "running"


def test_a_batch_that_stands_is_stalled_after_a_minute(world: World) -> None:
    """A batch without any progress is slow at first, and stalled after a minute."""
    world.live(50, sign=lambda _: "the same")
    assert world.state == "slow"
    world.live(30, sign=lambda _: "the same")
    found = world.health.verdict()
    assert (found.state, found.ready) == ("stalled", False)
    assert "no task succeeded, although a broker accepts ticks" in found.reason


def test_waits_for_the_broker(world: World) -> None:
    """Without a broker nothing moves either, but that is no stall, however long it lasts."""
    world.has_broker = False
    world.live(15)
    assert world.state == "waiting_for_broker"
    world.live(300)
    found = world.health.verdict()
    assert (found.state, found.ready) == ("waiting_for_broker", False)
    assert found.last_tick_seconds == 315
    world.has_broker = True
    world.live(1)
    world.health.committed()
    assert world.state == "running"


def test_a_silent_jvm_is_stalled(world: World) -> None:
    """A JVM that answers nothing is stalled, whether or not ticks go through."""
    world.now += 15
    world.ticked_at = world.now
    found = world.health.verdict()
    assert found.state == "stalled"
    assert "the JVM has not answered for 15 s" in found.reason


def test_a_recovering_engine_is_ready(world: World) -> None:
    """What recovers does not move, and the rest does: that is ready, and is said."""
    world.shards = 2
    found = world.health.verdict()
    assert (found.state, found.ready, found.recovering_shards) == ("recovering", True, 2)


@pytest.mark.parametrize(
    "error, state, reason",
    [
        (None, "stopping", "asked to stop"),
        (SupersededError("generation 4 is newer than 3"), "superseded", "generation 4"),
        (QueryDiedError("the streaming query ended: x"), "dead", "the streaming query ended: x"),
        (KeyError("defect"), "dead", "KeyError: 'defect'"),
    ],
)
def test_the_end_has_a_reason(
    world: World, error: Exception | None, state: str, reason: str
) -> None:
    """The end has a reason too; a stop that follows an error does not hide it."""
    world.health.ended(error)
    world.health.ended(None)
    found = world.health.verdict()
    assert (found.state, found.ready) == (state, False)
    assert reason in found.reason


def test_a_query_that_rests_is_not_slow() -> None:
    """A query that rests by its settings is not slow for that."""
    patience = Patience().between(60)
    assert (patience.slow_seconds, patience.stalled_seconds, patience.broker_seconds) == (
        70,
        120,
        70,
    )
