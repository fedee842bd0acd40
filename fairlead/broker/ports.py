"""Chooses free TCP ports on loopback for brokers."""

import errno
import random
import socket
from typing import Final

from fairlead.errors import EnvironmentMissingError

LOOPBACK: Final = "127.0.0.1"
# Below the range of ports for outgoing connections (Linux: 32768 and up, IANA: 49152 and up), so
# that no client's connection takes a chosen port.
_FIRST: Final = 20_000
_LAST: Final = 32_000
_TRIES_MAX: Final = 500


def free_ports(count: int) -> tuple[int, ...]:
    """Return ``count`` different free ports.

    They are random, so that clusters started at the same moment choose different ones.

    Raises:
        EnvironmentMissingError: too few ports are free.
    """
    chosen: list[int] = []
    for _ in range(_TRIES_MAX):
        port = random.randint(_FIRST, _LAST)  # noqa: S311 - spreads choices, guards no secret
        if port not in chosen and is_free(port):
            chosen.append(port)
        if len(chosen) == count:
            return tuple(chosen)
    raise EnvironmentMissingError(
        f"broker: fewer than {count} free ports between {_FIRST} and {_LAST} on {LOOPBACK}.",
        remedy="Stop programs that listen there, or choose a port with --port.",
    )


def is_free(port: int) -> bool:
    """Tell whether a program could listen on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Like Kafka, ignore old connections of a broker that has just stopped.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def is_listening(port: int) -> bool:
    """Tell whether a program accepts connections on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
