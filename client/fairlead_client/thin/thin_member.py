"""One member of a group behind a gateway, without a clock, input or output.

It stands between the application, whose work it starts and stops, and the thin session. Whoever
runs it tells it what happens, and does what it returns: requests to send, and commits to make.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final

from fairlead_client.errors import DuplicateClientIdError, GatewayError, NoticeError
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session import events
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.session.rebalance_log import RebalanceLog
from fairlead_client.session.session import Granted, Ownership
from fairlead_client.session.states import SessionState
from fairlead_client.session.waiting import WaitingKind, WaitingReason
from fairlead_client.thin import thin_session as act
from fairlead_client.thin.thin_commits import ThinCommits
from fairlead_client.thin.thin_pauses import Pauses
from fairlead_client.thin.thin_requests import ThinProfile, ThinRequests
from fairlead_client.thin.thin_words import (
    Joined,
    Left,
    NoticeWords,
    PollAnswer,
    Request,
    Start,
    WaitingWords,
)

__all__ = ["Reply", "ThinMember"]

logger = logging.getLogger(__name__)

Reply = Joined | PollAnswer | Left | GatewayError
"""What comes back from a request."""

Work = tuple[Queue, Epoch]

_STATES: Final = {
    act.ThinState.JOINING: SessionState.STARTING,
    act.ThinState.POLLING: SessionState.RUNNING,
    act.ThinState.LEAVING: SessionState.LEAVING,
    act.ThinState.ENDING: SessionState.LEAVING,
    act.ThinState.FENCED: SessionState.FENCED,
    act.ThinState.CLOSED: SessionState.CLOSED,
}


class ThinMember:
    """Runs one thin session for an application.

    Args:
        profile: the member.
        application: starts and stops the work; no call of it waits.
        commits: what is committed to the data plane; None: nothing.
        observer: receives events.
        chance: returns a number from 0 to 1, so that many clients do not come back at once.

    Attributes:
        ownership: the queues that the application may work on, and until when.
        error: the error that closes the member; None: the application does.
        failure: the newest failed request; None: none since this was looked at last.
    """

    def __init__(
        self,
        profile: ThinProfile,
        application: Application,
        commits: ThinCommits | None,
        observer: Observer,
        chance: Callable[[], float],
    ) -> None:
        self._drain_ms = profile.drain_deadline_ms
        self._requests = ThinRequests(profile)
        self._application = application
        self._commits = commits
        self._observer = observer
        self._pauses = Pauses(chance)
        self._rebalances = RebalanceLog(profile.group, profile.client_id)
        self._session = act.ThinSession()
        self._subscriptions = profile.subscriptions
        self._newest = 0
        self._failing: tuple[int, int] | None = None
        self._later: tuple[int, Request] | None = None
        self._starts: dict[Queue, Start] = {}
        self._stopping: dict[Work, int] = {}
        self._waiting: WaitingWords | None = None
        self._noted: Sequence[NoticeWords] = ()
        self._actions: deque[act.Action] = deque()
        self._out: list[Request | CommitProgress] = []
        self.ownership = Ownership(0, {})
        self.counts: Counter[str] = Counter()
        self.error: Exception | None = None
        self.failure: Exception | None = None

    @property
    def state(self) -> SessionState:
        """The member's state."""
        return _STATES[self._session.state]

    @property
    def waiting(self) -> WaitingReason | None:
        """Why the member waits for queues; None: it has all it was promised, or it leaves."""
        if self.state in (SessionState.STARTING, SessionState.FENCED):
            words = "no gateway has answered it yet, so it has no lease"
            return WaitingReason(WaitingKind.HEARTBEAT, words)
        told = self._waiting
        if self.state is not SessionState.RUNNING or told is None:
            return None
        kinds = {kind.value: kind for kind in WaitingKind}
        return WaitingReason(kinds.get(told.kind, WaitingKind.ASSIGNMENT), told.words)

    @property
    def gated(self) -> bool:
        """Whether the member was promised a queue that may start at any moment."""
        told = self._waiting
        return told is not None and told.kind == WaitingKind.RELEASE.value

    def take_output(self) -> Sequence[Request | CommitProgress]:
        """Return the requests to send and the commits to make since the last call, in order.

        A request gives the one before it up: nobody uses its reply any more.
        """
        out, self._out = self._out, []
        newest = next((each for each in reversed(out) if isinstance(each, Request)), None)
        return [each for each in out if each is newest or isinstance(each, CommitProgress)]

    def next_deadline_ms(self) -> int:
        """Return the latest time for the next `pass_time`."""
        times = [self._session.next_deadline_ms()]
        times += [due[0] for due in (self._failing, self._later) if due is not None]
        if self._commits is not None:
            times.append(self._commits.next_deadline_ms())
        limit_ms = self._drain_ms
        if limit_ms is not None and self._stopping:
            times.append(min(self._stopping.values()) + limit_ms)
        return min(times)

    # What happens.
    def handle(self, event: events.Event, now_ms: int) -> None:
        """Handle what the application, or a commit, says."""
        session = self._session
        match event:
            case events.ProgressMade(queue, epoch, offset, end):
                if self._commits is not None:
                    self._commits.note((queue, epoch), offset)
                self._do(session.progressed(queue, epoch, offset, end, now_ms), now_ms)
            case events.WorkStopped(queue, epoch, offset, end):
                self._stopped(queue, epoch, offset, end, now_ms)
            case events.CommitFinished():
                self._committed(event, now_ms)
            case events.SubscriptionChanged(subscriptions):
                self._subscriptions = subscriptions
                self._do(session.subscribe(subscriptions, now_ms), now_ms)
            case events.DecisionWanted():
                self._do(session.want_decision(now_ms), now_ms)
            case events.WorkFailed(error):
                self.error = error
                self._do(session.leave(now_ms), now_ms)
            case events.LeaveRequested(hand_over_ms):
                self._do(session.leave(now_ms, hand_over_ms), now_ms)
            case events.TimePassed():
                self.pass_time(now_ms)
            case _:
                raise AssertionError(event)

    def reply(self, number: int, reply: Reply, now_ms: int) -> None:
        """Handle the reply to a request."""
        session = self._session
        if isinstance(reply, GatewayError):
            if number == self._newest:
                self._refused(number, reply, now_ms)
            return
        if number == self._newest:
            self._pauses.answered()
        match reply:
            case Joined():
                self._do(session.joined(number, reply, now_ms), now_ms)
            case PollAnswer():
                self._answered(number, reply, now_ms)
            case Left():
                self._do(session.left(now_ms), now_ms)

    def pass_time(self, now_ms: int) -> None:
        """Let time pass: do what is due."""
        if self._failing is not None and now_ms >= self._failing[0]:
            number = self._failing[1]
            self._failing = None
            self._do(self._session.failed(number, now_ms), now_ms)
        if self._later is not None and now_ms >= self._later[0]:
            self._out.append(self._later[1])
            self._later = None
        limit_ms = self._drain_ms
        for work, since_ms in list(self._stopping.items()):
            if limit_ms is not None and now_ms - since_ms >= limit_ms:
                self.counts["forced_releases"] += 1
                self._application.abandon_work(*work)
                self._stopped(*work, None, None, now_ms)
        if self._commits is not None:
            for work in self._commits.pass_time(now_ms):
                self._say_stopped(work, now_ms)
        self._do(self._session.passed(now_ms), now_ms)

    def _answered(self, number: int, answer: PollAnswer, now_ms: int) -> None:
        session, counts = self._session, number == self._newest
        done = session.answered(number, answer, now_ms)
        if counts:
            self._waiting = answer.waiting
            self._pauses.went_on()
            self._note(answer.notices)
        news = [each for each in done if isinstance(each, act.StartWork | act.StopWork)]
        self._do(done, now_ms)
        if news:
            self._observer.assignment_read()
            if self.state is SessionState.RUNNING:
                owned = session.owned.items()
                share = [queue for queue, epoch in owned if (queue, epoch) not in self._stopping]
                self._rebalances.log_share(share, max(each.epoch for each in news))

    def _note(self, notices: Sequence[NoticeWords]) -> None:
        for notice in notices:
            if notice not in self._noted:
                logger.warning("notice from the engine: %s: %s", notice.code, notice.message)
                self.failure = NoticeError(notice.code, notice.message)
        # A gateway that goes on with the session says them again.
        self._noted = notices or self._noted

    def _refused(self, number: int, error: GatewayError, now_ms: int) -> None:
        session = self._session
        self.failure = error
        joining = session.state is act.ThinState.JOINING
        if error.status is not None and _ends_session(error):
            if error.reason == "duplicate_client_id":
                self.error = DuplicateClientIdError(str(error))
            elif joining and not error.reason:
                # The same join would be refused again.
                self.error = error
                done = session.leave(now_ms)
                self._do(done + session.failed(number, now_ms), now_ms)
                return
            self._do(session.lost(number, error.reason or error.kind, now_ms), now_ms)
            return
        pause_ms = self._pauses.failed(leased=not joining)
        self._failing = now_ms + max(pause_ms, error.retry_after_ms), number

    def _committed(self, event: events.CommitFinished, now_ms: int) -> None:
        if self._commits is None:
            return
        self.counts["commits_failed"] += not event.committed
        begun, stopped = self._commits.finish(event, now_ms)
        for start in begun:
            self._begin(start)
        for work in stopped:
            self._say_stopped(work, now_ms)

    # What the session wants.
    def _do(self, actions: Sequence[act.Action], now_ms: int) -> None:
        """Do the session's actions; what they cause is done after them."""
        self._actions.extend(actions)
        if actions:
            self._see_ownership()
        while self._actions:
            self._act(self._actions.popleft(), now_ms)
        self._take_commits(now_ms)

    def _take_commits(self, now_ms: int) -> None:
        if self._commits is not None:
            commit = self._commits.take(now_ms, self._session.lease_until_ms)
            if commit is not None:
                self._out.append(commit)

    def _act(self, action: act.Action, now_ms: int) -> None:
        patience_ms = self._session.patience_ms
        match action:
            case act.SendJoin(number):
                request = self._requests.join(number, self._subscriptions, patience_ms)
                self._send(request, now_ms, self._pauses.before_join())
            case act.SendPoll(poll):
                self._send(self._requests.poll(poll, patience_ms), now_ms)
            case act.SendLeave(poll):
                self._send(self._requests.leave(poll, patience_ms), now_ms)
            case act.StartWork(queue=queue, epoch=epoch, start=start):
                assert start is not None
                self.counts["starts"] += 1
                self._starts[queue] = start
                self._see_ownership()
                if self._commits is None or not self._commits.begin(start, now_ms):
                    self._begin(start)
            case act.StopWork(queue, epoch):
                self._stop(queue, epoch, now_ms)
            case act.Abandon(queue, epoch):
                logger.warning("%s took too long to stop; released it anyway", queue)
                self._end_work((queue, epoch))
                self._application.abandon_work(queue, epoch)
            case act.StopAll(reason, work):
                self._stop_all(reason, work, now_ms)
            case act.Follow() | act.Freeze() | act.StopFollowing():
                raise AssertionError("only who joins with standby hears this")
            case act.Close():
                pass

    def _begin(self, start: Start) -> None:
        position = Position(start.reset, start.offset)
        self._application.start_work(start.queue, start.epoch, position)

    def _stop(self, queue: Queue, epoch: Epoch, now_ms: int) -> None:
        self.counts["revocations"] += 1
        self._stopping[queue, epoch] = now_ms
        if self._commits is not None and self._commits.waits_to_begin((queue, epoch)):
            # The application has not begun: it stops where it would have begun.
            self._say_stopped((queue, epoch), now_ms)
            return
        self._observer.revoked()
        self._application.stop_work(queue, epoch)

    def _stop_all(self, reason: str, work: Sequence[Work], now_ms: int) -> None:
        logger.warning("stopped everything: %s", reason)
        self.counts["leases_lost"] += 1
        self._pauses.lost()
        self._rebalances.forget()
        idle = self._commits.forget_all() if self._commits is not None else []
        self._application.stop_everything([each for each in work if each not in idle])
        for each in idle:
            self._say_stopped(each, now_ms)

    def _stopped(
        self, queue: Queue, epoch: Epoch, offset: int | None, end: int | None, now_ms: int
    ) -> None:
        """The application has stopped: say so, after a commit if one is needed."""
        session = self._session
        if offset is not None:
            self._do(session.progressed(queue, epoch, offset, end, now_ms), now_ms)
        self._stopping.pop((queue, epoch), None)
        commits = self._commits if session.owned.get(queue) == epoch else None
        if commits is not None and commits.stop((queue, epoch), offset, now_ms):
            self._take_commits(now_ms)
            return
        self._say_stopped((queue, epoch), now_ms)

    def _say_stopped(self, work: Work, now_ms: int) -> None:
        self._end_work(work)
        self._do(self._session.stopped(*work, None, None, now_ms), now_ms)

    def _end_work(self, work: Work) -> None:
        self._stopping.pop(work, None)
        known = self._starts.get(work[0])
        if known is not None and known.epoch == work[1]:
            del self._starts[work[0]]
        if self._commits is not None:
            self._commits.forget(work)

    def _see_ownership(self) -> None:
        """Note what is owned now, before any action: a started queue must be ours by then."""
        session, before = self._session, self.ownership
        epochs = session.owned
        until_ms = session.lease_until_ms
        if (until_ms, epochs) == (before.until_ms, before.epochs):
            return
        granted = {
            queue: Granted(start.identity, start.granted, start.offset)
            for queue, start in self._starts.items()
            if epochs.get(queue) == start.epoch
        }
        self.ownership = Ownership(until_ms, epochs, granted=granted)
        if len(epochs) != len(before.epochs):
            self._observer.owned(len(epochs))

    def _send(self, request: Request, now_ms: int, pause_ms: int = 0) -> None:
        """Send a request, after a pause; it gives the one before it up."""
        self._newest, self._failing, self._later = request.number, None, None
        if pause_ms > 0:
            self._later = now_ms + pause_ms, request
        else:
            self._out.append(request)


def _ends_session(error: GatewayError) -> bool:
    """Tell whether a refusal is final for the session, or for the join."""
    if error.status in (409, 422, 400, 413, 415):
        return True
    return error.status == 403 and error.kind == "not_yours"  # noqa: PLR2004 - RFC 9110
