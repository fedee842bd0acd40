"""Whether the engine does its work: what `/readyz` says, and why.

A stalled query and a slow one look alike from outside: no batch is committed. They differ in what
moves meanwhile. A slow batch finishes tasks; one that waits for a broker has ticks that nobody
takes; of a stalled one nothing moves at all, or its JVM does not even answer.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, Literal

from fairlead.errors import FairleadError, SupersededError

State = Literal[
    "starting",
    "running",
    "slow",
    "recovering",
    "waiting_for_broker",
    "stalled",
    "dead",
    "superseded",
    "stopping",
]
READY: Final[frozenset[State]] = frozenset({"running", "slow", "recovering"})
"""The states in which batches go on, so that groups are decided on."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long something may take before it has another name.

    Attributes:
        slow_seconds: a batch is slow that is not committed after so long.
        stalled_seconds: a query is stalled of which nothing has moved for so long.
        broker_seconds: a broker is away that has taken no tick for so long.
    """

    slow_seconds: float = 10.0
    stalled_seconds: float = 60.0
    broker_seconds: float = 10.0

    def between(self, pause_seconds: float) -> "Patience":
        """Return the patience with a query that rests for so long between two batches."""
        return Patience(
            self.slow_seconds + pause_seconds,
            self.stalled_seconds + pause_seconds,
            self.broker_seconds + pause_seconds,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the engine is doing.

    Attributes:
        state: one word.
        reason: the same for people, with numbers.
    """

    state: State
    reason: str
    generation: int
    recovering_shards: int
    last_batch_seconds: float | None
    last_tick_seconds: float | None
    started_seconds: float

    @property
    def ready(self) -> bool:
        """Whether groups are decided on."""
        return self.state in READY


@dataclass(slots=True)
class Health:
    """What is known of the run: written by several threads, one field at a time, judged by any.

    Attributes:
        patience: how long what may take.
        clock: seconds that never go back.
        recovering: how many shards recover.
        pressure: what is the matter with the Java heap, empty while nothing is.
        generation: that was claimed; 0: none was.
        batches: how many were committed.
    """

    patience: Patience = field(default_factory=Patience)
    clock: Callable[[], float] = time.monotonic
    recovering: Callable[[], int] = lambda: 0
    pressure: Callable[[], str] = lambda: ""
    generation: int = 0
    batches: int = 0
    _begun_at: float = field(init=False)
    _ticked_at: Callable[[], float | None] = lambda: None
    _committed_at: float | None = None
    _moved_at: float | None = None
    _sign: Hashable = None
    _looked_at: float | None = None
    _error: BaseException | None = None
    _ended: bool = False

    def __post_init__(self) -> None:
        """The process has just started."""
        self._begun_at = self.clock()

    def claimed(self, generation: int, ticked_at: Callable[[], float | None]) -> None:
        """The generation is claimed; from now on this tells when a broker last took a tick."""
        self._ticked_at = ticked_at
        self._moved_at = self.clock()
        self.generation = generation

    def committed(self) -> None:
        """A batch was committed."""
        self.batches += 1
        self._committed_at = self._moved_at = self.clock()

    @property
    def wants_sign(self) -> bool:
        """Whether no batch was committed for so long that other signs of life count."""
        since = self._committed_at or self._moved_at
        return since is not None and self.clock() - since > self.patience.slow_seconds / 2

    def looked(self, sign: Hashable = None) -> None:
        """The JVM has answered; a sign that differs from the one before says that work goes on."""
        now = self.clock()
        if self._looked_at is None:
            # The query has just started: however long that took, it has not stood still yet.
            self._moved_at = now
        self._looked_at = now
        if sign is not None and sign != self._sign:
            self._sign, self._moved_at = sign, now

    def ended(self, error: BaseException | None) -> None:
        """The query is over, or is about to be: of an error, or because somebody asked for it."""
        self._ended = True
        self._error = self._error or error

    def verdict(self) -> Verdict:
        """Say what the engine is doing now."""
        state, reason = self._judge(self.clock())
        if not self._ended and (pressure := self.pressure()):
            reason = f"{reason}; {pressure}"
        return Verdict(
            state,
            reason,
            self.generation,
            self.recovering(),
            self._since(self._committed_at),
            self._since(self._ticked_at()),
            round(max(0.0, self.clock() - self._begun_at), 3),
        )

    def _since(self, at: float | None) -> float | None:
        return None if at is None else round(max(0.0, self.clock() - at), 3)

    def _judge(self, now: float) -> tuple[State, str]:
        if self._ended:
            return self._ending()
        if self._moved_at is None:
            return "starting", "no generation is claimed yet: checks, Java and Spark come first"
        still = now - self._moved_at
        unticked = now - (self._ticked_at() or self._moved_at)
        unlooked = 0.0 if self._looked_at is None else now - self._looked_at
        if unlooked > self.patience.slow_seconds:
            return "stalled", (
                f"the JVM has not answered for {unlooked:.0f} s; look at its memory and its log, "
                "and end the engine: it is started again by --supervise"
            )
        if unticked > self.patience.broker_seconds:
            return "waiting_for_broker", (
                f"no broker has taken a tick for {unticked:.0f} s; nothing is lost, nobody lapses, "
                "and it goes on by itself"
            )
        return self._judge_batches(now, still)

    def _judge_batches(self, now: float, still: float) -> tuple[State, str]:
        patience = self.patience
        if self._looked_at is None:
            return "starting", (
                f"a generation was claimed {still:.0f} s ago; first ticks and the query come next"
            )
        if still > patience.stalled_seconds:
            return "stalled", (
                f"for {still:.0f} s no batch was committed and no task has ended well, though a "
                "broker takes ticks; end the engine: the batch is run again"
            )
        if self._committed_at is None:
            return "starting", "a generation is claimed, and no batch is committed yet"
        since = now - self._committed_at
        if since > patience.slow_seconds:
            return "slow", (
                f"the batch has taken {since:.0f} s so far, and its tasks go on: the newest sign "
                f"of it is {still:.0f} s old"
            )
        if self.recovering() > 0:
            return "recovering", (
                f"{self.recovering()} shards rebuild from what clients claim; owners go on, and "
                "what recovers does not move"
            )
        return "running", f"a batch was committed {since:.1f} s ago"

    def _ending(self) -> tuple[State, str]:
        error = self._error
        if isinstance(error, SupersededError):
            return "superseded", f"an engine of a higher generation runs: {error}"
        if error is not None:
            kind = "" if isinstance(error, FairleadError) else f"{type(error).__name__}: "
            return "dead", f"the engine ends: {kind}{error}"
        return "stopping", "the engine was asked to stop"
