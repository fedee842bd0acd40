"""The session of a thin client: events in, actions out, without a clock, input or output.

It keeps the four rules of the gateway's clients:

1. Work on a queue only between start and stop, and only while the lease holds: until the newest
   answered request was sent, plus the `lease_ms` of its answer.
2. When asked to stop, finish what is in hand, then say `stopped` with the next offset. When the
   lease ends, stop everything at once and say nothing of it.
3. Say the position of every work with every poll. Start each queue exactly at its offset.
4. Echo `state`, raise `sequence` with every poll, and use only the answer to the newest poll.

One that stands by follows its data plane's strategy until an answer says otherwise: see
`thin_standing`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.memory import NEVER_MS
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_actions import (
    Abandon,
    Action,
    Close,
    Follow,
    Freeze,
    SendJoin,
    SendLeave,
    SendPoll,
    StartWork,
    StopAll,
    StopFollowing,
    StopWork,
)
from fairlead_client.thin.thin_standing import ThinStanding
from fairlead_client.thin.thin_words import Joined, Poll, PollAnswer, Stopped

__all__ = [
    "NEVER_MS",
    "Abandon",
    "Action",
    "Close",
    "Follow",
    "Freeze",
    "SendJoin",
    "SendLeave",
    "SendPoll",
    "StartWork",
    "StopAll",
    "StopFollowing",
    "StopWork",
    "ThinSession",
    "ThinState",
]

RETRY_MS: Final = 200
"""Between a request that failed and the next one."""
GATHER_MS: Final = 20
"""After it is asked to stop, and while it awaits other stops: it has more to say in a moment."""


class ThinState(StrEnum):
    """What the session waits for."""

    JOINING = "joining"
    """An answer to its join; it has no lease."""
    POLLING = "polling"
    """Answers to its polls; it holds a lease."""
    LEAVING = "leaving"
    """The end of its work; it starts nothing more."""
    ENDING = "ending"
    """An answer to its last request, which ends the session."""
    FENCED = "fenced"
    """The end of its work; it has no lease."""
    CLOSED = "closed"
    """Nothing."""


@dataclass(slots=True)
class ThinSession:
    """One thin client's session, over all of its joins.

    Attributes:
        stands_by: whether the client can follow its data plane's strategy.
        state: what it waits for.
        lease_until_ms: until when the client may work.
    """

    stands_by: bool = False
    state: ThinState = ThinState.JOINING
    lease_until_ms: int = 0
    _session: str = ""
    _token: str = ""
    _poll_ms: int = 3_000
    joins: int = 0
    """The number of the newest join."""
    _sequence: int = 0
    """The number of the newest request. Joins and polls share their numbers, and these go on over
    joins: a late answer of a former session, or of a former join, is none to the newest request."""
    _sent_ms: int = 0
    _under_way: bool = False
    _due_ms: int = 0
    _held: ThinStanding = field(default_factory=ThinStanding)
    _stopped: dict[tuple[Queue, Epoch], Stopped] = field(default_factory=dict)
    _said: frozenset[tuple[Queue, Epoch]] = frozenset()
    _subscriptions: tuple[Subscription, ...] | None = None
    _subscribed: tuple[Subscription, ...] | None = None
    _decide: bool = False
    _closing: str = ""
    _hand_over_until_ms: int = NEVER_MS
    """When one that leaves stops what nobody takes over; `NEVER_MS`: it does not hand over."""
    _done: list[Action] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._held.stands_by = self.stands_by
        self._held.begin()

    @property
    def owned(self) -> dict[Queue, Epoch]:
        """The works that count while the lease holds; what is followed is none of them."""
        held = self._held.works.items() if self.state in _LEASED else ()
        return {queue: work.epoch for queue, work in held}

    @property
    def standing(self) -> Standing:
        """Who decides what the client holds."""
        return self._held.now

    @property
    def hands_over(self) -> bool:
        """Whether it leaves, and works on until the gateway asks it to stop."""
        return self.state is ThinState.LEAVING and self._hand_over_until_ms < NEVER_MS

    def follows(self, now_ms: int) -> bool:
        """Tell whether the client may work now on what it holds by following."""
        leased = self.state in _LEASED and now_ms < self.lease_until_ms
        return leased and self._held.is_followed

    def works(self, queue: Queue, now_ms: int) -> Epoch | None:
        """Return the epoch under which the client may work on the queue now; None: it may not."""
        return self.owned.get(queue) if now_ms < self.lease_until_ms else None

    def next_deadline_ms(self) -> int:
        """Return the latest time for the next `passed`."""
        if self.state in (ThinState.FENCED, ThinState.CLOSED):
            return NEVER_MS
        due = [self._due_ms]
        if self._under_way:
            due = [self._sent_ms + self.patience_ms]
        if self.state is not ThinState.JOINING:
            due.append(self.lease_until_ms)
        if self.state is ThinState.LEAVING:
            due.append(self._hand_over_until_ms)
        return min(due)

    @property
    def patience_ms(self) -> int:
        """How long an answer is awaited: it may be held for `poll_ms`."""
        return self._poll_ms + max(1_000, self._poll_ms // 2)

    # The events.
    def passed(self, now_ms: int) -> list[Action]:
        """Time has passed."""
        self._check_lease(now_ms)
        return self._end_step(now_ms)

    def joined(self, number: int, answer: Joined, now_ms: int) -> list[Action]:
        """The join of this number was answered."""
        if self.state is ThinState.JOINING and number == self.joins and self._under_way:
            self._session, self._token, self._poll_ms = answer.session, answer.state, answer.poll_ms
            self._under_way = False
            self.lease_until_ms = self._sent_ms + answer.lease_ms
            self._due_ms = now_ms
            # Its client closes already: the session that the join made ends at once.
            self.state = ThinState.ENDING if self._closing else ThinState.POLLING
        self._check_lease(now_ms)
        return self._end_step(now_ms)

    def answered(self, sequence: int, answer: PollAnswer, now_ms: int) -> list[Action]:
        """The poll of this sequence was answered; only the newest counts."""
        self._check_lease(now_ms)
        if self.state in _LEASED and sequence == self._sequence and self._under_way:
            self._under_way = False
            self._token = answer.state
            self.lease_until_ms = self._sent_ms + answer.lease_ms
            for name in self._said:
                self._stopped.pop(name, None)
            self._subscribed = self._subscriptions
            self._decide = False
            self._obey(answer)
            asked = any(isinstance(each, StopWork) for each in self._done)
            self._due_ms = now_ms + GATHER_MS * asked
            self._check_lease(now_ms)
        return self._end_step(now_ms)

    def failed(self, sequence: int, now_ms: int) -> list[Action]:
        """No answer comes to the request of this sequence (a join: its number)."""
        self._check_lease(now_ms)
        if self._under_way and sequence == self._sequence:
            self._under_way = False
            self._due_ms = now_ms + RETRY_MS
        return self._end_step(now_ms)

    def lost(self, sequence: int, reason: str, now_ms: int) -> list[Action]:
        """The gateway says that the session is over, or that the join makes none."""
        if self.state in _ASKING and sequence == self._sequence:
            if reason == "duplicate_client_id":
                self._closing = reason
            if self.state is ThinState.JOINING:
                return self.failed(sequence, now_ms)
            self._fence(reason)
        return self._end_step(now_ms)

    def left(self, now_ms: int) -> list[Action]:
        """The gateway has ended the session, as the client wanted."""
        if self.state is ThinState.ENDING:
            self.state = ThinState.CLOSED
            self._done.append(Close(self._closing))
        return self._end_step(now_ms)

    def progressed(
        self, queue: Queue, epoch: Epoch, offset: int, end: int | None, now_ms: int
    ) -> list[Action]:
        """All messages of the queue below `offset` are processed."""
        self._check_lease(now_ms)
        held = self._held.works.get(queue)
        if held is not None and held.epoch == epoch:
            held.report(offset, end)
        return self._end_step(now_ms)

    def stopped(
        self, queue: Queue, epoch: Epoch, offset: int | None, end: int | None, now_ms: int
    ) -> list[Action]:
        """The application has stopped this work; None: the last progress holds."""
        self._check_lease(now_ms)
        held = self._held.works.get(queue)
        if held is not None and held.epoch == epoch and held.stopping:
            held.report(offset, end)
            said = self._held.remove(queue)
            if self.state in _LEASED:
                self._say_stopped(said)
                more = any(each.stopping for each in self._held.works.values())
                self._hurry(now_ms, GATHER_MS if more else 0)
        return self._end_step(now_ms)

    def frozen(self, epoch: Epoch, held: Mapping[Queue, int | None], now_ms: int) -> list[Action]:
        """The application answers the freeze of this epoch: it holds these queues, and takes none.

        Each has its next offset; None: the application does not know it.
        """
        self._check_lease(now_ms)
        if self.state is ThinState.POLLING and self._held.frozen(epoch, held.items()):
            self._hurry(now_ms)
        return self._end_step(now_ms)

    def unfollowed(self, now_ms: int) -> list[Action]:
        """Nothing runs any more that the application held without a grant."""
        self._check_lease(now_ms)
        asked = self.state is not ThinState.POLLING or self.standing is Standing.OWN
        if self._held.is_loose and asked:
            self._held.is_loose = False
            self._hurry(now_ms)
        return self._end_step(now_ms)

    def subscribe(self, subscriptions: tuple[Subscription, ...], now_ms: int) -> list[Action]:
        """The client reads other topics from now on."""
        self._check_lease(now_ms)
        self._subscriptions = subscriptions
        self._hurry(now_ms)
        return self._end_step(now_ms)

    def want_decision(self, now_ms: int) -> list[Action]:
        """The application wants the engine to decide at once."""
        self._check_lease(now_ms)
        self._decide = True
        self._hurry(now_ms)
        return self._end_step(now_ms)

    def leave(self, now_ms: int, hand_over_ms: int = 0) -> list[Action]:
        """The application closes the client; a second call may hurry it.

        For `hand_over_ms` it works on, until the gateway names each queue that somebody takes over.
        """
        self._check_lease(now_ms)
        self._closing = self._closing or "left"
        until_ms = now_ms + (hand_over_ms if self._held.reached is Standing.OWN else 0)
        if self.state is ThinState.POLLING:
            self.state = ThinState.LEAVING
            self._hand_over_until_ms = until_ms
            self._hurry(now_ms)
        elif self._hand_over_until_ms < NEVER_MS:
            self._hand_over_until_ms = min(self._hand_over_until_ms, until_ms)
        return self._end_step(now_ms)

    # The rules.
    def _obey(self, answer: PollAnswer) -> None:
        held = self._held
        self._done += held.hear(answer, leaves=self.state is not ThinState.POLLING)
        for stop in answer.stop:
            asked = held.works.get(stop.queue)
            if asked is not None and asked.granted == stop.epoch and stop.deadline_ms > 0:
                self._done += asked.stop(stop.queue)
        named = set(answer.working)
        for queue, epoch, work in held.granted():
            if (queue, epoch) not in named:
                self._done.append(Abandon(queue, work.epoch))
                self._say_stopped(held.remove(queue))
        if self.state is ThinState.POLLING:
            self._done += held.start(answer.start)

    def _say_stopped(self, stopped: Stopped | None) -> None:
        if stopped is not None:
            self._stopped[stopped.queue, stopped.epoch] = stopped

    def _hurry(self, now_ms: int, wait_ms: int = 0) -> None:
        """Poll soon: whoever waits for these words does not wait for the poll under way."""
        if self.state in _LEASED:
            due_ms = NEVER_MS if self._under_way else self._due_ms
            self._under_way, self._due_ms = False, min(due_ms, now_ms + wait_ms)

    def _check_lease(self, now_ms: int) -> None:
        if self.state in _SESSION and now_ms >= self.lease_until_ms:
            self._fence("lease_ended")

    def _fence(self, reason: str) -> None:
        self.state = ThinState.FENCED
        self._under_way = False
        self._stopped.clear()
        works = self._held.works
        self._done.append(
            StopAll(reason, tuple((queue, held.epoch) for queue, held in works.items()))
        )
        for held in works.values():
            held.stopping = True
        self._held.begin()

    def _end_hand_over(self, now_ms: int) -> None:
        if self.hands_over and now_ms >= self._hand_over_until_ms:
            self._hand_over_until_ms = NEVER_MS
            self._done += self._held.stop_all()

    def _end_step(self, now_ms: int) -> list[Action]:
        self._end_hand_over(now_ms)
        if self.state is ThinState.FENCED and self._held.is_idle:
            if self._closing:
                self.state = ThinState.CLOSED
                self._done.append(Close(self._closing))
            else:
                self.state = ThinState.JOINING
                self._subscribed = None
                self._due_ms = now_ms
        if self.state is ThinState.LEAVING and self._held.is_idle:
            self.state = ThinState.ENDING
            self._under_way = False
            self._due_ms = now_ms
        if self._under_way and now_ms >= self._sent_ms + self.patience_ms:
            self._under_way = False
            self._due_ms = now_ms
        if self.state is ThinState.JOINING and self._closing and not self._under_way:
            self.state = ThinState.CLOSED
            self._done.append(Close(self._closing))
        if not self._under_way and now_ms >= self._due_ms:
            self._send(now_ms)
        done, self._done = self._done, []
        return done

    def _send(self, now_ms: int) -> None:
        if self.state in (ThinState.FENCED, ThinState.CLOSED):
            return
        self._under_way, self._sent_ms = True, now_ms
        self._sequence += 1
        if self.state is ThinState.JOINING:
            self.joins = self._sequence
            self._done.append(SendJoin(self.joins))
            return
        self._said = frozenset(self._stopped)
        poll = Poll(
            self._session,
            self._token,
            self._sequence,
            0 if self._held.starts_wait else self._poll_ms,
            self._held.said_works(),
            tuple(self._stopped.values()),
            None if self._subscriptions == self._subscribed else self._subscriptions,
            leaving=self.state is not ThinState.POLLING,
            decide=self._decide,
            standing=self._held.reached if self.stands_by else None,
            frozen=self._held.answer,
        )
        ending = self.state is ThinState.ENDING
        self._done.append(SendLeave(poll) if ending else SendPoll(poll))


_LEASED: Final = frozenset({ThinState.POLLING, ThinState.LEAVING})
_SESSION: Final = _LEASED | {ThinState.ENDING}
_ASKING: Final = _SESSION | {ThinState.JOINING}
