"""The retry loop of one message, without input, output or clock (sendDefaultImpl).

Who drives it asks for an attempt, does it, and tells what became of it. All times are ms of one
clock that does not go back.
"""

from enum import Enum, unique
from typing import Final

from fairlead_client.produce.send_error import Attempt, Fault, SendFailedError, SendingError
from fairlead_client.produce.target import Target

SILENCE_MS_MIN: Final = 50
"""A shorter silence blames no broker: RocketMQ's tables take no shorter latency for slow either."""
ELECTION_PAUSE_MS: Final = 100
"""How long brokers have, at first, to agree who leads (Kafka's retry.backoff.ms, KIP-580)."""
ELECTION_PAUSE_MS_MAX: Final = 1_000
"""The longest of these pauses, each of which is twice the one before (retry.backoff.max.ms)."""


@unique
class Mode(Enum):
    """How a message is sent. One-way messages have one attempt, and nobody waits for it.

    RocketMQ gives up an asynchronous message when a broker answers with an error. Here it has the
    attempts of a synchronous one.
    """

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "one_way"


class SendAttempts:
    """Counts the attempts of one message, and the time left for all of them.

    An attempt that met no leader is not counted while others may follow: nobody had the message,
    and an election answers as fast as it is asked. The time of the message bounds it.

    Args:
        attempts_max: how many there may be.
        timeout_ms: for all of them together, from `begun_ms` on.
        attempt_timeout_ms: the longest that one may take which others may follow
            (sendMsgMaxTimeoutPerRequest), so that a silent broker leaves time for another; None: an
            equal share of `timeout_ms`. The last one may take all the time that is left.
        begun_ms: when the application asked for the sending.
    """

    def __init__(
        self,
        *,
        attempts_max: int,
        timeout_ms: int,
        attempt_timeout_ms: int | None = None,
        begun_ms: int,
    ) -> None:
        self._attempts_max = attempts_max
        self._ends_ms = begun_ms + timeout_ms
        share_ms = max(1, timeout_ms // attempts_max)
        self._attempt_timeout_ms = attempt_timeout_ms or share_ms
        self._silence_ms = max(SILENCE_MS_MIN, min(share_ms, self._attempt_timeout_ms) // 2)
        self._begun_ms = begun_ms
        self._target: Target | None = None
        self._attempt_begun_ms = begun_ms
        self._failed: list[Attempt] = []
        self._tried: list[str] = []
        self._uncounted = 0
        self._elections_met = 0

    @property
    def tried(self) -> list[str]:
        """The brokers where this message failed, in order; the last one is avoided first of all."""
        return self._tried

    @property
    def number(self) -> int:
        """How many attempts have ended."""
        return len(self._failed)

    def left_ms(self, now_ms: int) -> int:
        """Return how much time is left for everything."""
        return max(0, self._ends_ms - now_ms)

    def begin(self, target: Target, now_ms: int) -> int:
        """Begin an attempt; return how many ms it may take.

        Raises:
            SendFailedError: no time is left.
        """
        left_ms = self.left_ms(now_ms)
        if left_ms == 0:
            raise self.failure(now_ms, out_of_time=True)
        self._target = target
        self._attempt_begun_ms = now_ms
        if self._counted + 1 >= self._attempts_max:
            return left_ms
        return min(left_ms, self._attempt_timeout_ms)

    def took_ms(self, now_ms: int) -> int:
        """Return how long the present attempt has taken."""
        return now_ms - self._attempt_begun_ms

    def silent(self, now_ms: int) -> Fault:
        """Return what it means that the present attempt got no answer until now.

        Its broker is blamed when it had at least half of an attempt's share of the time; what a
        look-up or the attempts before have left may be too little for any broker.
        """
        has_had_time = self.took_ms(now_ms) >= self._silence_ms
        return Fault.UNREACHABLE if has_had_time else Fault.OUT_OF_TIME

    @property
    def _counted(self) -> int:
        return len(self._failed) - self._uncounted

    def failed(self, error: SendingError, now_ms: int) -> int:
        """Note that the present attempt failed; return after how many ms another is to be made.

        Raises:
            SendFailedError: none is: the error is final, or attempts or time are used up.
        """
        target = self._target
        assert target is not None
        broker = error.broker or target.broker
        self._failed.append(Attempt(target.queue, broker, self.took_ms(now_ms), str(error)))
        if broker is not None:
            if broker in self._tried:
                self._tried.remove(broker)
            self._tried.append(broker)
        pause_ms = self._pause_ms(error.fault)
        if not error.fault.is_retriable or self._counted >= self._attempts_max:
            raise self.failure(now_ms)
        if self.left_ms(now_ms) <= pause_ms:
            raise self.failure(now_ms, out_of_time=True)
        return pause_ms

    def _pause_ms(self, fault: Fault) -> int:
        """Return how long to wait: not at all at first, since another queue may have a leader."""
        if fault is not Fault.NOT_LEADER:
            self._elections_met = 0
            return 0
        if self._attempts_max > 1:
            self._uncounted += 1
        self._elections_met += 1
        if self._elections_met == 1:
            return 0
        return min(ELECTION_PAUSE_MS << (self._elections_met - 2), ELECTION_PAUSE_MS_MAX)

    def failure(self, now_ms: int, *, out_of_time: bool = False, why: str = "") -> SendFailedError:
        """Return the final error, which names every broker tried and its time.

        Args:
            now_ms: the present time.
            out_of_time: whether the time is over, and not the number of attempts.
            why: what kept the next attempt, or the first one, from being begun.
        """
        total_ms = now_ms - self._begun_ms
        return SendFailedError(self._failed, total_ms, out_of_time=out_of_time, why=why)
