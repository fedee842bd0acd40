"""The metrics are in the application's own registry, under the names that dashboards know."""

from fairlead_client.metrics import ClientMetrics, Families
from prometheus_client import CollectorRegistry, generate_latest


def test_values() -> None:
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
