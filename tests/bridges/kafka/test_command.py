"""The command ``fairlead bridge kafka``."""

import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import orjson
from kafka import TopicPartition

from fairlead.broker.ports import free_ports
from tests.kit.awaiting import await_seen, child_process
from tests.kit.bridge_ledger import SECONDS_MAX, Ledger
from tests.kit.codecs import codecs_kept
from tests.kit.engine_process import children_of, kill_at_once


def test_the_command_logs_json_and_ends_with_0_on_sigterm(
    ledger: Ledger, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    """The command publishes, logs one JSON document per line, and ends with 0 on SIGTERM."""
    ledger.make_topic(topic, 2)
    (port,) = free_ports(1)
    command = [
        *(sys.executable, "-m", "fairlead", "bridge", "kafka", "--bootstrap", bootstrap),
        *("--data-bootstrap", bootstrap, "--topics", f"{topic}, {topic}-later"),
        *("--topic-prefix", ledger.names.prefix, "--cluster-name", "main", "--poll-ms", "200"),
        *("--metrics-port", str(port), "--supervise"),
    ]
    log_file = tmp_path / "log"
    with log_file.open("wb") as log, child_process(command, stderr=log) as process:
        try:
            ledger.await_route(topic, 2)
            # The route is in the log of Kafka before its line is in the bridge's.
            await_seen(
                log_file.read_text, lambda text: "route_published" in text, what="line of the route"
            )
            (first,) = children_of(process.pid)
            kill_at_once(first)
            await_seen(
                lambda: children_of(process.pid),
                lambda found: bool(found) and first not in found,
                what="bridge that was started again",
            )
            ledger.write("requests", b"orders", b"no request")
            await_seen(
                lambda: _asked(port, "/metrics"),
                lambda text: "fairlead_bridge_records_refused_total 1.0" in text,
                what="refused record in the metrics",
            )
            ready = orjson.loads(_asked(port, "/readyz"))
            assert (ready["ready"], ready["state"]) == (True, "running"), ready
            requests = TopicPartition(ledger.names.name("requests"), 0)
            counted = f'fairlead_batches_passed_over_total{{topic="{requests.topic}"}}'
            assert counted not in _asked(port, "/metrics")
            with codecs_kept(bootstrap, requests):
                await_seen(
                    lambda: _asked(port, "/metrics"),
                    lambda text: counted in text,
                    what="unreadable batch in the metrics",
                )
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
    assert events[:2] == ["metrics", "bridge_started"]
    assert "the driver died, restarting it" in events
    assert "route_published" in events
    assert events[-1] == "bridge_stopped"


def _asked(port: int, path: str) -> str:
    """Return what the bridge answers; nothing while it does not."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.read().decode()
    except OSError:
        return ""
