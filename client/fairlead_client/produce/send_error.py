"""How a sending can fail, and which failures another attempt may mend."""

from collections.abc import Sequence
from enum import Enum, unique
from typing import NamedTuple

from fairlead_client.errors import FairleadClientError, NotAllowedError
from fairlead_client.model import Queue


@unique
class Fault(Enum):
    """Kinds of failure of one attempt.

    UNREACHABLE: no answer in time, or no connection (RemotingException). Whether the message was
    stored is not known. The broker is avoided until it was tried again.
    NOT_LEADER: the queue's broker is another one than was thought, or nobody at present; routes are
    looked at anew, and no broker is blamed (TOPIC_NOT_EXIST).
    BUSY: the broker answered that it cannot at present (SYSTEM_BUSY, SERVICE_NOT_AVAILABLE, …); it
    is avoided for a while.
    OUT_OF_TIME: no answer, but too little of the message's time was left for one; nobody is blamed.
    REFUSED: the broker answered that it never will; no other attempt is made.
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
        """Whether the broker is avoided because of it."""
        return self in (Fault.UNREACHABLE, Fault.BUSY)


class SendingError(FairleadClientError):
    """One attempt failed.

    Attributes:
        fault: in which way.
        broker: the broker that was really met, where the sender knows it better than the route.
    """

    def __init__(self, fault: Fault, why: str, broker: str | None = None) -> None:
        super().__init__(why)
        self.fault = fault
        self.broker = broker


class NoRouteError(FairleadClientError):
    """Nothing is known of a topic: it is not there, or no bridge watches its cluster.

    Where the bridges cannot be asked for want of a right, that error is the cause (`__cause__`).
    """

    def __init__(self, topic: str, waited_ms: int, lack: NotAllowedError | None = None) -> None:
        remedy = (
            "create it, start a bridge for its cluster, or see whether the brokers answer"
            if lack is None
            else f"no bridge can be asked: {lack}"
        )
        super().__init__(f"topic {topic!r} has no route, asked and waited {waited_ms} ms; {remedy}")
        self.topic = topic
        self.__cause__ = lack


class Attempt(NamedTuple):
    """One attempt that failed: where, after how many ms, and with what error."""

    queue: Queue
    broker: str | None
    took_ms: int
    error: str


class SendFailedError(FairleadClientError):
    """A message was not acknowledged. Unless every attempt was refused, it may be stored.

    Attributes:
        attempts: every attempt, in order; none when already the look-up of its topic failed. When
            no other could be begun, the cause (`__cause__`) is what kept it.
        out_of_time: whether the time was over, and not the number of attempts.
    """

    def __init__(
        self,
        attempts: Sequence[Attempt],
        total_ms: int,
        *,
        out_of_time: bool = False,
        why: str = "",
    ) -> None:
        told = [
            f"{attempt.queue.topic}/{attempt.queue.queue_id} on broker {attempt.broker}: "
            f"{attempt.error} after {attempt.took_ms} ms"
            for attempt in attempts
        ]
        if why:
            told.append(why)
        ended = "out of time" if out_of_time else "gave up"
        counted = f"{ended} after {len(attempts)} attempts in {total_ms} ms"
        super().__init__(f"{counted}: {'; '.join(told)}")
        self.attempts = tuple(attempts)
        self.out_of_time = out_of_time
