"""A consumer of the demo shows its client's metrics where an argument asks for it."""

import socket
import threading
import urllib.request
from pathlib import Path

from fairlead_proof.demo.fleet import Fleet

READY_SECONDS = 30.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_process_with_a_metrics_port_answers(tmp_path: Path) -> None:
    """A process with --metrics-port answers with its group's numbers, before it has joined."""
    arguments = {"bootstrap": "127.0.0.1:1", "prefix": "p.", "group": "orders", "topic": "t"}
    fleet = Fleet(tmp_path, arguments, threading.Condition())
    port = _free_port()
    try:
        fleet.start("c1", **{"metrics-port": str(port)})
        assert fleet.wait_until(lambda floor: floor.seats["c1"].state == "ready", READY_SECONDS)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            page = answer.read().decode()
    finally:
        fleet.stop()
    assert 'fairlead_client_owned_queues{group="orders"} 0.0' in page.splitlines()
