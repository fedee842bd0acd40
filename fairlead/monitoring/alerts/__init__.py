"""The alerts, as a table in code; the files in deploy/prometheus are generated from it."""

from fairlead.monitoring.alerts.alert import Alert, Growth
from fairlead.monitoring.alerts.table import ALERTS, GROWTHS

__all__ = ["ALERTS", "GROWTHS", "Alert", "Growth"]
