"""What the producer's demo knows of its messages: where each is said to be, and how brokers did."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fairlead_client.produce.outgoing import SendResult
from fairlead_client.session.observer import ProducerObserver

FIRST: Final = b"first"
"""What the messages before the load say."""


class Sent(NamedTuple):
    """A message that was acknowledged: its number, where it is said to be, and when."""

    number: int
    result: SendResult
    at: float
    took_ms: float


@dataclass(slots=True)
class BrokerRow:
    """One broker as the producer saw it, for the screen."""

    acknowledged: int = 0
    failed: int = 0
    latency_ms: int = 0
    avoided_until: float = 0.0


@dataclass(slots=True)
class Ledger(ProducerObserver):
    """Collects what became of each message; told on several threads."""

    sent: list[Sent] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)
    rows: dict[str, BrokerRow] = field(default_factory=dict)
    attempts: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """Count for the broker."""
        with self.lock:
            row = self.rows.setdefault(broker, BrokerRow())
            row.acknowledged += 1
            row.latency_ms = latency_ms

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """Count for the broker."""
        with self.lock:
            row = self.rows.setdefault(broker or "-", BrokerRow())
            row.failed += 1
            row.latency_ms = latency_ms
            self.faults[fault] += 1

    def avoided(self, broker: str, duration_ms: int) -> None:
        """Note until when."""
        with self.lock:
            until = time.monotonic() + duration_ms / 1_000 if duration_ms else 0.0
            self.rows.setdefault(broker, BrokerRow()).avoided_until = until

    def acknowledged(self, attempts: int) -> None:
        """Count messages by attempts."""
        with self.lock:
            self.attempts[attempts] += 1

    def shares(self, since: float, until: float) -> dict[str, float]:
        """Return which part of what was acknowledged in a time each broker stored."""
        with self.lock:
            stored = Counter(sent.result.broker for sent in self.sent if since <= sent.at < until)
        total = stored.total()
        return {broker: count / total for broker, count in sorted(stored.items())}
