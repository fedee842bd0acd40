"""The failures of a sending, and which ones another attempt may repair."""

from collections.abc import Sequence
from enum import Enum, unique
from typing import NamedTuple

from fairlead_client.errors import FairleadClientError, NotAllowedError
from fairlead_client.model import Queue


@unique
class Fault(Enum):
    """Kinds of failure of one attempt.

    UNREACHABLE: no answer in time, or no connection (RemotingException). The message may be stored.
    The producer avoids the broker.
    NOT_LEADER: another broker leads the queue, or none does now (TOPIC_NOT_EXIST). The producer
    asks for the route again, and avoids no broker.
    BUSY: the broker answered that it cannot store the message now (SYSTEM_BUSY,
    SERVICE_NOT_AVAILABLE, …). The producer avoids it for a while.
    OUT_OF_TIME: no answer, but the message had too little time left. The producer avoids no broker.
    REFUSED: the broker will never take the message. The producer makes no other attempt.
    """

    UNREACHABLE = "unreachable"
    NOT_LEADER = "not_leader"
    BUSY = "busy"
    OUT_OF_TIME = "out_of_time"
    REFUSED = "refused"

    @property
    def is_retriable(self) -> bool:
        """Whether another queue may take the message."""
        return self is not Fault.REFUSED

    @property
    def isolates(self) -> bool:
        """Whether the producer avoids the broker because of it."""
        return self in (Fault.UNREACHABLE, Fault.BUSY)


class SendingError(FairleadClientError):
    """One attempt failed.

    Attributes:
        fault: the kind of failure.
        broker: the broker of the attempt, if the sender knows it better than the route.
    """

    def __init__(self, fault: Fault, why: str, broker: str | None = None) -> None:
        super().__init__(why)
        self.fault = fault
        self.broker = broker


class NoRouteError(FairleadClientError):
    """A topic has no route: it does not exist, or nobody who is asked watches its cluster.

    If a missing right prevents asking the bridges, that error is the cause (`__cause__`).
    """

    def __init__(
        self,
        topic: str,
        waited_ms: int,
        lack: NotAllowedError | None = None,
        remedy: str = "create it, start a bridge for its cluster, or check that the brokers answer",
    ) -> None:
        if lack is not None:
            remedy = f"cannot ask the bridges: {lack}"
        super().__init__(f"topic {topic!r} has no route after {waited_ms} ms; {remedy}")
        self.topic = topic
        self.__cause__ = lack


class Attempt(NamedTuple):
    """One failed attempt: its queue, its broker, its time in ms, and its error."""

    queue: Queue
    broker: str | None
    took_ms: int
    error: str


class SendFailedError(FairleadClientError):
    """No broker acknowledged a message. Unless every attempt was refused, it may be stored.

    If another error prevented the next attempt, that error is the cause (`__cause__`).

    Attributes:
        attempts: every attempt, in order; empty if the look-up of the topic failed.
        out_of_time: whether the time was over, not the number of attempts.
    """

    def __init__(
        self,
        attempts: Sequence[Attempt],
        total_ms: int,
        *,
        out_of_time: bool = False,
        why: str = "",
    ) -> None:
        details = [
            f"{attempt.queue.topic}/{attempt.queue.queue_id} on broker {attempt.broker}: "
            f"{attempt.error} after {attempt.took_ms} ms"
            for attempt in attempts
        ]
        if why:
            details.append(why)
        ended = "out of time" if out_of_time else "gave up"
        counted = f"{ended} after {len(attempts)} attempts in {total_ms} ms"
        super().__init__(f"{counted}: {'; '.join(details)}")
        self.attempts = tuple(attempts)
        self.out_of_time = out_of_time
