"""Chooses the queue of each sending, and learns from its outcome."""

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from fairlead_client.produce.broker_health import BrokerHealth, BrokerState
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.target import Target

_NOBODY: frozenset[str] = frozenset()


class Selector(Protocol):
    """Chooses queues for a producer, and learns about brokers. Several threads call it."""

    def select(self, turns: FairRoundRobin, tried: Sequence[str], now_ms: int) -> Target:
        """Return the topic's next queue for a message that failed at these brokers."""

    def succeeded(self, broker: str, latency_ms: int, *, now_ms: int) -> int:
        """Note an acknowledged message; return for how many ms the broker is avoided."""

    def failed(self, broker: str, latency_ms: int, *, reachable: bool, now_ms: int) -> int:
        """Note a failed sending; return for how many ms the broker is avoided."""

    def forget_except(self, brokers: frozenset[str]) -> None:
        """Forget every broker but these."""

    def states(self) -> dict[str, BrokerState]:
        """Return the state of each broker."""


class FairSelector:
    """Fair round robin that avoids slow and failed brokers.

    Args:
        health: the state of the brokers.
        avoid: whether latency and failures of earlier messages count; otherwise the selector skips
            only brokers where this very message failed.
    """

    def __init__(self, health: BrokerHealth, *, avoid: bool = True) -> None:
        self._health = health
        self._avoid = avoid
        self._lock = Lock()

    def select(self, turns: FairRoundRobin, tried: Sequence[str], now_ms: int) -> Target:
        """Return the next queue; see FairRoundRobin.select.

        Raises:
            NoQueueError: there are no queues.
        """
        with self._lock:
            if not self._avoid:
                return turns.select(_NOBODY, _NOBODY, tried)
            health = self._health
            avoided = health.avoided(now_ms)
            target = turns.select(avoided, health.unreachable if avoided else _NOBODY, tried)
            if target.broker is not None:
                health.chosen(target.broker, now_ms=now_ms)
            return target

    def succeeded(self, broker: str, latency_ms: int, *, now_ms: int) -> int:
        """Note an acknowledged message; return for how many ms the broker is avoided."""
        with self._lock:
            return self._health.succeeded(broker, latency_ms, now_ms=now_ms)

    def failed(self, broker: str, latency_ms: int, *, reachable: bool, now_ms: int) -> int:
        """Note a failed sending; return for how many ms the broker is avoided."""
        with self._lock:
            return self._health.failed(broker, latency_ms, reachable=reachable, now_ms=now_ms)

    def forget_except(self, brokers: frozenset[str]) -> None:
        """Forget every broker but these."""
        with self._lock:
            self._health.forget_except(brokers)

    def states(self) -> dict[str, BrokerState]:
        """Return the state of each broker."""
        with self._lock:
            return self._health.states
