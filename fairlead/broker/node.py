"""One node of the embedded cluster: its folder, its formatting, its process."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from fairlead.archive import broker_program, recording_options
from fairlead.broker.processes import ChildProcess
from fairlead.broker.properties import server_properties
from fairlead.broker.state import ClusterState, NodeState
from fairlead.errors import EnvironmentMissingError
from fairlead.java import Java

# Small and quick to start: a broker for trials handles a few thousand records a second.
_JVM_OPTIONS: Final = (
    "-Xms128m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
)
_LOG_TAIL_LINES: Final = 12
_LOG_TAIL_BYTES: Final = 65_536
_FORMAT_SECONDS_MAX: Final = 120.0
_REASON_CHARACTERS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class BrokerProgram:
    """The program that runs a node.

    Attributes:
        java: the Java to use.
        jars: the folders whose jars form the class path.
        recorded: where a node writes the archive of its classes when it ends; None: it uses an
            existing archive, if any.
    """

    java: Java
    jars: tuple[Path, ...]
    recorded: Path | None = None

    def node(self, options: list[str], arguments: list[str]) -> list[str]:
        """Return the command line of a node."""
        archive = self._archive() if self.recorded is None else recording_options(self.recorded)
        return self._command(archive, options, "kafka.Kafka", arguments)

    def storage_tool(self, arguments: list[str]) -> list[str]:
        """Return the command line that formats a node's data folder."""
        return self._command(self._archive(), [], "kafka.tools.StorageTool", arguments)

    def _archive(self) -> tuple[str, ...]:
        return broker_program(self.jars).options(self.java)

    def _command(
        self, archive: tuple[str, ...], options: list[str], main_class: str, arguments: list[str]
    ) -> list[str]:
        class_path = ":".join(f"{folder}/*" for folder in self.jars)
        jvm = [str(self.java.executable), *_JVM_OPTIONS, *archive, *options]
        return [*jvm, "-cp", class_path, main_class, *arguments]


class EmbeddedNode:
    """One node in a cluster's data folder."""

    def __init__(self, program: BrokerProgram, folder: Path, node_id: int) -> None:
        self.node_id = node_id
        self.folder = folder
        self.log_file = folder / "broker.log"
        self.child: ChildProcess | None = None
        self._program = program
        self._log_begins = 0
        self._properties = folder / "server.properties"
        self._logging = folder / "log4j2.xml"
        self._data = folder / "data"
        self._formatted = folder / "formatted"

    def configure(self, state: ClusterState, node: NodeState, overrides: Mapping[str, str]) -> None:
        """Write the node's configuration files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = server_properties(state, node, self._data, overrides)
        self._properties.write_text(text, encoding="utf-8")
        logging = resources.files("fairlead.broker").joinpath("log4j2.xml")
        self._logging.write_bytes(logging.read_bytes())

    def begin_format(self, cluster_id: str) -> subprocess.Popen[str] | None:
        """Start to format the node's data folder; None if it is already formatted.

        The nodes of a cluster are formatted in parallel; `end_format` waits.
        """
        if self._formatted.exists():
            return None
        # An interrupted start left it half formatted; Kafka would accept it as complete.
        shutil.rmtree(self._data, ignore_errors=True)
        arguments = ["format", "-t", cluster_id, "-c", str(self._properties)]
        command = self._program.storage_tool(arguments)
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )

    def end_format(self, formatting: subprocess.Popen[str] | None) -> None:
        """Wait for the formatting and record it.

        Raises:
            EnvironmentMissingError: it failed; the message has Kafka's error.
        """
        if formatting is None:
            return
        with formatting:
            try:
                output, _ = formatting.communicate(timeout=_FORMAT_SECONDS_MAX)
            finally:
                formatting.kill()
        if formatting.returncode != 0:
            raise EnvironmentMissingError(
                f"broker: node {self.node_id} could not be formatted in {self.folder}: "
                f"{_without_stack(output)}",
                remedy="Choose another --data-dir, or remove this one if nobody needs it.",
            )
        self._formatted.touch()

    def start(self, *, detached: bool) -> ChildProcess:
        """Start the node's process; it is not ready yet."""
        options = [f"-Dlog4j2.configurationFile={self._logging}"]
        self._log_begins = self.log_file.stat().st_size if self.log_file.exists() else 0
        command = self._program.node(options, [str(self._properties)])
        self.child = ChildProcess(command, self.log_file, detached=detached)
        return self.child

    def pause(self) -> None:
        """Pause the node's process, and return when it stands still."""
        if self.child is not None:
            self.child.pause()

    def signal(self, number: signal.Signals) -> None:
        """Send the node's process a signal; do nothing if it is gone."""
        if self.child is not None:
            self.child.identity.signal(number)

    def is_running(self) -> bool:
        """Tell whether the process lives; it may be paused."""
        return self.child is not None and self.child.identity.is_alive()

    def log_tail(self) -> str:
        """Return the first error of the last start, or else the end of its log."""
        try:
            with self.log_file.open("rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(self._log_begins, size - _LOG_TAIL_BYTES))
                lines = stream.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(_telling(lines)[-_LOG_TAIL_LINES:])


def _telling(lines: list[str]) -> list[str]:
    """Return the log from its first error on, without stack traces."""
    plain = [line for line in lines if not line.startswith("\tat ")]
    errors = (at for at, line in enumerate(plain) if " ERROR " in line or " FATAL " in line)
    first = next(errors, None)
    return plain if first is None else plain[first : first + _LOG_TAIL_LINES]


def _without_stack(output: str) -> str:
    """Return a Java program's output without stack traces."""
    lines = [line.strip() for line in output.splitlines() if not line.startswith("\tat ")]
    return " ".join(lines)[:_REASON_CHARACTERS_MAX]
