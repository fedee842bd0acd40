"""One call of the Ivy that the pyspark wheel brings: coordinates in, files in a folder out.

Which repositories are asked is Ivy's own default or the user's settings file, named by
FAIRLEAD_IVY_SETTINGS; no address stands here. Nothing is resolved transitively: the manifest names
every jar, so Ivy has no version to choose.
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
# Lines of Ivy's long report that say what went wrong, the most telling kind first; the rest lists
# the places it looked in.
_TELLING: Final = (
    re.compile(r"server access error|\(java\.|\.\w+Exception:|no answer for", re.IGNORECASE),
    re.compile(r"download failed|: not found$|FAILED", re.IGNORECASE),
)
_TELLING_LINES_MAX: Final = 2
# No line for so long means a connection that neither answers nor fails.
SILENCE_SECONDS_MAX: Final = 120.0


class IvyFailureError(Exception):
    """Ivy did not bring every jar.

    Attributes:
        reasons: the telling lines of its report, in its own words.
    """

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Ivy:
    """How to run Ivy here.

    Attributes:
        java: the Java that runs it.
        jar: Ivy itself.
        settings: the user's own settings file, or None for Ivy's default.
        silence_seconds_max: how long it may say nothing before it is given up.
    """

    java: Java
    jar: Path
    settings: Path | None = None
    silence_seconds_max: float = SILENCE_SECONDS_MAX

    def retrieve(self, jar_set: JarSet, ivy_cache: Path, folder: Path, on_step: OnStep) -> None:
        """Bring every jar of the set into the folder.

        Args:
            jar_set: what to bring.
            ivy_cache: Ivy's own cache; what is complete there is not downloaded again.
            folder: where the files go.
            on_step: called with ("found" | "downloaded", coordinates) as Ivy reports them.

        Raises:
            IvyFailureError: at least one jar did not come.
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
        # Ivy sets no time-outs of its own; a packet filter that swallows would hold it for minutes.
        command += ["-Dsun.net.client.defaultConnectTimeout=15000"]
        command += ["-Dsun.net.client.defaultReadTimeout=60000", "-jar", str(self.jar)]
        if self.settings is not None:
            command += ["-settings", str(self.settings)]
        command += ["-cache", str(ivy_cache), "-ivy", str(request), "-confs", "default"]
        # Five of Kafka's jars are of type bundle and silently left out otherwise.
        command += ["-types", "jar", "bundle"]
        command += ["-retrieve", str(folder / "[artifact]-[revision].[ext]")]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )

    def _lines(self, process: subprocess.Popen[str]) -> Iterator[str]:
        """What Ivy prints, until it exits or has been silent for too long."""
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
        EnvironmentMissingError: pyspark or its Ivy is not installed, or FAIRLEAD_IVY_SETTINGS
            names no file.
    """
    specification = find_spec("pyspark")
    if specification is None or specification.origin is None:
        raise EnvironmentMissingError(
            "jars: pyspark is not installed, and with it the Ivy that fetches the jars.",
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
            f"FAIRLEAD_IVY_SETTINGS: {settings} is no file.",
            remedy="Name an Ivy settings file, or unset it for Ivy's default repositories.",
        )
    return Ivy(java, found[-1], settings)


def _pump(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    """Carry lines from the process to its reader; None says that there are no more."""
    for line in stream:
        lines.put(line.rstrip())
    lines.put(None)


def _ivy_file(jar_set: JarSet) -> str:
    """The request: every jar by name, each without what it depends on."""
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
