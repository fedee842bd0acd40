"""Which TCP ports on loopback a broker may take."""

import errno
import random
import socket
from typing import Final

from fairlead.errors import EnvironmentMissingError

LOOPBACK: Final = "127.0.0.1"
# Below the range from which systems draw the ports of outgoing connections (Linux: 32768 and up,
# the IANA range: 49152 and up): a port chosen here is not taken by a client's connection meanwhile.
_FIRST: Final = 20_000
_LAST: Final = 32_000
_TRIES_MAX: Final = 500


def free_ports(count: int) -> tuple[int, ...]:
    """Return so many different ports that nobody listens on.

    They are drawn at random, so that several clusters started at the same moment do not choose
    alike.

    Raises:
        EnvironmentMissingError: hardly any port is free.
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
        remedy="Stop what listens there, or give a port with --port.",
    )


def is_free(port: int) -> bool:
    """Tell whether a listener could be opened on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Kafka does: connections of a broker that just stopped do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def is_listening(port: int) -> bool:
    """Tell whether somebody accepts connections on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
