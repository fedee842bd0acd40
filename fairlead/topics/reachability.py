"""Does anybody listen at the cluster's addresses? Asked before a client is built.

kafka-python's admin client leaves its thread and a socket behind when its constructor fails, and
tells only that time ran out; a plain connection tells at once who refuses.
"""

import socket
from collections.abc import Sequence
from typing import Final

from fairlead.errors import EnvironmentMissingError

_CONNECT_SECONDS_MAX: Final = 5.0


def require_reachable(bootstrap_servers: str | Sequence[str]) -> None:
    """Return if at least one of the addresses accepts a connection.

    Args:
        bootstrap_servers: host:port, several as a list or divided by commas.

    Raises:
        EnvironmentMissingError: none does; says what each answered.
    """
    if isinstance(bootstrap_servers, str):
        bootstrap_servers = bootstrap_servers.split(",")
    answers = []
    for server in bootstrap_servers:
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS_MAX).close()
        except (OSError, ValueError) as error:
            answers.append(f"{server}: {error}")
        else:
            return
    raise EnvironmentMissingError(
        f"kafka.bootstrap: no broker accepts a connection ({'; '.join(answers)}).",
        remedy="Start one with: fairlead broker start, or give the address of a cluster that runs.",
    )
