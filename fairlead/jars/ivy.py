"""Calls the Ivy of the pyspark wheel: coordinates in, files in a folder out.

Ivy uses its default repositories, or the user's settings file in FAIRLEAD_IVY_SETTINGS. It resolves
nothing transitively: the manifest names every jar, so there are no versions to choose.
"""

import os
import queue
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final
from xml.etree import ElementTree as ET

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.manifest import JarSet
from fairlead.jars.progress import OnStep
from fairlead.java import Java

_FOUND: Final = re.compile(r"^\s*found (\S+#\S+;\S+) in ")
_DOWNLOADED: Final = re.compile(r"^\s*\[SUCCESSFUL ] (\S+#\S+;[^!\s]+)!")
# Lines of Ivy's long report that explain a failure, the most informative kind first.
_TELLING: Final = (
    re.compile(r"server access error|\(java\.|\.\w+Exception:|no answer for", re.IGNORECASE),
    re.compile(r"download failed|: not found$|FAILED", re.IGNORECASE),
)
_TELLING_LINES_MAX: Final = 2
# After this time without a line, a connection neither answers nor fails.
SILENCE_SECONDS_MAX: Final = 120.0


class IvyFailureError(Exception):
    """Ivy did not fetch every jar.

    Attributes:
        reasons: the informative lines of its report.
    """

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Ivy:
    """How to run Ivy here.

    Attributes:
        java: the Java that runs it.
        jar: Ivy's jar.
        settings: the user's settings file; None: Ivy's default.
        silence_seconds_max: how long it may print nothing before it counts as failed.
    """

    java: Java
    jar: Path
    settings: Path | None = None
    silence_seconds_max: float = SILENCE_SECONDS_MAX

    def retrieve(self, jar_set: JarSet, ivy_cache: Path, folder: Path, on_step: OnStep) -> None:
        """Fetch every jar of the set into the folder.

        Args:
            jar_set: the set.
            ivy_cache: Ivy's own cache; complete files in it are not downloaded again.
            folder: the target folder.
            on_step: called with ("found" | "downloaded", coordinates) as Ivy reports them.

        Raises:
            IvyFailureError: at least one jar is missing.
        """
        folder.mkdir(parents=True, exist_ok=True)
        ivy_cache.mkdir(parents=True, exist_ok=True)
        request = ivy_cache / "request.xml"
        request.write_text(_ivy_file(jar_set), encoding="utf-8")
        report: list[str] = []
        with self._start(request, ivy_cache, folder) as process:
            try:
                for line in self._lines(process):
                    report.append(line)
                    if match := _FOUND.match(line):
                        on_step("found", match.group(1))
                    if match := _DOWNLOADED.match(line):
                        on_step("downloaded", match.group(1))
            finally:
                process.kill()
        if process.returncode != 0:
            raise IvyFailureError(_reasons(report))

    def _start(self, request: Path, ivy_cache: Path, folder: Path) -> subprocess.Popen[str]:
        command = [str(self.java.executable), "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"]
        # Ivy has no timeouts; a packet filter that drops packets would block it for minutes.
        command += ["-Dsun.net.client.defaultConnectTimeout=15000"]
        command += ["-Dsun.net.client.defaultReadTimeout=60000", "-jar", str(self.jar)]
        if self.settings is not None:
            command += ["-settings", str(self.settings)]
        command += ["-cache", str(ivy_cache), "-ivy", str(request), "-confs", "default"]
        # Ivy would silently leave out five of Kafka's jars, which have the type bundle.
        command += ["-types", "jar", "bundle"]
        command += ["-retrieve", str(folder / "[artifact]-[revision].[ext]")]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )

    def _lines(self, process: subprocess.Popen[str]) -> Iterator[str]:
        """Yield Ivy's output, until it exits or is silent for too long."""
        lines: queue.Queue[str | None] = queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=self.silence_seconds_max)
            except queue.Empty:
                process.kill()
                process.wait()
                yield f"no answer for {self.silence_seconds_max:.0f} s"
                return
            if line is None:
                process.wait()
                return
            yield line


def find_ivy(java: Java) -> Ivy:
    """Return the Ivy of the installed pyspark, with the user's settings if there are any.

    Raises:
        EnvironmentMissingError: pyspark or its Ivy is not installed, or the file in
            FAIRLEAD_IVY_SETTINGS does not exist.
    """
    specification = find_spec("pyspark")
    if specification is None or specification.origin is None:
        raise EnvironmentMissingError(
            "jars: pyspark is not installed; its wheel has the Ivy that fetches the jars.",
            remedy="Run: make setup (or: pip install fairlead)",
        )
    jars = Path(specification.origin).parent / "jars"
    found = sorted(jars.glob("ivy-*.jar"))
    if not found:
        raise EnvironmentMissingError(
            f"jars: {jars} holds no ivy-*.jar.", remedy="Install pyspark from its wheel."
        )
    named = os.environ.get("FAIRLEAD_IVY_SETTINGS")
    settings = Path(named).expanduser().absolute() if named else None
    if settings is not None and not settings.is_file():
        raise EnvironmentMissingError(
            f"FAIRLEAD_IVY_SETTINGS: {settings} is not a file.",
            remedy="Name an Ivy settings file, or unset it for Ivy's default repositories.",
        )
    return Ivy(java, found[-1], settings)


def _pump(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    """Put the process's lines into the queue, and None at the end."""
    for line in stream:
        lines.put(line.rstrip())
    lines.put(None)


def _ivy_file(jar_set: JarSet) -> str:
    """Return the request: every jar by name, without its dependencies."""
    module = ET.Element("ivy-module", version="2.0")
    ET.SubElement(module, "info", organisation="fairlead", module=jar_set.name)
    ET.SubElement(ET.SubElement(module, "configurations"), "conf", name="default")
    dependencies = ET.SubElement(module, "dependencies")
    for jar in jar_set.jars:
        ET.SubElement(
            dependencies,
            "dependency",
            {
                "org": jar.organisation,
                "name": jar.module,
                "rev": jar.revision,
                "conf": "default->master",
                "transitive": "false",
            },
        )
    return ET.tostring(module, encoding="unicode")


def _reasons(report: list[str]) -> tuple[str, ...]:
    for kind in _TELLING:
        lines = [line.strip(" \t:") for line in report if kind.search(line)]
        if lines:
            return tuple(dict.fromkeys(lines))[:_TELLING_LINES_MAX]
    return tuple(line.strip() for line in report if line.strip())[-_TELLING_LINES_MAX:]
