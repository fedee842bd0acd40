"""The options of the bridge's Kafka clients, including their time limits."""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["bridge_connection"]

_RECONNECT_MS_MAX: Final = 1_000


def bridge_connection(
    bootstrap: str, timeout_ms: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python client.

    Args:
        bootstrap: host:port, several separated by commas.
        timeout_ms: how long one answer of the cluster may take.
        options: further keyword arguments, for security.
    """
    return {
        "client_id": "fairlead-bridge",
        "request_timeout_ms": timeout_ms,
        "bootstrap_timeout_ms": timeout_ms,
        "reconnect_backoff_max_ms": _RECONNECT_MS_MAX,
        **options,
        "bootstrap_servers": bootstrap.split(","),
    }
