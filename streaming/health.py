"""Whether the engine does its work: the answer of `/readyz`, with the reason.

A stalled query and a slow one look alike from outside: neither commits a batch. They differ in what
moves meanwhile. A slow batch finishes tasks; an engine that waits for a broker cannot append ticks;
in a stalled one nothing moves, or its JVM does not even answer.
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
"""The states in which the engine commits batches, and so decides."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each part of the work may take before `/readyz` reports another state.

    Attributes:
        slow_seconds: a batch that takes longer is slow.
        stalled_seconds: a query in which nothing has moved for longer is stalled.
        broker_seconds: a broker that has accepted no tick for longer is unreachable.
    """

    slow_seconds: float = 10.0
    stalled_seconds: float = 60.0
    broker_seconds: float = 10.0

    def between(self, pause_seconds: float) -> "Patience":
        """Return the patience for a query that pauses this long between two batches."""
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
        reason: a sentence for people, with numbers.
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
        """Whether the engine decides on groups."""
        return self.state in READY


@dataclass(slots=True)
class Health:
    """The facts of the run. Several threads write it, one field at a time; any thread may read it.

    Attributes:
        patience: how long each part of the work may take.
        clock: monotonic seconds.
        recovering: returns how many shards recover.
        pressure: returns what is wrong with the Java heap; empty if nothing is.
        generation: the claimed generation; 0 before the claim.
        batches: how many batches were committed.
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
    _answered_at: float | None = None
    _error: BaseException | None = None
    _ended: bool = False

    def __post_init__(self) -> None:
        """Note the start of the process."""
        self._begun_at = self.clock()

    def claimed(self, generation: int, ticked_at: Callable[[], float | None]) -> None:
        """Note the claim; ``ticked_at`` returns when a broker last accepted a tick."""
        self._ticked_at = ticked_at
        self._moved_at = self.clock()
        self.generation = generation

    def committed(self) -> None:
        """Note that a batch was committed."""
        self.batches += 1
        self._committed_at = self._moved_at = self.clock()

    @property
    def wants_sign(self) -> bool:
        """Whether the newest commit is so old that other signs of life count."""
        since = self._committed_at or self._moved_at
        return since is not None and self.clock() - since > self.patience.slow_seconds / 2

    def note_answer(self, sign: Hashable = None) -> None:
        """Note that the JVM has answered; a sign that differs from the last one shows progress."""
        now = self.clock()
        if self._answered_at is None:
            # The query has just started: the time until here was no standstill.
            self._moved_at = now
        self._answered_at = now
        if sign is not None and sign != self._sign:
            self._sign, self._moved_at = sign, now

    def ended(self, error: BaseException | None) -> None:
        """Note that the query ends, by an error or because somebody asked for it."""
        self._ended = True
        self._error = self._error or error

    def verdict(self) -> Verdict:
        """Return what the engine is doing now."""
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
        unanswered = 0.0 if self._answered_at is None else now - self._answered_at
        if unanswered > self.patience.slow_seconds:
            return "stalled", (
                f"the JVM has not answered for {unanswered:.0f} s; look at its memory and its log, "
                "then end the engine: --supervise starts it again"
            )
        if unticked > self.patience.broker_seconds:
            return "waiting_for_broker", (
                f"no broker has accepted a tick for {unticked:.0f} s; nothing is lost, no member "
                "lapses, and the engine goes on by itself"
            )
        return self._judge_batches(now, still)

    def _judge_batches(self, now: float, still: float) -> tuple[State, str]:
        patience = self.patience
        if self._answered_at is None:
            return "starting", (
                f"generation claimed {still:.0f} s ago; the first ticks and the query come next"
            )
        if still > patience.stalled_seconds:
            return "stalled", (
                f"for {still:.0f} s no batch was committed and no task succeeded, although a "
                "broker accepts ticks; end the engine: the next one runs the batch again"
            )
        if self._committed_at is None:
            return "starting", "generation claimed, no batch committed yet"
        since = now - self._committed_at
        if since > patience.slow_seconds:
            return "slow", (
                f"the batch has taken {since:.0f} s so far; its tasks go on (newest sign "
                f"{still:.0f} s ago)"
            )
        if self.recovering() > 0:
            return "recovering", (
                f"{self.recovering()} shards recover from the clients' claims; owners go on, and "
                "no recovering queue moves"
            )
        return "running", f"last batch committed {since:.1f} s ago"

    def _ending(self) -> tuple[State, str]:
        error = self._error
        if isinstance(error, SupersededError):
            return "superseded", f"an engine of a newer generation runs: {error}"
        if error is not None:
            kind = "" if isinstance(error, FairleadError) else f"{type(error).__name__}: "
            return "dead", f"the engine ends: {kind}{error}"
        return "stopping", "the engine was asked to stop"
