"""Checks that the cluster accepts our connections, before a client is built (ADR 0177).

When kafka-python's admin client fails to connect, it leaves a thread and a socket behind and only
reports a timeout. `first_contact` shows at once which step fails, and why.
"""

import socket
from collections.abc import Mapping
from typing import Any, Final

from fairlead_client.settings.common_settings import servers_of
from fairlead_client.transport.connection_fault import Contact, Fault, first_contact
from fairlead_client.transport.silent_brokers import silent_last

from fairlead.errors import EnvironmentMissingError

__all__ = ["connection_error", "require_reachable"]

_SETTINGS: Final = {"bootstrap_servers": "kafka.bootstrap"}
"""Our settings' names for kafka-python's options; the others are `kafka.security.` and the name."""
_IDENTITY: Final = ("security_protocol", "sasl_mechanism", "sasl_plain_username", "ssl_cafile")

_TAKES_SECONDS: Final = 0.5
"""A kernel accepts a connection at once, or not at all."""

_taken: set[tuple[str, ...]] = set()
"""Servers that this process has reached before. It checks each only once, so a broker that freezes
later delays no further client."""


def require_reachable(options: Mapping[str, Any]) -> None:
    """Return if a broker accepts connections with these options, or if none refuses them.

    A broker that accepts a connection and stays silent is left to the client, which has its own
    time limits.

    Args:
        options: keyword arguments of a kafka-python client, including ``bootstrap_servers``.

    Raises:
        EnvironmentMissingError: no broker accepts; the message has the failed step and the remedy.
    """
    who = _who(options)
    if who in _taken:
        return
    contact = _contact(options)
    if contact.taken:
        _taken.add(who)
    error = _error(contact)
    if error is not None:
        raise error


def connection_error(options: Mapping[str, Any]) -> EnvironmentMissingError | None:
    """Return what is wrong with the connection after a request failed; None if nothing is.

    A changed password or an expired certificate shows only now. A broker that is still silent
    is the cause, too.
    """
    contact = _contact(options)
    if not contact.taken:
        _taken.discard(_who(options))
    return _error(contact) or _silence(contact, options)


def _contact(options: Mapping[str, Any]) -> Contact:
    servers = silent_last(servers_of(options["bootstrap_servers"]))
    return first_contact({**options, "bootstrap_servers": servers})


def _who(options: Mapping[str, Any]) -> tuple[str, ...]:
    servers = servers_of(options["bootstrap_servers"])
    return (",".join(servers), *(str(options.get(name, "")) for name in _IDENTITY))


def _error(contact: Contact) -> EnvironmentMissingError | None:
    if contact.fault is not None:
        return _named(contact.fault)
    if contact.refused:
        return EnvironmentMissingError(
            f"kafka.bootstrap: no broker accepts a connection ({'; '.join(contact.refused)}).",
            remedy="Start one with: fairlead broker start, or set the address of a running "
            "cluster.",
        )
    return None


def _silence(contact: Contact, options: Mapping[str, Any]) -> EnvironmentMissingError | None:
    if not contact.silent:
        return None
    silent = "; ".join(
        f"{server} takes {'connections and does not answer' if _takes(server) else 'no connection'}"
        for server in contact.silent
    )
    if len(servers_of(options["bootstrap_servers"])) == 1:
        who = "the broker may be frozen"
        remedy = (
            "Name several brokers in kafka.bootstrap, so that clients can ask the others. Check "
            "the process and the machine of this one."
        )
    else:
        who = "the brokers may be frozen"
        remedy = "Check the brokers' processes and machines, and the network to them."
    return EnvironmentMissingError(f"kafka.bootstrap: {silent}: {who}.", remedy=remedy)


def _takes(server: str) -> bool:
    """Whether a silent machine accepts connections; that of a frozen broker does."""
    host, _, port = server.strip().rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _TAKES_SECONDS).close()
    except OSError:
        return False
    return True


def _named(fault: Fault) -> EnvironmentMissingError:
    setting = _SETTINGS.get(fault.option, f"kafka.security.{fault.option}")
    return EnvironmentMissingError(f"{setting}: {fault.says}.", remedy=fault.remedy)
