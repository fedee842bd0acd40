"""All alerts, and the growths of counters that they read."""

from typing import Final

from tools.alerts.alert import Alert, Growth
from tools.alerts.bridge_alerts import BRIDGE_ALERTS
from tools.alerts.client_alerts import CLIENT_ALERTS
from tools.alerts.engine_alerts import ENGINE_ALERTS, ENGINE_GROWTHS
from tools.alerts.gateway_alerts import GATEWAY_ALERTS
from tools.alerts.group_alerts import GROUP_ALERTS, GROUP_GROWTHS

ALERTS: Final[tuple[Alert, ...]] = (
    *ENGINE_ALERTS, *BRIDGE_ALERTS, *GROUP_ALERTS, *GATEWAY_ALERTS, *CLIENT_ALERTS,
)  # fmt: skip
"""In the order of the files; pages first within a job."""

GROWTHS: Final[tuple[Growth, ...]] = (*ENGINE_GROWTHS, *GROUP_GROWTHS)
"""What is recorded, so that alerts, dashboards and people at night can ask for it by name."""
