"""Sends one writer's records to the broker: in order, one request at a time, perhaps twice.

A request on its way is appended even if its writer dies. If an answer is lost, the writer sends
again, and the log has the record twice; or it gives up and reports a failure although the record is
appended.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fairlead.wire.raw import RawRecord
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.kafka import Kafka, Partition
from fairlead_proof.sim.timeline import Timeline

__all__ = ["Answer", "Producer", "Weather"]

RETRY_MS = 200

Answer = Callable[[RawRecord | None], None]
"""Called with the last record; None: the records may not be in the log."""


class Host(Protocol):
    """What a producer needs to know of its process."""

    @property
    def stands_until_ms(self) -> int:
        """Until then the process is frozen."""

    @property
    def alive(self) -> bool:
        """Whether the process has not died."""


@dataclass(slots=True)
class Request:
    """Records that are sent together."""

    partition: Partition
    key: bytes | None
    values: tuple[bytes | None, ...]
    sent_ms: int
    answer: Answer | None
    last: RawRecord | None = None


@dataclass(slots=True)
class Weather:
    """Network faults of a writer's next requests; each number counts down as it strikes."""

    note: Callable[[str], None]
    lost_answers: int = 0
    late_answers: int = 0
    late_ms: int = 0
    repeated: int = 0


class Producer:
    """One incarnation's connection to the broker."""

    def __init__(
        self,
        world: tuple[Timeline, Kafka, Chance],
        host: Host,
        weather: Weather,
        delivery_timeout_ms: int,
        request_timeout_ms: int,
    ) -> None:
        self._timeline, self._kafka, self._chance = world
        self._host = host
        self._weather = weather
        self._delivery_timeout_ms = delivery_timeout_ms
        self._request_timeout_ms = request_timeout_ms
        self._waiting: deque[Request] = deque()
        self._busy = False
        self._closed = False

    def send(
        self,
        partition: Partition,
        key: bytes | None,
        values: tuple[bytes | None, ...],
        answer: Answer | None,
    ) -> None:
        """Send records in order; call ``answer`` later, if there is one."""
        self._waiting.append(Request(partition, key, values, self._timeline.now_ms, answer))
        if not self._busy:
            self._next()

    def close(self) -> None:
        """Send nothing more; requests on their way may still arrive."""
        self._closed = True
        self._waiting.clear()

    def _next(self) -> None:
        self._busy = bool(self._waiting)
        if self._busy:
            self._attempt(self._waiting[0])

    def _gone(self) -> bool:
        return self._closed or not self._host.alive

    def _attempt(self, request: Request) -> None:
        if self._gone():
            return
        stands_until_ms = self._host.stands_until_ms
        if stands_until_ms > self._timeline.now_ms:
            self._timeline.at(stands_until_ms, lambda: self._attempt(request))
            return
        if self._timeline.now_ms - request.sent_ms >= self._delivery_timeout_ms:
            self._finish(request, known=False)
            return
        self._timeline.after(self._chance.between(1, 30), lambda: self._arrive(request))

    def _arrive(self, request: Request) -> None:
        if not self._kafka.up:
            self._timeline.after(RETRY_MS, lambda: self._attempt(request))
            return
        weather = self._weather
        times = 1
        if weather.repeated:
            weather.repeated -= 1
            weather.note("record_repeated")
            times = 2
        for _ in range(times):
            for value in request.values:
                request.last = self._kafka.append(request.partition, request.key, value)
        wait_ms = self._chance.between(1, 30)
        if weather.lost_answers:
            weather.lost_answers -= 1
            weather.note("answer_lost")
            self._timeline.after(self._request_timeout_ms, lambda: self._attempt(request))
            return
        if weather.late_answers:
            weather.late_answers -= 1
            weather.note("answer_late")
            wait_ms += weather.late_ms
        self._timeline.after(wait_ms, lambda: self._finish(request, known=True))

    def _finish(self, request: Request, *, known: bool) -> None:
        if self._gone():
            return
        self._waiting.popleft()
        if request.answer is not None:
            request.answer(request.last if known else None)
        self._next()
