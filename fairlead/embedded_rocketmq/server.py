"""One process of an embedded RocketMQ: its folder, its configuration, its command line."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fairlead.broker.ports import LOOPBACK
from fairlead.broker.processes import ChildProcess
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState
from fairlead.java import Java

__all__ = ["EmbeddedServer", "ServerExtras", "ServerProgram"]

_JVM_OPTIONS: Final = (
    *("-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=512m"),
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    # Java 17 keeps these from RocketMQ, which frees mapped files by hand.
    *("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"),
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    # A broker refuses messages on a disk that is fuller than this; those of developers are full.
    *("-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99", "-Drocketmq.log.root.level=WARN"),
)
_MAIN: Final = {
    "name_server": "org.apache.rocketmq.namesrv.NamesrvStartup",
    "broker": "org.apache.rocketmq.broker.BrokerStartup",
}
_LOGGING: Final = """<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %level %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="console"/></root>
</configuration>
"""
_LOGGING_FILES: Final = ("logback_namesrv.xml", "logback_broker.xml")
"""Servers of 4.x end without them. Those of 5.x have one of their own."""
_FILE_BYTES: Final = 16 * 1024 * 1024
_LOG_TAIL_LINES: Final = 12
_LOG_TAIL_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class ServerExtras:
    """What one server has beside the built-in settings.

    Attributes:
        properties: settings of its configuration that replace or complete the built-in ones.
        jvm: more options of its JVM.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    jvm: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """The program that runs a server.

    Attributes:
        java: the Java to use.
        jars: the folder whose jars form the class path.
    """

    java: Java
    jars: Path

    def command(self, home: Path, role: str, configuration: Path, more: Sequence[str]) -> list[str]:
        """Return the command line of a server, with more options of its JVM."""
        own = [f"-Duser.home={home}", f"-Drocketmq.home.dir={home}", f"-Djava.io.tmpdir={home}"]
        jvm = [str(self.java.executable), *_JVM_OPTIONS, *own, *more, "-cp", f"{self.jars}/*"]
        return [*jvm, _MAIN[role], "-c", str(configuration)]


class EmbeddedServer:
    """A name server or a broker in a folder of its own.

    Args:
        program: what runs it.
        folder: its folder.
        extras: what it has beside the built-in settings.
    """

    def __init__(self, program: ServerProgram, folder: Path, extras: ServerExtras) -> None:
        self.folder = folder
        self.log_file = folder / "server.log"
        self.child: ChildProcess | None = None
        self._program, self._extras = program, extras
        self._configuration = folder / "server.properties"
        self._role = ""
        self._log_begins = 0

    def configure(self, plan: ClusterPlan, server: ServerState) -> None:
        """Write its configuration files."""
        logging = self.folder / "conf"
        logging.mkdir(parents=True, exist_ok=True)
        for name in _LOGGING_FILES:
            (logging / name).write_text(_LOGGING, encoding="utf-8")
        self._role = server.role
        values = _properties(plan, server, self.folder) | dict(self._extras.properties)
        text = "".join(f"{name}={value}\n" for name, value in sorted(values.items()))
        self._configuration.write_text(text, encoding="utf-8")

    def start(self, *, detached: bool) -> ChildProcess:
        """Start its process; it is not in service yet."""
        self._log_begins = self.log_file.stat().st_size if self.log_file.exists() else 0
        command = self._program.command(
            self.folder, self._role, self._configuration, self._extras.jvm
        )
        self.child = ChildProcess(command, self.log_file, detached=detached)
        return self.child

    def signal(self, number: signal.Signals) -> None:
        """Send its process a signal; do nothing if it is gone."""
        if self.child is not None:
            self.child.identity.signal(number)

    @property
    def is_running(self) -> bool:
        """Whether its process lives; it may be paused."""
        return self.child is not None and self.child.identity.is_alive()

    def log_tail(self) -> str:
        """Return the end of the log since the last start."""
        if not self.log_file.exists():
            return ""
        with self.log_file.open("rb") as stream:
            end = stream.seek(0, 2)
            stream.seek(max(self._log_begins, end - _LOG_TAIL_BYTES))
            text = stream.read().decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-_LOG_TAIL_LINES:])


def _properties(plan: ClusterPlan, server: ServerState, folder: Path) -> dict[str, str]:
    common = {"listenPort": str(server.port), "bindAddress": LOOPBACK}
    if server.role == "name_server":
        return common
    return common | {
        "brokerClusterName": plan.cluster_name,
        "brokerName": server.name,
        "brokerId": "0",
        "brokerIP1": LOOPBACK,
        "brokerIP2": LOOPBACK,
        "haListenPort": str(server.port + 1),
        "namesrvAddr": plan.namesrv,
        "storePathRootDir": str(folder / "store"),
        "storePathCommitLog": str(folder / "store" / "commitlog"),
        # Both lines read their own spelling. Small files keep a trial's folder small.
        "mapedFileSizeCommitLog": str(_FILE_BYTES),
        "mappedFileSizeCommitLog": str(_FILE_BYTES),
        "mapedFileSizeConsumeQueue": "600000",
        "mappedFileSizeConsumeQueue": "600000",
        "diskMaxUsedSpaceRatio": "95",
        # Clients of a group hear of each change at once, and nobody hears of a leader's leave late.
        "notifyConsumerIdsChangedEnable": "true",
        # They take a quarter of a core at rest. Without them 5.x cannot delete a topic.
        "timerWheelEnable": "false",
        "enableControllerMode": "false",
    }
