"""The command ``fairlead bridge kafka``."""

import signal
import sys
import time
from pathlib import Path

import orjson

from tests.awaiting import child_process
from tests.bridges.kafka.ledger import SECONDS_MAX, Ledger


def test_command(ledger: Ledger, bootstrap: str, topic: str, tmp_path: Path) -> None:
    """The command publishes, logs one JSON document per line, and ends with 0 on SIGTERM."""
    ledger.make_topic(topic, 2)
    command = [
        *(sys.executable, "-m", "fairlead", "bridge", "kafka", "--bootstrap", bootstrap),
        *("--data-bootstrap", bootstrap, "--topics", f"{topic}, {topic}-later"),
        *("--topic-prefix", ledger.names.prefix, "--cluster-name", "main", "--poll-ms", "200"),
    ]
    log_file = tmp_path / "log"
    with log_file.open("wb") as log, child_process(command, stderr=log) as process:
        try:
            ledger.await_route(topic, 2)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(SECONDS_MAX)
        finally:
            process.kill()
    assert code == 0
    assert time.monotonic() - began < 5
    lines = [orjson.loads(line) for line in log_file.read_bytes().splitlines()]
    # Of kafka-python's own lines none is promised, but each is a document.
    events = [line["event"] for line in lines if "logger" not in line]
    assert events[0] == "bridge_started"
    assert "route_published" in events
    assert events[-1] == "bridge_stopped"
