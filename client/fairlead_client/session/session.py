"""The session: events in, actions out, without a clock, input, output or randomness (ADR 0030).

One session covers all incarnations of one client in one group. The caller passes each event with
the time, does the returned actions in order, and never touches the memory. The session keeps the
rules of the handover protocol; `transitions.TRANSITIONS` lists every transition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fairlead_client.errors import UnlistedTransitionError
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.actions import Action
from fairlead_client.session.events import AllReleased, AllStopped, Event, LeaseEnded
from fairlead_client.session.memory import (
    OWNED,
    STOPPING,
    TIMED,
    UNGRANTED,
    Memory,
    QueueMemory,
    SessionSettings,
)
from fairlead_client.session.states import QueueState, SessionState, Signal
from fairlead_client.session.transitions import TRANSITIONS
from fairlead_client.session.waiting import WaitingReason, reason_to_wait

LEASED = frozenset({SessionState.STARTING, SessionState.RUNNING, SessionState.LEAVING})
KEPT = frozenset({QueueState.COMMITTING, QueueState.WORKING})
SIGNALS_MAX = 10_000_000
"""More signals than this in one step can only be a loop."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The grant of a queue: its topic's identity, and where it starts.

    `offset` is the engine's own start. `start` is where the work began: there, or where the former
    holder says that it stopped.
    """

    identity: str | None = None
    offset: int | None = None
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """The queues that the application may work on, and until when; any thread may read it."""

    until_ms: int
    epochs: Mapping[Queue, Epoch]
    gated: bool = False
    """Whether a queue waits for a release, and so may start at any moment."""
    granted: Mapping[Queue, Granted] = field(default_factory=dict)


class Session:
    """One client's part of the handover protocol.

    Args:
        settings: the client's names and times.
    """

    def __init__(self, settings: SessionSettings) -> None:
        self._memory = Memory(settings, settings.subscriptions)

    @property
    def memory(self) -> Memory:
        """Everything it remembers; only `saved_session` and the gateway's host may change it."""
        return self._memory

    @property
    def state(self) -> SessionState:
        """The client's state."""
        return self._memory.state

    @property
    def generation(self) -> int:
        """The newest known generation; 0 before the first engine."""
        return self._memory.generation

    @property
    def counts(self) -> Mapping[str, int]:
        """Counts of events since the session was created."""
        return self._memory.counts

    @property
    def ownership(self) -> Ownership:
        """The queues that the application may work on now."""
        memory = self._memory
        owned = [
            queue
            for queue in memory.queues.values()
            if queue.state in OWNED | UNGRANTED and memory.state in LEASED
        ]
        epochs = {queue.queue: queue.name for queue in owned}
        granted = {
            queue.queue: Granted(queue.identity, queue.granted.offset, queue.start.offset)
            for queue in owned
        }
        gated = any(queue.state is QueueState.GATED for queue in memory.queues.values())
        return Ownership(memory.lease_until_ms, epochs, gated, granted)

    @property
    def share(self) -> list[Queue]:
        """The queues that the engine wants the client to have, as far as the client knows.

        A queue that waits for its former owner counts; a queue that the client gives up does not.
        """
        return [
            queue.queue
            for queue in self._memory.queues.values()
            if queue.gate is not None or queue.state in KEPT
        ]

    @property
    def waiting(self) -> WaitingReason | None:
        """Why the client waits now; None: it has all that it was promised."""
        return reason_to_wait(self._memory)

    def queue_memory(self, queue: Queue) -> QueueMemory | None:
        """Return the memory of a queue, which the caller must not change."""
        return self._memory.queues.get(queue)

    def handle(self, event: Event, now_ms: int) -> list[Action]:
        """Handle one event; return the actions, in order.

        Args:
            event: the event.
            now_ms: a clock that never goes back and counts the time of a suspended machine. The
                session ignores a time that goes back.

        Raises:
            UnlistedTransitionError: the event cannot happen in this state.
        """
        return self.handle_all((event,), now_ms)

    def handle_all(self, events: Iterable[Event], now_ms: int) -> list[Action]:
        """Handle events that have come at one time, in order; return the actions of all.

        Args:
            events: the events.
            now_ms: as in `handle`.

        Raises:
            UnlistedTransitionError: one of them cannot happen in its state.
        """
        memory = self._memory
        memory.now_ms = max(memory.now_ms, now_ms)
        if memory.state in LEASED and memory.now_ms >= memory.lease_until_ms:
            # Before the event: a late answer must not move the deadline.
            self._apply_event(LeaseEnded("no heartbeat was acknowledged within the lease"))
        for event in events:
            self._apply_event(event)
        self._end_step()
        actions, memory.actions = memory.actions, []
        return actions

    def next_deadline_ms(self) -> int:
        """Return the latest time for the next TimePassed."""
        memory = self._memory
        settings = memory.settings
        later = memory.now_ms + settings.heartbeat_ms
        due = [later]
        if memory.state in LEASED:
            due += [memory.lease_until_ms, memory.heartbeat_at_ms, memory.progress_at_ms]
            leave_ms = None if memory.holds_ungranted else memory.leave_due_ms
            asked = (
                memory.claims_due_ms,
                leave_ms,
                memory.former_due_ms,
                memory.hand_over_until_ms,
            )
            due += [at for at in asked if at is not None]
            due += [release.due_ms for release in memory.pending.values() if not release.sent]
        for queue in memory.queues.values():
            if queue.state in TIMED:
                due.append(queue.due_ms)
            elif queue.state in STOPPING and settings.drain_deadline_ms is not None:
                due.append(queue.drain_since_ms + settings.drain_deadline_ms)
        return max(min(due), memory.now_ms)

    def _apply_event(self, event: Event) -> None:
        memory = self._memory
        listed = TRANSITIONS.get((memory.state, type(event)))
        if listed is None:
            raise UnlistedTransitionError(f"{type(event).__name__} in state {memory.state.value}")
        handler, leads_to = listed
        state = handler(memory, event)
        assert state in leads_to, f"{handler.__name__} led from {memory.state} to {state}"
        assert isinstance(state, SessionState)
        memory.state = state
        self._run_signals()

    def _run_signals(self) -> None:
        """Handle all signals; a handler may send more of them."""
        signals, handled = self._memory.signals, 0
        while signals:
            assert handled < SIGNALS_MAX, "signals never end"
            self._apply_signal(*signals.popleft())
            handled += 1

    def _apply_signal(self, queue: QueueMemory, signal: Signal, detail: object) -> None:
        listed = TRANSITIONS.get((queue.state, signal))
        if listed is None:
            raise UnlistedTransitionError(f"{signal.value} of {queue.queue} in {queue.state.value}")
        handler, leads_to = listed
        state = handler(self._memory, queue, detail)
        assert state in leads_to, f"{handler.__name__} led from {queue.state} to {state}"
        assert isinstance(state, QueueState)
        queue.state = state
        assert queue.started <= queue.top
        assert queue.works or (queue.gate is not None) == (state is QueueState.GATED)

    def _end_step(self) -> None:
        memory = self._memory
        working = memory.is_loose or any(queue.works for queue in memory.queues.values())
        if memory.state is SessionState.LEAVING:
            if not working and not memory.pending and memory.leave_appended:
                self._apply_event(AllReleased())
        elif (
            memory.state is SessionState.FENCED and not working and not memory.new_incarnation_asked
        ):
            self._apply_event(AllStopped())
