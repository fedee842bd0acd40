"""The identity of a client: a client id that no other process has, and its process's rank."""

import os
import socket
import time
from dataclasses import dataclass
from uuid import uuid4

from fairlead_client.model import Process


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """What a heartbeat says about its sender."""

    client_id: str
    process: Process
    address: str


def new_client_identity(client_id: str | None = None) -> ClientIdentity:
    """Return the identity of one client in this process.

    Each client has its own process uuid. So two clients with one id in one process behave as in
    two processes: one of them stops.

    Args:
        client_id: a chosen id; None: `host-address@pid#` and 8 random digits.
    """
    address = _address()
    host = "".join(letter for letter in socket.gethostname() if "!" <= letter <= "~")[:100]
    default = f"{host or 'host'}-{address}@{os.getpid()}#{uuid4().hex[:8]}"
    process = Process(start_ms=time.time_ns() // 1_000_000, uuid=str(uuid4()))
    return ClientIdentity(client_id or default, process, address)


def _address() -> str:
    """Return the address that this host uses towards others, or loopback without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # This sends nothing: to connect a datagram socket only looks up the route.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
