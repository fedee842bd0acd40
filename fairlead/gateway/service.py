"""One gateway at work: it joins the pure gateway to brokers, to the clock and to an event loop.

Everything of the gateway runs on one loop. Threads that read and write the log post to it.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Final

import structlog
from fairlead_client.model import Subscription
from fairlead_client.session.clock import now_ms as running_ms

from fairlead.gateway.callers import Standstill
from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.exchange import PollRequest
from fairlead.gateway.gateway import Gateway
from fairlead.gateway.gateway_times import GatewayTimes
from fairlead.gateway.generation_ends import GenerationEnds
from fairlead.gateway.journal import Journal
from fairlead.gateway.log_writer import LogWriter, WriterStart
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import UNAVAILABLE, Append, News, Refusal, Reply
from fairlead.kafka.topic_follower import Following, TopicFollower
from fairlead.settings import KafkaSettings
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["NOT_READY", "GatewayService"]

_RELEASES_MS: Final = 600_000
_FORGET_S: Final = 5.0
_GATHER_S: Final = (0.001, 0.02)
"""News waits so long for more news, which costs little more to read; longer where much comes."""
_ALIVE_S: Final = 15.0
"""A stream says something this often, so that proxies keep it open."""

NOT_READY: Final = Refusal(
    503,
    "not_ready",
    "The gateway has not read the log to its end yet.",
    "Try again in a moment, or at another gateway.",
)

log = structlog.get_logger(__name__)


class GatewayService:
    """A gateway that serves.

    Args:
        times: its times.
        kafka: the cluster with Fairlead's topics.
        seal: the key of the states.
        journal: counts the appends.
    """

    def __init__(
        self, times: GatewayTimes, kafka: KafkaSettings, seal: StateSeal, journal: Journal
    ) -> None:
        self._times, self._kafka, self._seal, self._journal = times, kafka, seal, journal
        self._names = TopicNames(kafka.topic_prefix)
        # Times in states are compared by other gateways, so they are near the time of day; but
        # they never jump.
        self._offset_ms = time.time_ns() // 1_000_000 - running_ms()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gateway: Gateway | None = None
        self._writer: LogWriter | None = None
        self._writer_start = WriterStart(self._make_writer, self._take_writer)
        self._ends = GenerationEnds(kafka)
        window_ms = times.lease_ms * 4
        self._window_ms = window_ms
        self._follower = TopicFollower(
            kafka,
            {
                "generations": None,
                "assignments": None,
                "heartbeats": window_ms,
                "releases": _RELEASES_MS,
            },
            self._begin,
            self._take,
            self._caught_up,
            name="gateway",
            gather_s=_GATHER_S,
        )
        self._posted: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._is_woken = False
        self._standstill = Standstill()
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._asked: dict[int, asyncio.Future[Reply]] = {}
        self._request = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._forgetting: asyncio.TimerHandle | None = None
        self._generation_waits: list[tuple[int, asyncio.Future[None]]] = []

    @property
    def following(self) -> Following:
        """How far it has read the log."""
        return self._follower.following

    @property
    def stood_still(self) -> bool:
        """Whether its process stood still a moment ago: callers may have gone meanwhile."""
        return self._standstill.was_just_now

    @property
    def sessions(self) -> int:
        """How many sessions it serves."""
        return 0 if self._gateway is None else len(self._gateway.leases)

    @property
    def trouble(self) -> str:
        """Why it is not ready, in words; empty: it is."""
        following = self.following
        if following.trouble:
            return f"the gateway does not follow the log: {following.trouble}"
        if not following.caught_up:
            return f"the gateway reads the log: {following.read:,} of {following.wanted:,}"
        if self._writer_start.trouble:
            return f"the gateway cannot write: {self._writer_start.trouble}"
        return ""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to serve on this loop; where it cannot yet, it tries again."""
        self._loop = loop
        self._standstill.watch(loop)
        self._writer_start.start()
        self._ends.start()
        self._follower.start()

    def stop(self) -> None:
        """Stop; waiting requests are answered by others."""
        self._follower.stop()
        self._ends.stop()
        self._writer_start.stop()
        if self._writer is not None:
            self._writer.close()

    # Requests, on the loop.
    async def join(
        self,
        session: str,
        profile: MemberProfile,
        subscriptions: tuple[Subscription, ...],
        refused: Callable[[int], Refusal | None],
    ) -> Reply:
        """Answer a join; ``refused`` says whether a principal with so many sessions may join."""
        if not self._is_ready:
            return Reply(0, NOT_READY, profile)
        end = await self._ends.ask()
        if end is None or not await self._generation_is_read(end):
            return Reply(0, UNAVAILABLE, profile)
        if self._gateway is None or not self._is_ready:
            return Reply(0, NOT_READY, profile)
        # Not before: others of the same principal have joined meanwhile.
        refusal = refused(self._gateway.leases.count(profile.principal))
        if refusal is not None:
            return Reply(0, refusal, profile)
        request, future = self._ask()
        self._gateway.join(request, session, profile, subscriptions, self._now_ms())
        self._obey()
        return await future

    async def poll(self, asked: PollRequest) -> Reply:
        """Answer a poll, or last words."""
        if self._gateway is None or not self._is_ready:
            return Reply(0, NOT_READY)
        request, future = self._ask()
        try:
            self._gateway.poll(request, asked, self._now_ms())
            self._obey()
            return await future
        except BaseException:
            self._asked.pop(request, None)
            self._gateway.gave_up(request, asked.session)
            raise

    @property
    def _is_ready(self) -> bool:
        return self._writer is not None and self._follower.is_ready

    async def watch(self, session: str, principal: str) -> AsyncGenerator[bool, None]:
        """Yield True whenever the session should poll, and False now and then.

        It ends at once if the session is not the principal's own.
        """
        gateway = self._gateway
        if gateway is None or not gateway.watch(session, principal):
            return
        news = asyncio.Event()
        self._watchers.setdefault(session, set()).add(news)
        try:
            yield False
            while self._gateway is gateway:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), _ALIVE_S)
                told = news.is_set()
                news.clear()
                yield told
        finally:
            self._watchers[session].discard(news)
            if not self._watchers[session]:
                del self._watchers[session]
            gateway.unwatch(session)

    def _ask(self) -> tuple[int, "asyncio.Future[Reply]"]:
        assert self._loop is not None
        self._request += 1
        future: asyncio.Future[Reply] = self._loop.create_future()
        self._asked[self._request] = future
        return self._request, future

    async def _generation_is_read(self, end: int) -> bool:
        assert self._loop is not None
        assert self._gateway is not None
        if self._gateway.log.generations_end >= end:
            return True
        future: asyncio.Future[None] = self._loop.create_future()
        self._generation_waits.append((end, future))
        try:
            await asyncio.wait_for(future, self._times.poll_ms / 1_000)
        except TimeoutError:
            return False
        return True

    # The log, on other threads.
    def _begin(self, names: TopicNames, partitions: Partitions) -> None:
        del names, partitions
        self._post(self._begin_again)

    def _take(self, rows: Sequence[RawRecord]) -> None:
        self._post(self._read, rows)

    def _caught_up(self) -> None:
        self._post(self._note_caught_up)

    def _make_writer(self) -> LogWriter:
        return LogWriter(self._kafka, self._times.lease_ms // 2)

    def _take_writer(self, writer: LogWriter) -> None:
        self._post(setattr, self, "_writer", writer)

    def _post(self, function: Callable[..., object], *values: object) -> None:
        assert self._loop is not None
        self._posted.append((function, values))
        # To wake the loop costs more than most of what is posted.
        if not self._is_woken and not self._loop.is_closed():
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._run_posted)

    # The log, on the loop.
    def _run_posted(self) -> None:
        # First: what is posted from now on wakes the loop again.
        self._is_woken = False
        while self._posted:
            function, values = self._posted.popleft()
            function(*values)
        if self._gateway is not None:
            self._obey()

    def _begin_again(self) -> None:
        since_ms = time.time_ns() // 1_000_000 - self._window_ms
        self._gateway = Gateway(self._times, self._seal, since_ms)
        for request, future in self._asked.items():
            if not future.done():
                future.set_result(Reply(request, NOT_READY))
        self._asked.clear()
        if self._forgetting is None:
            self._forget()

    def _note_caught_up(self) -> None:
        sessions = 0 if self._gateway is None else len(self._gateway.log.sessions)
        log.info("gateway_has_read", sessions=sessions)

    def _forget(self) -> None:
        if self._gateway is not None and self._loop is not None:
            self._gateway.forget(self._now_ms(), time.time_ns() // 1_000_000)
            self._forgetting = self._loop.call_later(_FORGET_S, self._forget)

    def _read(self, rows: Sequence[RawRecord]) -> None:
        gateway = self._gateway
        assert gateway is not None
        now_ms = self._now_ms()
        first = 0
        for index, row in enumerate(rows):
            # Rows of one topic come together.
            if index + 1 < len(rows) and rows[index + 1].topic == row.topic:
                continue
            suffix = self._names.suffix(row.topic)
            assert suffix is not None
            self._read_topic(gateway, suffix, rows[first : index + 1], now_ms)
            first = index + 1
        for end, future in self._generation_waits:
            if gateway.log.generations_end >= end and not future.done():
                future.set_result(None)
        self._generation_waits = [each for each in self._generation_waits if not each[1].done()]

    def _read_topic(
        self, gateway: Gateway, suffix: str, rows: Sequence[RawRecord], now_ms: int
    ) -> None:
        try:
            gateway.read(suffix, rows, now_ms)
        except Exception:
            # A defect: it must cost its own record alone. What was read may be read again.
            log.exception("gateway_record_failed", topic=suffix, records=len(rows))
            for row in rows:
                with contextlib.suppress(Exception):
                    gateway.read(suffix, [row], now_ms)

    def _note_append(
        self, of: Gateway, append: Append, at: tuple[int, int] | None, append_ms: int
    ) -> None:
        self._journal.appended(append.suffix, is_there=at is not None)
        if of is not self._gateway:
            # It has read the log anew since, and numbers its appends anew.
            return
        if at is None:
            of.failed(append.number, self._now_ms())
        else:
            of.appended(append.number, at, append_ms, self._now_ms())

    def _passed(self) -> None:
        self._timer = None
        if self._gateway is not None:
            self._gateway.passed(self._now_ms())
            self._obey()

    def _obey(self) -> None:
        gateway, writer = self._gateway, self._writer
        assert gateway is not None
        for output in gateway.take_output():
            if isinstance(output, Append):
                assert writer is not None
                writer.append(output, partial(self._post, self._note_append, gateway))
            elif isinstance(output, News):
                for news in self._watchers.get(output.session, ()):
                    news.set()
            else:
                future = self._asked.pop(output.request, None)
                if future is not None and not future.done():
                    future.set_result(output)
        self._plan()

    def _plan(self) -> None:
        assert self._gateway is not None
        assert self._loop is not None
        due_ms = self._gateway.next_deadline_ms()
        if due_ms is None or (self._timer is not None and self._timer_ms <= due_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = due_ms
        wait_s = max(0, due_ms - self._now_ms()) / 1_000
        self._timer = self._loop.call_later(wait_s, self._passed)

    def _now_ms(self) -> int:
        return running_ms() + self._offset_ms
