"""Does the cluster take our connections? Asked before a client is built (ADR 0177).

kafka-python's admin client leaves its thread and a socket behind when its constructor fails, and
tells only that time ran out; `first_contact` tells at once which step fails, and why.
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
"""What our settings call kafka-python's options; the others are `kafka.security` and their name."""
_IDENTITY: Final = ("security_protocol", "sasl_mechanism", "sasl_plain_username", "ssl_cafile")

_TAKES_SECONDS: Final = 0.5
"""Its kernel takes a connection at once, or not at all."""

_taken: set[tuple[str, ...]] = set()
"""Where this process got through before. Who starts many clients goes through the steps once, and
a broker that freezes later holds nobody up."""


def require_reachable(options: Mapping[str, Any]) -> None:
    """Return if a broker takes connections with these options, or if none says that it does not.

    A broker that accepts a connection and is silent is left to the client that is built next: it
    has its own time limits.

    Args:
        options: keyword arguments of a kafka-python client, ``bootstrap_servers`` among them.

    Raises:
        EnvironmentMissingError: none does; says which step fails, and what to do.
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
    """Look for what is wrong with the connection after something failed; None: nothing is.

    A password that was changed, or a certificate whose time ended, shows itself only now; and who
    was silent before anything was asked of it, and still is, is the cause.
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
            remedy="Start one with: fairlead broker start, or give the address of a cluster that "
            "runs.",
        )
    return None


def _silence(contact: Contact, options: Mapping[str, Any]) -> EnvironmentMissingError | None:
    if not contact.silent:
        return None
    told = "; ".join(
        f"{server} takes {'connections and does not answer' if _takes(server) else 'no connection'}"
        for server in contact.silent
    )
    if len(servers_of(options["bootstrap_servers"])) == 1:
        who = "the broker may be frozen"
        remedy = (
            "Name several brokers in kafka.bootstrap: then the others are asked. Look at the "
            "process and the machine of this one."
        )
    else:
        who = "the brokers may be frozen"
        remedy = "Look at the brokers' processes and machines, and at the network on the way."
    return EnvironmentMissingError(f"kafka.bootstrap: {told}: {who}.", remedy=remedy)


def _takes(server: str) -> bool:
    """Whether a machine that says nothing takes connections: a frozen broker's does."""
    host, _, port = server.strip().rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _TAKES_SECONDS).close()
    except OSError:
        return False
    return True


def _named(fault: Fault) -> EnvironmentMissingError:
    setting = _SETTINGS.get(fault.option, f"kafka.security.{fault.option}")
    return EnvironmentMissingError(f"{setting}: {fault.says}.", remedy=fault.remedy)
