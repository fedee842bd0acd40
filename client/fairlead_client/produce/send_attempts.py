"""The retry loop of one message, without input, output or clock (sendDefaultImpl).

The caller begins an attempt, does it, and reports its outcome. All times are in ms of one clock
that does not go back.
"""

from enum import Enum, unique
from typing import Final

from fairlead_client.produce.send_error import Attempt, Fault, SendFailedError, SendingError
from fairlead_client.produce.target import Target

SILENCE_MS_MIN: Final = 50
"""A shorter silence blames no broker, just as RocketMQ's tables call no shorter latency slow."""
ELECTION_PAUSE_MS: Final = 100
"""The first pause for brokers to elect a leader (Kafka's retry.backoff.ms, KIP-580)."""
ELECTION_PAUSE_MS_MAX: Final = 1_000
"""The longest pause; each one is twice the one before (retry.backoff.max.ms)."""


@unique
class Mode(Enum):
    """How a message is sent. A one-way message has one attempt, and nobody waits for it.

    RocketMQ gives an asynchronous message up when a broker answers with an error. Here it has as
    many attempts as a synchronous one.
    """

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "one_way"


class SendAttempts:
    """Counts the attempts of one message, and the time left for them.

    An attempt that met no leader does not count while others may follow: no broker had the message,
    and during an election such answers come fast. Only the message's time limits them.

    Args:
        attempts_max: the most attempts.
        timeout_ms: the time for all attempts together, from `begun_ms` on.
        attempt_timeout_ms: how long an attempt may take if others may follow
            (sendMsgMaxTimeoutPerRequest), so that a silent broker leaves time for another; None: an
            equal share of `timeout_ms`. The last attempt may take all the time that is left.
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
        """The brokers where this message failed, in order; the last one is avoided most."""
        return self._tried

    @property
    def number(self) -> int:
        """The number of attempts that have ended."""
        return len(self._failed)

    def left_ms(self, now_ms: int) -> int:
        """Return the time left for all attempts, in ms."""
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
        """Return how long the present attempt has taken, in ms."""
        return now_ms - self._attempt_begun_ms

    def silent(self, now_ms: int) -> Fault:
        """Return the fault of the present attempt, which got no answer until now.

        Its broker is to blame if it had at least half of an attempt's share of the time. The
        look-up and earlier attempts may have left too little time for any broker.
        """
        has_had_time = self.took_ms(now_ms) >= self._silence_ms
        return Fault.UNREACHABLE if has_had_time else Fault.OUT_OF_TIME

    @property
    def _counted(self) -> int:
        return len(self._failed) - self._uncounted

    def failed(self, error: SendingError, now_ms: int) -> int:
        """Note that the present attempt failed; return after how many ms to make the next one.

        Raises:
            SendFailedError: there is no next one: the error is final, or attempts or time are over.
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
        """Return how long to wait; at first not at all, because another queue may have a leader."""
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
            out_of_time: whether the time is over, not the number of attempts.
            why: what prevented the next attempt, or the first one.
        """
        total_ms = now_ms - self._begun_ms
        return SendFailedError(self._failed, total_ms, out_of_time=out_of_time, why=why)
