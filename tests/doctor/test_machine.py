"""What the doctor finds on a machine: Java, memory, jars, packages, ports, locks."""

import fcntl
import http.server
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairlead.doctor import Answer, CheckContext, Status, endpoints, machine
from fairlead.doctor.checkpoint import checkpoint, checkpoint_topics
from fairlead.doctor.context import SeenTick, TickEvidence
from fairlead.settings import Problem, load_settings
from tests.kit.awaiting import ended


def _context(**overrides: Any) -> CheckContext:
    dotted = {name.replace("__", "."): value for name, value in overrides.items()}
    return CheckContext(load_settings(overrides=dotted))


def _only(answers: Iterator[Answer]) -> Answer:
    (answer,) = answers
    return answer


def test_the_java_is_named_with_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The Java that is used is named with its version; none is a failure that says what to do."""
    answer = _only(machine.java(_context()))
    assert answer.status is Status.OK
    assert answer.says.startswith("Java ")
    monkeypatch.setenv("FAIRLEAD_JAVA", str(tmp_path / "java"))
    answer = _only(machine.java(_context()))
    assert answer.status is Status.FAIL
    assert "FAIRLEAD_JAVA" in answer.says
    assert "JDK" in answer.remedy


def test_a_heap_beyond_the_memory_is_a_failure() -> None:
    """A heap that cannot fit into the memory is a failure."""
    assert _only(machine.heap(_context())).status is Status.OK
    answer = _only(machine.heap(_context(engine__java_heap="9000g")))
    assert answer.status is Status.FAIL
    assert "engine.java_heap" in answer.remedy


def test_only_the_jars_of_the_engine_must_be_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without its jars the engine cannot run; those of the broker are only for trying out."""
    assert {answer.status for answer in machine.jars(_context())} == {Status.OK}
    monkeypatch.setenv("FAIRLEAD_CACHE", str(tmp_path))
    statuses = [answer.status for answer in machine.jars(_context())]
    assert statuses == [Status.FAIL, Status.WARN, Status.WARN]
    assert {answer.remedy for answer in machine.jars(_context())} == {"fairlead setup jars"}
    assert _only(machine.archive(_context())).status in (Status.WARN, Status.UNKNOWN)


def test_the_installed_packages_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages that are installed here fit, which takes no other process to find out."""
    monkeypatch.setattr("subprocess.Popen", None)
    assert _only(machine.packages(_context())).status is Status.OK


class _Package:
    version = "1.0"
    requires = (
        "pytest>=1", "pytest<1", "no-such-package>=2", "other ; extra == 'demo'",
        "third ; python_version < '3'",
    )  # fmt: skip


def test_packages_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is missing or of another version is named; what only an extra wants is not."""
    monkeypatch.setattr(machine, "_OWN", ("fairlead",))
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: _Package)
    versions = {"pytest": "9.1"}

    def version(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr("importlib.metadata.version", version)
    assert [(each.status, each.says) for each in machine.packages(_context())] == [
        (Status.FAIL, "fairlead 1.0 needs pytest<1, and 9.1 is installed"),
        (Status.FAIL, "fairlead 1.0 needs no-such-package>=2, which is not installed"),
    ]
    monkeypatch.setattr("importlib.import_module", _nothing_to_import)
    assert _only(machine.packages(_context())).status is Status.UNKNOWN


def _nothing_to_import(name: str) -> None:
    raise ImportError(name)


def test_a_warning_about_settings_has_place_and_remedy() -> None:
    """The doctor shows a warning about settings with its place and remedy."""
    assert _only(machine.settings(_context())).status is Status.OK
    doubt = Problem("group.orders.mode", "mine.toml", "two owners", "leave it", 3)
    answer = _only(machine.settings(CheckContext(load_settings(), [doubt])))
    assert answer == Answer(Status.WARN, "group.orders.mode (mine.toml:3): two owners", "leave it")


@pytest.fixture
def served() -> Iterator[Callable[[int, bytes], int]]:
    """A function that makes a server which answers everything so, and returns its port."""
    servers = []

    def serve(status: int, body: bytes) -> int:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return server.server_port

    yield serve
    for server, thread in servers:
        server.shutdown()
        ended(thread)
        server.server_close()


@pytest.mark.parametrize(
    "status, body, wanted, words",
    [
        (200, b"", Status.OK, "is ready"),
        (503, b'{"reason": "no batch\n for 60 s"}', Status.FAIL, "no batch for 60 s"),
        (404, b"", Status.FAIL, "another program"),
    ],
)
def test_a_stranger_at_a_port_is_a_failure(
    status: int, body: bytes, wanted: Status, words: str, served: Callable[[int, bytes], int]
) -> None:
    """Who answers at a port is asked whether it is ready; a stranger there is a failure."""
    port = served(status, body)
    for answer in (
        _only(endpoints.engine_port(_context(metrics__port=port))),
        _only(endpoints.serve_port(_context(serve__port=port, serve__host="localhost"))),
    ):
        assert answer.status is wanted
        assert words in answer.says


@pytest.mark.parametrize(
    "told, wanted, words",
    [
        ({"state": "starting", "started_seconds": 3.204}, Status.WARN, "it started 3 s ago"),
        ({"state": "starting", "started_seconds": 61}, Status.FAIL, "is not ready"),
        ({"state": "starting"}, Status.FAIL, "is not ready"),
        ({"state": "stalled", "started_seconds": 3}, Status.FAIL, "is not ready"),
    ],
    ids=["young", "too long", "of an older engine", "stalled"],
)
def test_a_start_becomes_a_failure_only_when_it_lasts(
    served: Callable[[int, bytes], int], told: dict[str, Any], wanted: Status, words: str
) -> None:
    """Who has just started is not ready yet, which is no failure until it lasts."""
    # Longer than what is shown of an answer.
    port = served(503, json.dumps({"ready": False, "reason": "x" * 400, **told}).encode())
    answer = _only(endpoints.engine_port(_context(metrics__port=port)))
    assert (answer.status, words in answer.says) == (wanted, True)


def test_free_and_mute_ports() -> None:
    """A free port is fine; one with a program that says nothing is a failure."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        taken.listen()
        answer = _only(endpoints.engine_port(_context(metrics__port=port)))
        assert answer.status is Status.FAIL
        assert "metrics.port" in answer.remedy
    answer = _only(endpoints.engine_port(_context(metrics__port=port)))
    assert answer.status is Status.OK
    assert "nothing listens" in answer.says
    assert _only(endpoints.engine_port(_context(metrics__port=0))).status is Status.UNKNOWN


def test_an_ill_view_is_a_failure_and_a_missing_one_is_not(
    served: Callable[[int, bytes], int],
) -> None:
    """Commands do without the view, so that nobody answers is no failure; one that is ill is."""
    assert _only(endpoints.serve(_context(serve__url=""))).status is Status.OK
    assert _only(endpoints.serve(_context(serve__url="http://127.0.0.1:1"))).status is Status.WARN
    for status, wanted in ((200, Status.OK), (503, Status.FAIL)):
        url = f"http://127.0.0.1:{served(status, b'reads on')}"
        assert _only(endpoints.serve(_context(serve__url=url))).status is wanted


def test_the_process_of_a_checkpoint_is_named_without_a_lock(tmp_path: Path) -> None:
    """The kernel names the process that has the folder; the check takes no lock."""
    folder = tmp_path / "state"
    context = _context(engine__checkpoint=str(folder), metrics__port=0)
    assert "does not exist" in _only(checkpoint(context)).says
    assert not folder.exists()
    _ticks(context, None)
    assert "no state" in _only(checkpoint_topics(context)).says
    folder.mkdir(mode=0o700)
    (folder / "lock").write_text("4121\n", encoding="ascii")
    free = _only(checkpoint(context))
    assert (free.status, "the last one was process 4121" in free.says) == (Status.OK, True)
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = _only(checkpoint(context))
    assert held.status is Status.OK
    assert f"process id {os.getpid()}" in held.says


def test_a_folder_that_a_running_engine_has_not(
    tmp_path: Path, served: Callable[[int, bytes], int]
) -> None:
    """Where an engine answers, or ticks, a folder that is not there is not the engine's own."""
    folder = tmp_path / "state"
    port = served(200, b"")
    context = _context(engine__checkpoint=str(folder), metrics__port=port)
    answers = _only(checkpoint(context))
    assert answers.status is Status.WARN
    assert f"{folder} does not exist, and an engine answers at 127.0.0.1:{port}" in answers.says
    now_ms = time.time_ns() // 1_000_000
    for age_ms, status in ((500, Status.WARN), (3_600_000, Status.OK)):
        _ticks(context, now_ms - age_ms)
        assert _only(checkpoint_topics(context)).status is status
    _ticks(context, now_ms)
    folder.mkdir(mode=0o700)
    assert "ticks (generation 3)" in _only(checkpoint_topics(context)).says
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert _only(checkpoint_topics(context)).status is Status.OK, "it makes its first batch"


def _ticks(context: CheckContext, appended_ms: int | None) -> None:
    """Let the log have a tick of that time, or none."""
    seen = {} if appended_ms is None else {0: SeenTick(appended_ms, 3)}
    context.cluster = SimpleNamespace(  # type: ignore[assignment]
        partitions=lambda _suffix: 1, ticks=TickEvidence(seen, [])
    )


def test_a_jvm_without_its_driver_keeps_its_lock(tmp_path: Path) -> None:
    """A JVM whose driver was killed still has its lock, and keeps the next driver out."""
    tmp_path.chmod(0o700)
    (tmp_path / "jvm.lock").touch()
    with (tmp_path / "jvm.lock").open("r+") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        answer = _only(checkpoint(_context(engine__checkpoint=str(tmp_path))))
    assert answer.status is Status.WARN
    assert f"kill {os.getpid()}" in answer.remedy


def test_a_checkpoint_that_others_can_read_is_reported(tmp_path: Path) -> None:
    """The doctor warns of a folder that others may look into."""
    tmp_path.chmod(0o755)
    first, *_ = checkpoint(_context(engine__checkpoint=str(tmp_path)))
    assert first.status is Status.WARN
    assert first.remedy == f"chmod 0700 {tmp_path}"


def test_a_damaged_checkpoint_is_a_failure_with_its_remedy(tmp_path: Path) -> None:
    """A checkpoint that a start would refuse is a failure, with the remedy of the refusal."""
    (tmp_path / "query" / "state").mkdir(parents=True)
    (tmp_path / "query" / "state" / "1.delta").touch()
    answer = _only(checkpoint_topics(_context(engine__checkpoint=str(tmp_path))))
    assert answer.status is Status.FAIL
    assert "is damaged" in answer.says
    assert answer.remedy
