"""The log of every process of Fairlead: one form, no secrets, no control characters."""

from fairlead.logs.setting_up import configure_logs, log_form, logs_configured
from fairlead.logs.tidying import RateLimit, Secrets, escape_ids

__all__ = [
    "RateLimit",
    "Secrets",
    "configure_logs",
    "escape_ids",
    "log_form",
    "logs_configured",
]
