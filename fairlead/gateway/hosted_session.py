"""One thin client's session in the gateway: the client library's session, one poll at a time.

A poll has two halves. First the client's own words take effect (`begin`): only then are records
written. Afterwards the session reads what the engine wrote (`read`), and the answer tells what that
means for the client (`answer`). What cannot be taken back, such as "this grant was never started",
waits for the next poll: the client confirms it by echoing the `state` that says so. Any instance
may therefore write it, however late and however often (ADR 0196).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fairlead_client.model import Epoch, Queue
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import NEVER_MS, UNGRANTED, QueueMemory, SessionSettings
from fairlead_client.session.records import Assignment, Notice, Release
from fairlead_client.session.saved_session import SavedSession, restore, save
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.session.session import Session
from fairlead_client.session.states import QueueState, SessionState
from fairlead_client.thin.thin_words import NoticeWords, Start, Stop, WaitingWords, Work

from fairlead.gateway.applied_again import without_answered
from fairlead.gateway.client_state import SEQUENCES
from fairlead.gateway.hosted_leave import hand_over_ms, may_stop
from fairlead.gateway.hosted_standing import (
    begin_standing,
    check_standing,
    dropped_in_place,
    heard,
    say_standing,
    settle,
    with_standing,
)
from fairlead.gateway.poll_words import Answer, Lost, Poll, UnexpectedStopError

__all__ = ["HostedSession"]


class HostedSession:
    """One session between two polls, or during one.

    Attributes:
        lost: why the session is over; None: it goes on.
    """

    def __init__(
        self,
        settings: SessionSettings,
        saved: SavedSession | None,
        told: Iterable[tuple[Queue, Epoch]],
        releases: SeenReleases,
        now_ms: int,
        *,
        drain_ms: int = 30_000,
    ) -> None:
        """Go on from a saved session, or be ready to join.

        Args:
            settings: the client's names and times, without a drain deadline and without commits:
                nobody but the client can stop the client, and it commits by itself.
            saved: the session of the newest answer that the client has; None: it joins.
            told: the works whose start stands in an answer that the client has.
            releases: the group's releases; sessions of one group share them.
            now_ms: the time.
            drain_ms: how long the client may take to stop a queue before it has to stop at once.
        """
        assert settings.drain_deadline_ms is None
        assert not settings.commits
        self.lost: Lost | None = None
        self._drain_ms = drain_ms
        self._told = set(told)
        self._session = Session(settings) if saved is None else restore(settings, saved, now_ms)
        self._session.memory.seen = releases
        if self._leaves:
            # Its client knows better how long it works on.
            self._session.memory.hand_over_until_ms = now_ms + drain_ms
        # Brokers date heartbeats, and by that the gateway judges the lease (`Gateway`).
        self._session.memory.lease_until_ms = NEVER_MS
        self._session.memory.heartbeat_at_ms = NEVER_MS
        self._named: set[tuple[Queue, Epoch]] = set()
        self._claims_sent = False
        self._stops_told = {
            (queue.queue, queue.started)
            for queue in self._works
            if queue.state is QueueState.DRAINING
        }
        self._from_release: set[Queue] = set()
        self._adopted: set[Queue] = set()
        self._standing_told = heard(self._session.memory)
        self._notices: list[NoticeWords] = []
        self._now_ms = now_ms

    @property
    def applied(self) -> Epoch | None:
        """The epoch of the newest assignment that it has applied."""
        return self._session.memory.applied

    @property
    def told(self) -> frozenset[tuple[Queue, Epoch]]:
        """The works whose start the client knows once it has the last answer."""
        return frozenset(self._told & {(queue.queue, queue.started) for queue in self._works})

    @property
    def has_left(self) -> bool:
        """Whether its leave and all its releases are in the log."""
        return self._session.state is SessionState.CLOSED

    @property
    def has_news(self) -> bool:
        """Whether the client should hear something, or has to confirm what is to be written."""
        memory = self._session.memory
        owed = [release for release in memory.pending.values() if not release.sent]
        if owed or memory.claims_due_ms is not None or heard(memory) != self._standing_told:
            return True
        return any(map(self._is_news, self._works))

    @property
    def has_starts(self) -> bool:
        """Whether the next answer would tell a start, for the first time or again."""
        return bool(self._unnamed())

    def _unnamed(self) -> list[QueueMemory]:
        """Return the works that run and that the client has not named: answers start them."""
        return [
            queue
            for queue in self._works
            if (queue.queue, queue.started) not in self._named
            and (queue.state is not QueueState.DRAINING or self._is_untold_in_place(queue))
        ]

    def _is_untold_in_place(self, queue: QueueMemory) -> bool:
        """Tell whether the client works on it and does not know its epoch, which it is to stop."""
        return queue.queue in self._adopted and (queue.queue, queue.started) not in self._told

    def _is_news(self, queue: QueueMemory) -> bool:
        name = (queue.queue, queue.started)
        known = self._stops_told if queue.state is QueueState.DRAINING else self._told
        return name not in known

    @property
    def _leaves(self) -> bool:
        return self._session.state is SessionState.LEAVING

    @property
    def _works(self) -> list[QueueMemory]:
        """The works that the engine has granted."""
        queues = self._session.memory.queues.values()
        return [queue for queue in queues if queue.works and queue.state not in UNGRANTED]

    def saved(self) -> SavedSession:
        """Return the session as values, for the answer's `state`."""
        saved = save(self._session)
        return replace(saved, claimed=saved.claimed and not self._claims_sent)

    def answer(self, now_ms: int) -> Answer:
        """Return what the client shall do; its starts count as told from now on.

        A start is repeated until the client names its work, or is asked to stop it.
        """
        works = self._works
        draining = [queue for queue in works if queue.state is QueueState.DRAINING]
        start = tuple(
            Start(
                queue.queue,
                queue.started,
                queue.position.offset,
                self._why(queue),
                queue.position.reset,
                queue.identity,
                queue.granted.offset,
                queue.queue in self._adopted,
            )
            for queue in self._unnamed()
        )
        self._told |= {(each.queue, each.epoch) for each in start}
        stops = [
            Stop(queue.queue, queue.started, self._left_ms(queue, now_ms))
            for queue in draining
            if (queue.queue, queue.started) in self._told
        ]
        self._stops_told |= {(queue.queue, queue.started) for queue in draining}
        late = {stop.queue for stop in stops if stop.deadline_ms == 0}
        working = tuple(
            (queue.queue, queue.started)
            for queue in works
            if queue.queue not in late and (queue.queue, queue.started) in self._told
        )
        reason = self._session.waiting
        waiting = None if reason is None else WaitingWords(reason.kind.value, reason.words)
        notices, self._notices = tuple(self._notices), []
        self._standing_told = heard(self._session.memory)
        return Answer(start, tuple(stops), working, waiting, notices, *self._standing_told)

    def _why(self, queue: QueueMemory) -> str:
        return "release" if queue.queue in self._from_release else "grant"

    def _left_ms(self, queue: QueueMemory, now_ms: int) -> int:
        return max(0, queue.drain_since_ms + self._drain_ms - now_ms)

    def join(self, incarnation: str, generation: int, now_ms: int) -> act.SendHeartbeat:
        """Begin the incarnation; return its first heartbeat.

        The heartbeat says generation 0, and no claims go with it: a join that arrives twice, the
        second time after the client has begun to work, must acknowledge no newer generation.

        Args:
            incarnation: names the session.
            generation: the newest one that was claimed before the join.
            now_ms: the time.
        """
        memory = self._session.memory
        first = self._session.handle(on.Started(incarnation, 0), now_ms)
        memory.generation = generation
        memory.claims_due_ms = now_ms if generation > 0 else None
        memory.heartbeat_at_ms = NEVER_MS
        assert len(first) == 1
        assert isinstance(first[0], act.SendHeartbeat)
        self._session.handle(on.HeartbeatAppended(incarnation, 1, now_ms), now_ms)
        memory.lease_until_ms = NEVER_MS
        return first[0]

    def begin(self, poll: Poll, now_ms: int) -> list[act.Action]:
        """Apply the client's words; return the records to write: all are facts, or confirmed.

        Raises:
            UnexpectedStopError: the client stopped what nobody asked it to stop.
            UnfitStandbyError: it says of standing by what does not fit.
        """
        self._now_ms = now_ms
        session, memory = self._session, self._session.memory
        done: list[act.Action] = []
        if self.has_left:
            return done
        check_standing(memory, poll)
        standing = say_standing(memory, poll)
        memory.sequence = poll.sequence * SEQUENCES
        memory.read_to_end_ms = now_ms
        self._owe_again(now_ms)
        if poll.subscriptions is not None and poll.subscriptions != memory.subscriptions:
            done += session.handle(on.SubscriptionChanged(poll.subscriptions), now_ms)
        done += session.handle_all(filter(None, map(self._moved, poll.working)), now_ms)
        memory.decision_wanted, memory.decision_asked = poll.decide, None
        done += begin_standing(session, poll, now_ms)
        if poll.leaving:
            most_ms = hand_over_ms(poll, self.told, self._drain_ms)
            done += session.handle(on.LeaveRequested(most_ms), now_ms)
        done += self._apply_stopped(poll, now_ms)
        for queue in self._works:
            # A gate may have opened just now: no answer has told the client of that start yet.
            queue.unsent = queue.unsent and (queue.queue, queue.started) in self._told
        # A heartbeat behind the end of a session would look like work that goes on.
        running = memory.state is SessionState.RUNNING
        beats = self._works or running or memory.holds_ungranted
        memory.heartbeat_at_ms = now_ms if beats else NEVER_MS
        memory.progress_at_ms = now_ms
        done += session.handle(on.TimePassed(), now_ms)
        memory.heartbeat_at_ms = memory.progress_at_ms = NEVER_MS
        self._claims_sent = any(isinstance(action, act.SendClaims) for action in done)
        return with_standing(done, standing)

    def _moved(self, work: Work) -> on.ProgressMade | None:
        """Return the progress of a work; None: it is where it was, as most of a client's are."""
        known = self._session.memory.queues.get(work.queue)
        if known is not None and (known.position.offset, known.end) == (work.position, work.end):
            return None
        return on.ProgressMade(work.queue, work.epoch, work.position, work.end)

    def _owe_again(self, now_ms: int) -> None:
        """Nobody knows whether what was sent before is in the log, if it is still pending."""
        memory = self._session.memory
        for release in memory.pending.values():
            release.sent, release.due_ms = False, now_ms
        if self._claims_sent:
            memory.claims_due_ms = now_ms
        if memory.former is not None:
            memory.former_due_ms = now_ms
        if memory.state is SessionState.LEAVING and not memory.leave_appended:
            memory.leave_due_ms = now_ms

    def _apply_stopped(self, poll: Poll, now_ms: int) -> list[act.Action]:
        memory = self._session.memory
        done: list[act.Action] = []
        # A client may name anything; only what the session has is kept.
        named = poll.named & {(queue.queue, queue.started) for queue in memory.queues.values()}
        for work in poll.stopped:
            queue = memory.queues.get(work.queue)
            if queue is None or not queue.works or queue.started != work.epoch:
                # Its release is written, or pending already: the client says it once more.
                continue
            if not may_stop(memory, queue):
                raise UnexpectedStopError(work)
            stopped = on.WorkStopped(work.queue, work.epoch, work.position, work.end)
            done += self._session.handle(stopped, now_ms)
        for queue in list(memory.queues.values()):
            # The client has confirmed a state in which this work stops; no answer told its start.
            work_name = (queue.queue, queue.started)
            untold = work_name not in self._told and work_name not in named
            # Or these are its last words: nothing runs any more, whatever it has left unsaid.
            if (untold or poll.ending) and may_stop(memory, queue):
                done += self._session.handle(on.WorkStopped(*work_name, None), now_ms)
        self._named = named
        self._told |= named
        return done

    def owe_progress(self) -> None:
        """Say with the next poll where each work stands: the log may lack what was said before."""
        for queue in self._works:
            queue.unsent = True

    def appended(self, event: on.Event, now_ms: int) -> None:
        """Note that a record is in the log."""
        if isinstance(event, on.ClaimsAppended):
            self._claims_sent = False
        self._handle(event, now_ms)

    def read(
        self,
        generation: int,
        assignment: Assignment | None,
        notices: Sequence[Notice],
        now_ms: int,
    ) -> None:
        """Read the engine's newest words: its generation, the client's whole set, and notices."""
        self._handle(on.GenerationRead(generation), now_ms)
        applied = self.applied
        if assignment is not None and (applied is None or assignment.epoch > applied):
            self._handle(on.AssignmentRead(assignment), now_ms)
        elif assignment is not None and assignment.epoch == applied:
            # For the gates, and for turns to stop: no state has them.
            queues = self._session.memory.queues
            again = without_answered(assignment, queues, leaves=self._leaves)
            self._handle(on.AssignmentRead(again), now_ms)
        for notice in notices:
            self._handle(on.NoticeRead(notice), now_ms)

    def read_release(self, release: Release, now_ms: int) -> None:
        """Read a release of the group; a gate may wait for it."""
        self._handle(on.ReleaseRead(release), now_ms)

    def pass_time(self, now_ms: int) -> None:
        """Let time pass: the turn of a queue that works on after its drop may come."""
        turn_ms = self.next_turn_ms()
        if turn_ms is not None and turn_ms <= now_ms:
            self._handle(on.TimePassed(), now_ms)

    def next_turn_ms(self) -> int | None:
        """Return when a queue's turn to stop comes; None: none works on after its drop."""
        return min(
            (
                queue.due_ms
                for queue in self._session.memory.queues.values()
                if queue.state is QueueState.LINGERING
            ),
            default=None,
        )

    def _handle(self, event: on.Event, now_ms: int) -> None:
        """Handle an event outside of `begin`: nothing is written, and what is due is kept."""
        session, memory = self._session, self._session.memory
        if self.lost is not None:
            return
        self._now_ms = now_ms
        memory.read_to_end_ms = now_ms
        memory.heartbeat_at_ms = memory.progress_at_ms = NEVER_MS
        for action in (*session.handle(event, now_ms), *settle(session, now_ms)):
            self._keep(action)
        self._adopted |= dropped_in_place(memory)
        memory.heartbeat_at_ms = memory.progress_at_ms = NEVER_MS

    def _keep(self, action: act.Action) -> None:
        memory = self._session.memory
        match action:
            case act.SendRelease(queue=queue, epoch=epoch):
                pending = memory.pending.get((queue, epoch))
                if pending is not None:
                    pending.sent, pending.due_ms = False, self._now_ms
            case act.SendClaims():
                memory.claims_due_ms = self._now_ms
            case act.SendLeave():
                memory.leave_due_ms = self._now_ms
            case act.StopEverything(reason):
                self.lost = Lost("lease_ended", reason)
            case act.ReportNotice(code, message):
                self._notices.append(NoticeWords(code, message))
            case act.StartWork(queue, former=True):
                self._adopted.add(queue)
            case act.StartWork(queue):
                if memory.queues[queue].handed is not None:
                    self._from_release.add(queue)
            case _:
                pass
        if memory.error is not None and self.lost is None:
            self.lost = Lost("duplicate_client_id", str(memory.error))
