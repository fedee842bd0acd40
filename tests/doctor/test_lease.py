"""What a lease must exceed is computed from the brokers' settings, and each lease is held to it."""

import pytest

from fairlead.doctor import Status
from fairlead.doctor.lease import BrokerTimes, judge_leases, replacement
from fairlead.settings import load_settings

KAFKA = BrokerTimes(session_ms=9_000, lag_ms=30_000, controller_ms=0)
"""Kafka's own settings, with controllers of their own."""
COMBINED = BrokerTimes(session_ms=9_000, lag_ms=30_000, controller_ms=3_000)


def test_the_default_outlasts_kafkas_own_settings() -> None:
    """Heartbeat, session, election and the client's wait add up to less than the default lease."""
    settings = load_settings()
    need = replacement(KAFKA, settings)
    assert need.ms == 3_000 + 9_000 + 500 + 1_500 + 500
    assert need.ms < settings.group_defaults.lease_ms
    (answer,) = judge_leases(KAFKA, settings)
    assert answer.status is Status.OK
    assert "14.5 s (heartbeat 3 + broker.session.timeout.ms 9 + new leaders 0.5" in answer.says
    assert "on a live broker (replica.lag.time.max.ms)" in answer.says


@pytest.mark.parametrize(
    "overrides, times, status, figures",
    [
        ({"group_defaults.lease_ms": 10_000}, KAFKA, Status.WARN, ("14.5 s", "14500", "4500")),
        ({"group_defaults.lease_ms": 9_000}, KAFKA, Status.FAIL, ("14.5 s", "14500", "3500")),
        ({}, COMBINED, Status.WARN, ("17.5 s", "17500", "6500")),
        ({"client.heartbeat_ms": 5_000}, KAFKA, Status.WARN, ("16.5 s", "16500", "7500")),
        ({"client.request_timeout_ms": 4_000}, KAFKA, Status.WARN, ("17 s", "17000", "7000")),
    ],
)
def test_shorter_than_a_replacement(
    overrides: dict[str, int], times: BrokerTimes, status: Status, figures: tuple[str, ...]
) -> None:
    """The warning has the sum and both ways out; a lease that ends with every broker fails."""
    (answer,) = judge_leases(times, load_settings(overrides=overrides))
    assert answer.status is status
    sum_s, lease_ms, session_ms = figures
    assert f"takes up to {sum_s} (" in answer.says
    assert f"to {lease_ms} or more, or broker.session.timeout.ms" in answer.remedy
    assert answer.remedy.endswith(f"of the brokers to {session_ms}")


def test_a_group_of_its_own() -> None:
    """The lease that a group has in conf/ is judged by its own name, beside the default."""
    settings = load_settings(overrides={"group.orders.lease_ms": 12_000})
    (answer,) = judge_leases(KAFKA, settings)
    assert answer.status is Status.WARN
    assert answer.says.startswith("group.orders.lease_ms is 12 s")
