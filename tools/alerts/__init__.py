"""The alerts, as a table in code; the files in deploy/prometheus are generated from it."""

from tools.alerts.alert import Alert, Growth
from tools.alerts.table import ALERTS, GROWTHS

__all__ = ["ALERTS", "GROWTHS", "Alert", "Growth"]
