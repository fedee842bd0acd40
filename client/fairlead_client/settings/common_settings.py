"""The settings that clients and producers share, and their checks."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any, Final

from fairlead_client.errors import SettingsError
from fairlead_client.session.topic_names import GROUP
from fairlead_client.settings.setting_types import check_type

_PORT_MAX: Final = 65_535
PRINTABLE: Final = re.compile(r"[!-~]{1,255}")
KAFKA_OPTIONS: Final = frozenset(
    {
        "api_version", "bootstrap_timeout_ms", "client_dns_lookup", "connections_max_idle_ms",
        "metadata_max_age_ms", "proxy_url", "receive_buffer_bytes", "reconnect_backoff_max_ms",
        "reconnect_backoff_ms", "request_timeout_ms", "sasl_kerberos_domain_name",
        "sasl_kerberos_name",
        "sasl_kerberos_service_name", "sasl_mechanism", "sasl_oauth_token_provider",
        "sasl_plain_password", "sasl_plain_username", "security_protocol", "send_buffer_bytes",
        "socket_connection_setup_timeout_max_ms", "socket_connection_setup_timeout_ms",
        "socket_options", "ssl_cafile", "ssl_certfile", "ssl_check_hostname", "ssl_context",
        "ssl_crlfile", "ssl_keyfile", "ssl_password",
    }
)  # fmt: skip
"""The connection options of kafka-python that an application may set."""


def servers_of(bootstrap: str | Sequence[str]) -> list[str]:
    """Return the servers one by one."""
    given = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
    return [server.strip() for server in given if server.strip()]


def check_who(
    bootstrap: str | Sequence[str], group: str, client_id: str | None, *, unique: str = ""
) -> None:
    """Check the servers, the group and the client id.

    Args:
        bootstrap: the servers.
        group: the group.
        client_id: the chosen id; None: the client generates one.
        unique: what the remedy adds about a client id.

    Raises:
        SettingsError: a setting cannot work; the error names the first one.
    """
    for server in () if isinstance(bootstrap, str) else bootstrap:
        check_type("bootstrap", server, str)
    servers = servers_of(bootstrap)
    if not servers:
        raise SettingsError("bootstrap", "names no server", 'give "host:port"')
    for server in servers:
        if not _is_server(server):
            raise SettingsError(
                "bootstrap", f"{server!r} is not a valid server", 'give "host:port"'
            )
    if not GROUP.fullmatch(group):
        raise SettingsError(
            "group", f"{group!r} is not a valid group", "give 1-120 characters of A-Za-z0-9_%|.-"
        )
    if client_id is not None and not PRINTABLE.fullmatch(client_id):
        raise SettingsError(
            "client_id",
            f"{client_id!r} is not a valid client id",
            f"give 1-255 printable ASCII characters without space{unique}",
        )


def _is_server(text: str) -> bool:
    """Return whether a text is a host or an address, with or without a port, as Kafka writes it."""
    address = text.rpartition("://")[2]
    with suppress(ValueError):
        return bool(ip_address(address))
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        return bool(address)
    return bool(host) and port.isdecimal() and 0 < int(port) <= _PORT_MAX


def check_options(field: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Check that all options are known.

    Raises:
        SettingsError: an option is unknown; the error names it and the known ones.
    """
    unknown = sorted(set(given) - set(known))
    if unknown:
        problem = f"unknown option {unknown[0]!r}"
        raise SettingsError(field, problem, f"use one of {', '.join(sorted(known))}")
