"""One gateway without a clock, input or output: requests and records in, appends and replies out.

Decides when a poll is answered: after its heartbeat is in the log, and when there is news or the
wait is over. Several gateways may serve one session, one poll each: the `state` that the client
echoes is all that a session remembers between two polls. Before it answers, a gateway reads its own
heartbeat back, and so has read what the others wrote (ADR 0196).
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from fairlead_client.model import Subscription
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.records import Release
from fairlead_client.thin.thin_words import Joined

from fairlead.gateway.client_state import ClientState, StateSeal
from fairlead.gateway.exchange import Exchange, KeptSession, Newest, PollRequest
from fairlead.gateway.gateway_times import GatewayTimes
from fairlead.gateway.hosted_session import HostedSession
from fairlead.gateway.kept_sessions import KeptSessions
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.open_exchanges import OpenExchanges
from fairlead.gateway.outputs import (
    FULL,
    SUPERSEDED,
    UNAVAILABLE,
    Append,
    Body,
    Left,
    News,
    Output,
    Refusal,
    Reply,
    session_over,
    unfit_poll,
)
from fairlead.gateway.poll_words import Poll, UnexpectedStopError, UnfitStandbyError
from fairlead.gateway.session_end import has_read_back, over_before, over_meanwhile
from fairlead.gateway.session_leases import SessionLeases
from fairlead.gateway.session_log import SessionLog, SessionWords
from fairlead.gateway.session_records import SessionRecords
from fairlead.gateway.watched_sessions import WatchedSessions
from fairlead.wire.raw import RawRecord

__all__ = ["Gateway", "GatewayTimes"]

_SILENT_LEASES = 6
"""After so many leases a session is forgotten."""


class Gateway:
    """The gateway.

    Args:
        times: its times.
        seal: the key of the states.
        since_ms: every record that was appended since then will be read.

    Attributes:
        log: what the log says of the sessions.
        leases: the sessions that have a lease here.
    """

    def __init__(self, times: GatewayTimes, seal: StateSeal, since_ms: int) -> None:
        self._times = times
        self.log = SessionLog(times.lease_ms * _SILENT_LEASES, since_ms)
        self._kept = KeptSessions(seal)
        self._open = OpenExchanges()
        self._due: list[tuple[int, int, Exchange]] = []
        self._watched = WatchedSessions()
        self.leases = SessionLeases()
        self._appends: dict[int, tuple[Exchange, on.Event | None]] = {}
        self._number = 0
        self._out: list[Output] = []

    def take_output(self) -> list[Output]:
        """Return what is to be done since the last call, in order."""
        out, self._out = self._out, []
        return out

    # Requests.
    def join(
        self,
        request: int,
        session: str,
        profile: MemberProfile,
        subscriptions: tuple[Subscription, ...],
        now_ms: int,
    ) -> None:
        """A client joins as this session.

        The caller has read every generation that was claimed before the request (rule C1).
        """
        times = self._times
        if not self._makes_way(session, 0):
            # The join has come twice, the second time after its client began to poll.
            self._out.append(Reply(request, SUPERSEDED, profile))
            return
        if len(self.leases) >= times.sessions_max:
            self._out.append(Reply(request, FULL, profile))
            return
        settings = profile.session_settings(subscriptions, times.lease_ms)
        hosted = HostedSession(settings, None, (), self.log.releases(profile.group), now_ms)
        heartbeat = hosted.join(session, self.log.generation, now_ms)
        state = ClientState(profile, subscriptions, times.lease_ms, 0, hosted.saved(), frozenset())
        until_ms = now_ms + times.poll_ms
        exchange = Exchange(
            request, session, state, hosted, Poll(0), now_ms, until_ms, until_ms, joins=True
        )
        self._begin(exchange, [heartbeat])

    def poll(self, request: int, asked: PollRequest, now_ms: int) -> None:
        """A client polls, or says its last words."""
        opened = self._kept.open(asked)
        if isinstance(opened, Refusal):
            self._out.append(Reply(request, opened))
            return
        kept, state = opened
        words = self.log.sessions.get(asked.session)
        over = over_before(words, state, asked.poll)
        if over is not None:
            self._out.append(Reply(request, over, state.profile))
            return
        if not self._makes_way(asked.session, asked.poll.sequence):
            self._out.append(Reply(request, SUPERSEDED, state.profile))
            return
        # From here on only the text knows this session: a poll that fails leaves no trace.
        self._kept.drop(asked.session)
        hosted = self._restored(state, now_ms) if kept is None else kept.hosted
        try:
            done = hosted.begin(asked.poll, now_ms)
        except (UnexpectedStopError, UnfitStandbyError) as error:
            self._out.append(Reply(request, unfit_poll(error), state.profile))
            return
        until_ms = now_ms + min(asked.wait_ms, self._times.poll_ms)
        exchange = Exchange(
            request,
            asked.session,
            state,
            hosted,
            asked.poll,
            now_ms,
            until_ms,
            now_ms + self._times.poll_ms,
            kept,
            ending=asked.ending,
            was_read=None if kept is None else kept.was_read,
        )
        self._begin(exchange, done)
        self._advance(exchange, now_ms)

    def gave_up(self, request: int, session: str) -> None:
        """The caller of a request has gone; what it said is written all the same."""
        exchange = self._open.get(session)
        if exchange is not None and exchange.request == request:
            self._open.remove(exchange)

    def watch(self, session: str, principal: str) -> bool:
        """Announce news of a session from now on; tell whether it is the principal's own."""
        held = self._kept.get(session) or self._open.get(session)
        if held is None or held.state.profile.principal != principal:
            return False
        self._watched.watch(held.state.profile.group, session)
        return True

    def unwatch(self, session: str) -> None:
        """Announce no more news of a session to one of those that watch it."""
        self._watched.unwatch(session)

    def forget(self, now_ms: int, now_append_ms: int) -> None:
        """Forget the sessions whose lease is over, and those that were silent for long."""
        self.log.forget_silent(now_append_ms)
        self._kept.forget(now_ms - 2 * self._times.lease_ms)
        self.leases.forget(now_ms)

    # The log.
    def read(self, suffix: str, rows: Sequence[RawRecord], now_ms: int) -> None:
        """Rows of a topic were read, in order."""
        generation = self.log.generation
        waiting: dict[str, Exchange] = {}
        for row in rows:
            concerned = self.log.apply(suffix, row)
            if concerned is None:
                continue
            self._out += map(News, self._watched.concerned(concerned))
            if isinstance(concerned, Release):
                members = self._open.of_group(concerned.group)
                for exchange in members.values():
                    exchange.newest_ms = row.append_ms
                    exchange.hosted.read_release(concerned, now_ms)
                    exchange.note_release()
                waiting |= members
            elif (waits := self._open.get(concerned)) is not None:
                if suffix == "assignments":
                    waits.newest_ms = row.append_ms
                waiting[concerned] = waits
        if self.log.generation > generation:
            self._out += map(News, self._watched.everybody())
            waiting |= self._open.everybody()
        for exchange in waiting.values():
            self._advance(exchange, now_ms)

    def appended(self, number: int, at: tuple[int, int], append_ms: int, now_ms: int) -> None:
        """The records of an append are in the log; the last one stands there."""
        exchange, event = self._appends.pop(number, (None, None))
        if exchange is None or not self._open.has(exchange):
            # Its session stays exactly as the `state` says that was handed out.
            return
        exchange.awaited.discard(number)
        if event is not None:
            exchange.hosted.appended(event, now_ms)
        if number == exchange.heartbeat:
            exchange.append_ms, exchange.at = append_ms, at
            exchange.confirmed_ms = now_ms
        self._advance(exchange, now_ms)

    def failed(self, number: int, now_ms: int) -> None:
        """The records of an append may not be in the log."""
        exchange, _ = self._appends.pop(number, (None, None))
        if exchange is not None:
            exchange.has_failed = True
            exchange.hosted.owe_progress()
            self._advance(exchange, now_ms)

    def passed(self, now_ms: int) -> None:
        """Time has passed."""
        while self._due and self._due[0][0] <= now_ms:
            exchange = heappop(self._due)[2]
            if self._open.has(exchange):
                exchange.hosted.pass_time(now_ms)
                self._advance(exchange, now_ms)

    def next_deadline_ms(self) -> int | None:
        """Return when `passed` is due; None: nobody waits."""
        while self._due:
            due_ms, _, exchange = self._due[0]
            if self._open.has(exchange):
                return due_ms
            heappop(self._due)
        return None

    # The rules.
    def _makes_way(self, session: str, sequence: int) -> bool:
        """End the wait of an older request; tell whether no newer one waits, which overtook it."""
        waits = self._open.get(session)
        if waits is None:
            return True
        if waits.poll.sequence > sequence:
            return False
        self._reply(waits, SUPERSEDED)
        return True

    def _restored(self, state: ClientState, now_ms: int) -> HostedSession:
        hosted = HostedSession(
            state.profile.session_settings(state.subscriptions, state.lease_ms),
            state.saved,
            state.told,
            self.log.releases(state.profile.group),
            now_ms,
            drain_ms=self._times.drain_ms,
        )
        if not state.is_confirmed:
            hosted.owe_progress()
        return hosted

    def _begin(self, exchange: Exchange, done: Sequence[act.Action]) -> None:
        self._open.add(exchange)
        until_ms = exchange.received_ms + exchange.state.lease_ms
        self.leases.renew(exchange.state.profile.principal, exchange.session, until_ms)
        self._wake_at(exchange, exchange.until_ms)
        self._wake_at(exchange, exchange.gives_up_ms)
        records = SessionRecords(exchange.state.profile, exchange.state.lease_ms)
        of = {
            "id": self._times.name,
            "poll": exchange.poll.sequence,
            "state": exchange.state.issued,
        }
        for action in done:
            for message in records.messages(action, of):
                self._number += 1
                self._out.append(
                    Append(
                        self._number,
                        message.suffix,
                        exchange.group,
                        message.values,
                        message.handed_to,
                    )
                )
                if message.suffix != "handovers":
                    self._appends[self._number] = (exchange, message.appended)
                if message.is_awaited:
                    exchange.awaited.add(self._number)
                if isinstance(action, act.SendHeartbeat):
                    exchange.heartbeat = self._number

    def _advance(self, exchange: Exchange, now_ms: int) -> None:
        """Reply if it is time."""
        if not self._open.has(exchange):
            return
        words = self.log.sessions.get(exchange.session)
        lost = None if exchange.joins else over_meanwhile(exchange, words)
        if lost is not None:
            self._reply(exchange, lost)
        elif exchange.joins and exchange.is_confirmed:
            self._reply_to_join(exchange)
        elif not exchange.is_confirmed:
            if now_ms >= exchange.gives_up_ms or exchange.has_failed:
                self._reply_without_lease(exchange, now_ms)
        elif not has_read_back(exchange, words):
            if now_ms >= exchange.gives_up_ms:
                self._reply(exchange, UNAVAILABLE)
        elif exchange.ending:
            self._reply(exchange, Left())
        else:
            self._feed(exchange, words, now_ms)
            if exchange.shorten_wait(None if words is None else words.heard):
                self._wake_at(exchange, exchange.until_ms)
            ended = exchange.hosted.lost
            if ended is not None:
                self._reply(exchange, session_over(ended.reason, ended.message))
            elif now_ms >= exchange.until_ms or exchange.hosted.has_news:
                self._reply_to_poll(exchange, exchange.state.lease_ms, now_ms)

    def _feed(self, exchange: Exchange, words: SessionWords | None, now_ms: int) -> None:
        """Let the session read the engine's newest words, if they are new."""
        assignment = None if words is None else words.assignment
        notices = () if words is None else tuple(words.notices.values())
        releases = self.log.releases_read(exchange.group)
        newest = Newest(self.log.generation, assignment, notices, releases)
        if newest == exchange.was_read or exchange.hosted.has_left:
            return
        exchange.was_read = newest
        exchange.hosted.read(newest.generation, assignment, notices, now_ms)
        turn_ms = exchange.hosted.next_turn_ms()
        if turn_ms is not None:
            self._wake_at(exchange, turn_ms)

    # Replies.
    def _reply_to_join(self, exchange: Exchange) -> None:
        text = self._keep(exchange, self._times.lease_ms)
        client_id, times = exchange.state.profile.client_id, self._times
        joined = Joined(exchange.session, text, client_id, times.lease_ms, times.poll_ms)
        self._reply(exchange, joined)

    def _reply_to_poll(self, exchange: Exchange, lease_ms: int, now_ms: int) -> None:
        is_news = exchange.hosted.has_news
        answer = exchange.hosted.answer(now_ms)
        # The state after the answer: it says that its starts are known.
        text = self._keep(exchange, lease_ms)
        self._reply(exchange, answer.told(text, lease_ms), is_news=is_news)

    def _reply_without_lease(self, exchange: Exchange, now_ms: int) -> None:
        """Reply although nobody knows whether the heartbeat is in the log.

        At most the rest of the old lease is left; it counts from when the poll was received. The
        answer starts nothing, and its state counts as no newer than the one that was echoed.
        """
        kept = exchange.kept
        left_ms = 0
        if kept is not None and not exchange.ending:
            left_ms = kept.leased_ms + exchange.state.lease_ms - exchange.received_ms
        if left_ms > 0 and not exchange.hosted.has_starts:
            self._reply_to_poll(exchange, left_ms, now_ms)
        else:
            self._reply(exchange, UNAVAILABLE)

    def _keep(self, exchange: Exchange, lease_ms: int) -> str:
        """Keep the session for its next poll; return the `state` that says the same."""
        before, append_ms = exchange.state, exchange.lease_append_ms
        state = ClientState(
            before.profile,
            exchange.poll.subscriptions or before.subscriptions,
            before.lease_ms,
            exchange.poll.sequence if exchange.is_confirmed else before.issued,
            exchange.hosted.saved(),
            exchange.hosted.told,
        )
        text = self._kept.seal(state)
        if append_ms is not None:
            leased_ms = exchange.received_ms - (before.lease_ms - lease_ms)
            value = KeptSession(
                text, state, exchange.hosted, leased_ms, append_ms, exchange.was_read
            )
            self._kept.keep(exchange.session, value)
        return text

    def _reply(self, exchange: Exchange, body: Body, *, is_news: bool = False) -> None:
        self._open.remove(exchange)
        if isinstance(body, Left) or (isinstance(body, Refusal) and body.reason):
            self.leases.end(exchange.state.profile.principal, exchange.session)
        news_ms = exchange.newest_ms if is_news else None
        profile = exchange.state.profile
        self._out.append(Reply(exchange.request, body, profile, exchange.took_ms, is_news, news_ms))

    def _wake_at(self, exchange: Exchange, at_ms: int) -> None:
        self._number += 1
        heappush(self._due, (at_ms, self._number, exchange))
