"""A real engine whose JVM runs out of heap: it ends by itself, and its last word names the setting.

An agent in the JVM takes the heap when a file appears.
"""

import re
import subprocess
import urllib.request
from pathlib import Path

import orjson
import pytest

from fairlead.errors import ExitCode
from fairlead.java import find_java
from fairlead.settings import Settings
from tests.kit.engine_process import EngineProcess
from tests.kit.fleet import Fleet
from tests.kit.kafka_log import Log

pytestmark = [pytest.mark.slow, pytest.mark.system, pytest.mark.spark]

_SOURCE = Path(__file__).with_name("HeapHog.java")
_SECONDS_MAX = 110


def _agent(folder: Path) -> Path:
    """Compile the agent; return its jar."""
    tools = find_java().home / "bin"
    manifest = folder / "manifest"
    manifest.write_text("Premain-Class: HeapHog\n", encoding="ascii")
    jar = folder / "hog.jar"
    subprocess.run([tools / "javac", "-d", folder, _SOURCE], check=True, timeout=_SECONDS_MAX)
    made = ["cfm", str(jar), str(manifest), "-C", str(folder), "."]
    subprocess.run([str(tools / "jar"), *made], check=True, timeout=_SECONDS_MAX)
    return jar


def _numbers(said: str) -> dict[str, float]:
    """Return what the engine shows at /metrics of its heap."""
    (url,) = re.findall(r'"event":"metrics","url":"(http[^"]+)"', said)
    with urllib.request.urlopen(url, timeout=_SECONDS_MAX) as answer:  # noqa: S310 - the engine's own
        found = re.findall(r"(?m)^(fairlead_jvm_\w+) (\S+)$", answer.read().decode())
    return {name: float(value) for name, value in found}


def test_heap_is_too_small(
    settings: Settings, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with 6 and says heap, size and setting; the next start goes on where it was."""
    del log
    built, switch = tmp_path / "agent", tmp_path / "take"
    built.mkdir()
    monkeypatch.setenv("FAIRLEAD__ENGINE__JAVA_HEAP", "460m")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-javaagent:{_agent(built)}={switch}")
    with Fleet(settings.kafka) as fleet:
        with EngineProcess(settings, tmp_path / "engine.log") as engine:
            client = fleet.join("c1")
            fleet.await_held(client, 4)
            numbers = _numbers(engine.text())
            assert numbers["fairlead_jvm_heap_max_bytes"] == 460 * 2**20
            assert 0 < numbers["fairlead_jvm_heap_used_bytes"] < 460 * 2**20
            assert numbers["fairlead_jvm_gc_seconds_total"] > 0
            switch.touch()
            assert engine.await_end() == ExitCode.QUERY_DIED
            said = engine.text()
        lines = [orjson.loads(line) for line in said.splitlines() if line.startswith("{")]
        (last,) = [line for line in lines if line["event"] == "engine ended"]
        assert last["why"].startswith("the Java heap of 460m (engine.java_heap) is too small")
        assert "Java ended with OutOfMemoryError" in last["why"]
        assert "Raise engine.java_heap" in said
        monkeypatch.delenv("JAVA_TOOL_OPTIONS")
        with EngineProcess(settings, tmp_path / "engine.log"):
            fleet.await_held(fleet.join("c1", "others"), 4)
