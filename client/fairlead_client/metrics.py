"""Prometheus metrics of the clients in this process; needs the extra `fairlead-client[metrics]`."""

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
        families: the families to count in; made once per registry, shared by its clients.
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
        """Note when."""
        self._last_assignment.set_to_current_time()

    def batch_passed_over(self) -> None:
        """Count."""
        self._passed_over.inc()

    def owned(self, queues: int) -> None:
        """Several clients of one group in one process add up."""
        self._owned.inc(queues - self._owned_before)
        self._owned_before = queues

    def polled(self) -> None:
        """Count."""
        self._polls.inc()

    def revoked(self) -> None:
        """Count."""
        self._revocations.inc()

    def revoke_took(self, seconds: float) -> None:
        """Observe."""
        self._revoke_seconds.observe(seconds)

    def commit_failed(self) -> None:
        """Count."""
        self._commit_errors.inc()


class Families:
    """The metric families of a registry; make one per registry and a ClientMetrics per client."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        label = ["group"]
        self.last_assignment = Gauge(
            "fairlead_client_last_assignment_timestamp_seconds",
            "When the newest assignment to a client of the group in this process was read, Unix "
            "time; 0 before the first.",
            label,
            registry=registry,
        )
        self.owned = Gauge(
            "fairlead_client_owned_queues",
            "Queues that the group's clients in this process work on; in a broadcasting group "
            "those that they read.",
            label,
            registry=registry,
        )
        self.polls = Counter(
            "fairlead_client_polls",
            "Times that the application asked for messages, or that the listener of a PushConsumer "
            "was called with some.",
            label,
            registry=registry,
        )
        self.revocations = Counter(
            "fairlead_client_revocations",
            "Queues that were taken away one by one: moved, drained, or left with.",
            label,
            registry=registry,
        )
        self.revoke_seconds = Histogram(
            "fairlead_client_revoke_callback_seconds",
            "How long the application took to stop working on a queue that was taken away; until "
            "then nobody else has it.",
            label,
            registry=registry,
            buckets=REVOKE_SECONDS,
        )
        self.commit_errors = Counter(
            "fairlead_client_commit_errors",
            "Commits of positions that failed; in a broadcasting group, writes of the file with "
            "the offsets.",
            label,
            registry=registry,
        )
        self.passed_over = Counter(
            "fairlead_client_batches_passed_over",
            "Batches of assignments, handovers and generations that a client passed over because "
            "it could not read them; the log names each place.",
            label,
            registry=registry,
        )


class ProducerMetrics(ProducerObserver):
    """Metrics of one producer, labelled with its producer group and each broker.

    Args:
        group: the producer's group.
        families: the families to count in; made once per registry, shared by its producers.
    """

    def __init__(self, group: str, families: "ProducerFamilies") -> None:
        self._group = group
        self._families = families

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """Count, and observe the latency."""
        self._families.attempts.labels(self._group, broker, "acknowledged").inc()
        self._families.latency.labels(self._group, broker).observe(latency_ms / 1_000)

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """Count; the time until a failure is no latency."""
        del latency_ms
        self._families.attempts.labels(self._group, broker or "", fault).inc()

    def avoided(self, broker: str, duration_ms: int) -> None:
        """Note until when."""
        until = time.time() + duration_ms / 1_000 if duration_ms else 0.0
        self._families.avoided_until.labels(self._group, broker).set(until)

    def acknowledged(self, attempts: int) -> None:
        """Count."""
        del attempts
        self._families.messages.labels(self._group, "acknowledged").inc()

    def failed(self) -> None:
        """Count."""
        self._families.messages.labels(self._group, "failed").inc()

    def route_unreadable(self, topic: str) -> None:
        """Count."""
        del topic
        self._families.unreadable_routes.labels(self._group).inc()


class ProducerFamilies:
    """The metric families of producers; make one per registry and a ProducerMetrics for each."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.messages = Counter(
            "fairlead_producer_messages",
            "Messages whose sending has ended: acknowledged, or failed for good.",
            ["group", "outcome"],
            registry=registry,
        )
        self.attempts = Counter(
            "fairlead_producer_attempts",
            "Attempts to send by broker: acknowledged, or the fault, which is unreachable, "
            "not_leader, busy or refused. The broker is empty where none was known.",
            ["group", "broker", "outcome"],
            registry=registry,
        )
        self.latency = Histogram(
            "fairlead_producer_latency_seconds",
            "How long a broker took to acknowledge a message; attempts that failed do not count.",
            ["group", "broker"],
            registry=registry,
            buckets=SEND_SECONDS,
        )
        self.unreadable_routes = Counter(
            "fairlead_producer_unreadable_routes",
            "Changed routes that could not be used: the topic's queues stay what they were.",
            ["group"],
            registry=registry,
        )
        self.avoided_until = Gauge(
            "fairlead_producer_avoided_until_timestamp_seconds",
            "Until when a broker is avoided, Unix time; 0: it is not.",
            ["group", "broker"],
            registry=registry,
        )
