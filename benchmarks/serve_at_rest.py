"""What `fairlead serve` costs while nothing happens: a real system, one idle group, open tabs.

Everything is real: broker, engine, bridge, a client that heartbeats and reads nothing, and the
streams that the console's tabs hold open. Measured is the processor time of the one process
`fairlead serve`, which other work on the machine hardly changes. In the end a second client joins,
and each stream of the group says how old the decision was when it came.

    python -m benchmarks.serve_at_rest [--streams 10] [--seconds 60] [--check]
"""

import argparse
import contextlib
import json
import os
import re
import selectors
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fairlead_proof.bench.crew import Crew
from fairlead_proof.local.system import LocalSystem, SystemPlan

REST_SHARE_MAX: Final = 0.01
NEWS_MS_MAX: Final = 500.0
"""A quiet machine needs 150 at most: a tenth of a second gathers news, and an answer is made."""
_GROUP: Final = "idle"
_PATHS: Final = {
    "no stream": None,
    "streams of the group": f"/api/v1/groups/{_GROUP}/live",
    "streams of all groups": "/api/v1/live",
    "streams of decisions": f"/api/v1/groups/{_GROUP}/events",
}
_SETTLED_S: Final = 5.0
_WAIT_S: Final = 120.0
_DECIDED: Final = re.compile(rb'"decision":\{.*?"append_ms":(\d+)')


class Tabs:
    """Streams that tabs hold open, read on a thread; told in the end are the ages of decisions."""

    def __init__(self, port: int, path: str | None, count: int) -> None:
        self.ages_ms: dict[int, float] = {}
        self._begun_ms = _now_ms()
        self._changed = threading.Condition()
        self._selector = selectors.DefaultSelector()
        self._stop = threading.Event()
        for number in range(0 if path is None else count):
            tab = socket.create_connection(("127.0.0.1", port), timeout=_WAIT_S)
            asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
            tab.sendall(asked.encode())
            self._selector.register(tab, selectors.EVENT_READ, number)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all tabs."""
        self._stop.set()
        self._thread.join()
        for key in [*self._selector.get_map().values()]:
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def wait(self, count: int) -> None:
        """Return when so many tabs have told of a decision that came while they were open."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.ages_ms) >= count, _WAIT_S), "no news"

    def _read(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(0.5):
                data = key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
                if not data:
                    raise ConnectionError("a stream ended")
                decided = _DECIDED.findall(data)
                if decided and int(decided[-1]) > self._begun_ms:
                    with self._changed:
                        self.ages_ms.setdefault(key.data, _now_ms() - int(decided[-1]))
                        self._changed.notify_all()


def measure(streams: int, seconds: float) -> tuple[dict[str, float], Sequence[float]]:
    """Return the share of a core by what is open, and how old news was at each tab, sorted."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        plan = SystemPlan(folder, None, "fairlead.", "clicks", 8, {"gateway.enabled": "false"})
        system = stack.enter_context(LocalSystem(plan, _say))
        system.start_broker()
        system.make_topics()
        system.start_bridge()
        system.start_engine()
        system.await_engine()
        system.start_serve()
        system.await_serve()
        crew = _crew(system)
        stack.callback(crew.stop)
        _join(crew, "only-one")
        _await_members(system, 1)
        shares: dict[str, float] = {}
        for what, path in _PATHS.items():
            tabs = Tabs(system.serve_port, path, streams)
            with contextlib.closing(tabs):
                time.sleep(_SETTLED_S)
                shares[what] = _share(system.serve.pid, seconds)
                _say(f"{what}: {shares[what]:.2%} of a core")
        tabs = Tabs(system.serve_port, _PATHS["streams of the group"], streams)
        with contextlib.closing(tabs):
            _join(crew, "another")
            tabs.wait(streams)
        system.check()
    return shares, sorted(tabs.ages_ms.values())


def _crew(system: LocalSystem) -> Crew:
    arguments = {
        "bootstrap": system.bootstrap, "prefix": system.plan.prefix, "group": _GROUP,
        "topic": system.plan.source,
    }  # fmt: skip
    return Crew(system.plan.folder, arguments, threading.Condition())


def _join(crew: Crew, client_id: str) -> None:
    crew.start(client_id)
    with crew.condition:
        ready = crew.condition.wait_for(lambda: crew.states[client_id] == "ready", _WAIT_S)
    assert ready, crew.states
    crew.send(client_id, "join")


def _await_members(system: LocalSystem, count: int) -> None:
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        system.check()
        groups = _groups(system)
        if groups and groups[0]["converged"] and groups[0]["members"] == count:
            return
        time.sleep(0.2)
    raise TimeoutError(f"the group did not come to rest: {_groups(system)}")


def _groups(system: LocalSystem) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{system.serve_url}/api/v1/groups", timeout=10) as answer:  # noqa: S310 - our own
        groups: list[dict[str, Any]] = json.load(answer)["groups"]
    return groups


def _share(pid: int, seconds: float) -> float:
    used, begun = _cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (_cpu_seconds(pid) - used) / (time.monotonic() - begun)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    """Measure, and say whether the targets hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target fails")
    arguments = parser.parse_args()
    shares, ages_ms = measure(arguments.streams, arguments.seconds)
    targets = {
        f"{what}: {share:.2%} of a core; at most {REST_SHARE_MAX:.0%}": share <= REST_SHARE_MAX
        for what, share in shares.items()
    }
    news = f"news at {len(ages_ms)} streams: {ages_ms[-1]:.0f} ms old; at most {NEWS_MS_MAX:.0f}"
    targets[news] = ages_ms[-1] <= NEWS_MS_MAX
    for name, holds in targets.items():
        sys.stdout.write(f"{'ok  ' if holds else 'FAIL'} {name}\n")
    if arguments.check and not all(targets.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
