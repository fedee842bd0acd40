"""Prometheus metrics of this process's clients; install the extra `fairlead-client[metrics]`."""

import time
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from fairlead_client.session.observer import Observer, ProducerObserver

SEND_SECONDS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.55, 1.0, 1.8, 3.0, 5.0, 15.0)
REVOKE_SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ClientMetrics(Observer):
    """Metrics of one client, labelled with its group, in the application's own registry.

    Args:
        group: the client's group.
        families: the metric families; create them once per registry, for all its clients.
    """

    def __init__(self, group: str, families: "Families") -> None:
        self._last_assignment = families.last_assignment.labels(group)
        self._owned = families.owned.labels(group)
        self._owned_before = 0
        self._polls = families.polls.labels(group)
        self._revocations = families.revocations.labels(group)
        self._revoke_seconds = families.revoke_seconds.labels(group)
        self._commit_errors = families.commit_errors.labels(group)
        self._passed_over = families.passed_over.labels(group)

    def assignment_read(self) -> None:
        """Set the time of the last assignment."""
        self._last_assignment.set_to_current_time()

    def batch_passed_over(self) -> None:
        """Count it."""
        self._passed_over.inc()

    def owned(self, queues: int) -> None:
        """Add this client's queues to those of the group's other clients in this process."""
        self._owned.inc(queues - self._owned_before)
        self._owned_before = queues

    def polled(self) -> None:
        """Count it."""
        self._polls.inc()

    def revoked(self) -> None:
        """Count it."""
        self._revocations.inc()

    def revoke_took(self, seconds: float) -> None:
        """Observe the duration."""
        self._revoke_seconds.observe(seconds)

    def commit_failed(self) -> None:
        """Count it."""
        self._commit_errors.inc()


class Families:
    """The clients' metric families; create one per registry, and a ClientMetrics per client."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        label = ["group"]
        self.last_assignment = Gauge(
            "fairlead_client_last_assignment_timestamp_seconds",
            "Unix time at which a client of the group in this process last read an assignment; "
            "0 before the first.",
            label,
            registry=registry,
        )
        self.owned = Gauge(
            "fairlead_client_owned_queues",
            "Queues that the group's clients in this process work on; in a broadcasting group, "
            "queues that they read.",
            label,
            registry=registry,
        )
        self.polls = Counter(
            "fairlead_client_polls",
            "How often the application asked for messages, or a PushConsumer called its listener.",
            label,
            registry=registry,
        )
        self.revocations = Counter(
            "fairlead_client_revocations",
            "Queues that the clients gave up one by one: moved, drained, or released at a leave.",
            label,
            registry=registry,
        )
        self.revoke_seconds = Histogram(
            "fairlead_client_revoke_callback_seconds",
            "How long the application took to stop working on a queue that it gave up; until then "
            "nobody else has it.",
            label,
            registry=registry,
            buckets=REVOKE_SECONDS,
        )
        self.commit_errors = Counter(
            "fairlead_client_commit_errors",
            "Failed commits of positions; in a broadcasting group, failed writes of the offsets "
            "file.",
            label,
            registry=registry,
        )
        self.passed_over = Counter(
            "fairlead_client_batches_passed_over",
            "Batches of assignments, handovers and generations that a client could not read and "
            "skipped; the log names each one.",
            label,
            registry=registry,
        )


class ProducerMetrics(ProducerObserver):
    """Metrics of one producer, labelled with its producer group and each broker.

    Args:
        group: the producer's group.
        families: the metric families; create them once per registry, for all its producers.
    """

    def __init__(self, group: str, families: "ProducerFamilies") -> None:
        self._group = group
        self._families = families

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """Count it, and observe the latency."""
        self._families.attempts.labels(self._group, broker, "acknowledged").inc()
        self._families.latency.labels(self._group, broker).observe(latency_ms / 1_000)

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """Count it; the time until a failure is no latency."""
        del latency_ms
        self._families.attempts.labels(self._group, broker or "", fault).inc()

    def avoided(self, broker: str, duration_ms: int) -> None:
        """Set the time until which the broker is avoided."""
        until = time.time() + duration_ms / 1_000 if duration_ms else 0.0
        self._families.avoided_until.labels(self._group, broker).set(until)

    def acknowledged(self, attempts: int) -> None:
        """Count it."""
        del attempts
        self._families.messages.labels(self._group, "acknowledged").inc()

    def failed(self) -> None:
        """Count it."""
        self._families.messages.labels(self._group, "failed").inc()

    def route_unreadable(self, topic: str) -> None:
        """Count it."""
        del topic
        self._families.unreadable_routes.labels(self._group).inc()


class ProducerFamilies:
    """The producers' metric families; create one per registry, and a ProducerMetrics each."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.messages = Counter(
            "fairlead_producer_messages",
            "Messages that a broker acknowledged, or that failed for good.",
            ["group", "outcome"],
            registry=registry,
        )
        self.attempts = Counter(
            "fairlead_producer_attempts",
            "Attempts to send, by broker; the outcome is acknowledged or the fault: unreachable, "
            "not_leader, busy, out_of_time or refused. The broker is empty if none was known.",
            ["group", "broker", "outcome"],
            registry=registry,
        )
        self.latency = Histogram(
            "fairlead_producer_latency_seconds",
            "How long a broker took to acknowledge a message; failed attempts do not count.",
            ["group", "broker"],
            registry=registry,
            buckets=SEND_SECONDS,
        )
        self.unreadable_routes = Counter(
            "fairlead_producer_unreadable_routes",
            "Changed routes that the producer could not use: the topic keeps its queues.",
            ["group"],
            registry=registry,
        )
        self.avoided_until = Gauge(
            "fairlead_producer_avoided_until_timestamp_seconds",
            "Unix time until which the producer avoids a broker; 0: it does not.",
            ["group", "broker"],
            registry=registry,
        )
