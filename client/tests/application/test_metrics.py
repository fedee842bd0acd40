"""The metrics are in the application's own registry, under the names that dashboards know."""

from fairlead_client.metrics import (
    ClientMetrics,
    Families,
    ProducerFamilies,
    ProducerMetrics,
)
from prometheus_client import CollectorRegistry, generate_latest


def test_each_event_shows_in_its_metric_by_group() -> None:
    """Each thing that happens shows in its metric, by group."""
    registry = CollectorRegistry()
    families = Families(registry)
    one, two = ClientMetrics("orders", families), ClientMetrics("orders", families)
    one.owned(3)
    two.owned(2)
    one.owned(1)
    one.assignment_read()
    one.polled()
    one.revoked()
    one.revoke_took(0.2)
    one.commit_failed()
    text = generate_latest(registry).decode()
    for line in (
        'fairlead_client_owned_queues{group="orders"} 3.0',
        'fairlead_client_polls_total{group="orders"} 1.0',
        'fairlead_client_revocations_total{group="orders"} 1.0',
        'fairlead_client_revoke_callback_seconds_bucket{group="orders",le="0.25"} 1.0',
        'fairlead_client_commit_errors_total{group="orders"} 1.0',
        'fairlead_client_last_assignment_timestamp_seconds{group="orders"} 1.',
    ):
        assert line in text


def test_each_attempt_shows_by_broker_and_each_message_by_its_end() -> None:
    """Each attempt shows by broker, each message by its end, and how long a broker is avoided."""
    registry = CollectorRegistry()
    metrics = ProducerMetrics("billing", ProducerFamilies(registry))
    metrics.attempt_failed("1", 1_000, "unreachable")
    metrics.attempt_failed(None, 0, "not_leader")
    metrics.avoided("1", 10_000)
    metrics.attempt_succeeded("2", 40)
    metrics.avoided("2", 0)
    metrics.acknowledged(3)
    metrics.failed()
    metrics.route_unreadable("orders")
    text = generate_latest(registry).decode()
    for line in (
        'fairlead_producer_attempts_total{broker="1",group="billing",outcome="unreachable"} 1.0',
        'fairlead_producer_attempts_total{broker="",group="billing",outcome="not_leader"} 1.0',
        'fairlead_producer_attempts_total{broker="2",group="billing",outcome="acknowledged"} 1.0',
        'fairlead_producer_latency_seconds_bucket{broker="2",group="billing",le="0.05"} 1.0',
        'fairlead_producer_avoided_until_timestamp_seconds{broker="1",group="billing"} 1.',
        'fairlead_producer_avoided_until_timestamp_seconds{broker="2",group="billing"} 0.0',
        'fairlead_producer_messages_total{group="billing",outcome="acknowledged"} 1.0',
        'fairlead_producer_messages_total{group="billing",outcome="failed"} 1.0',
        'fairlead_producer_unreadable_routes_total{group="billing"} 1.0',
    ):
        assert line in text
