"""The brokers' name for the user of a connection."""

from collections.abc import Mapping
from typing import Any

__all__ = ["principal_of"]


def principal_of(options: Mapping[str, Any]) -> str:
    """Return the brokers' name for the user of these options, by Kafka's default rules."""
    if str(options.get("security_protocol", "")).startswith("SASL"):
        return f"User:{options.get('sasl_plain_username') or '<who logs in>'}"
    if options.get("ssl_certfile"):
        return f"User:<subject of {options['ssl_certfile']}>"
    return "User:ANONYMOUS"
