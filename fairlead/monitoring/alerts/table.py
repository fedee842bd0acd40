"""All alerts, and the growths of counters that they read."""

from typing import Final

from fairlead.monitoring.alerts.alert import Alert, Growth
from fairlead.monitoring.alerts.bridge_alerts import BRIDGE_ALERTS
from fairlead.monitoring.alerts.client_alerts import CLIENT_ALERTS
from fairlead.monitoring.alerts.engine_alerts import ENGINE_ALERTS, ENGINE_GROWTHS
from fairlead.monitoring.alerts.group_alerts import GROUP_ALERTS, GROUP_GROWTHS

ALERTS: Final[tuple[Alert, ...]] = (*ENGINE_ALERTS, *BRIDGE_ALERTS, *GROUP_ALERTS, *CLIENT_ALERTS)
"""In the order of the files; pages first within a job."""

GROWTHS: Final[tuple[Growth, ...]] = (*ENGINE_GROWTHS, *GROUP_GROWTHS)
"""What is recorded, so that alerts, dashboards and people at night can ask for it by name."""
