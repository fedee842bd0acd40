"""Compiles the Java client for RocketMQ's consumers against one set of RocketMQ's jars.

``python -m tools.rocketmq_java`` prints where its jar is; with ``--command PROGRAM`` it prints the
command that runs a test program, as a list in JSON. ``--client`` names the version of RocketMQ's
client, which is on the class path of the compiler, never in the jar; `fairlead-java` is beside it
(ADR 0225).
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import pathsep
from pathlib import Path
from typing import Final

from fairlead import __version__
from fairlead.errors import FairleadError
from fairlead.jars import ensure_jars, load_jar_set
from fairlead.jars.lock import locked
from fairlead.jars.manifest import JarSetName
from fairlead.java import find_java
from tools.java_client import OPTIONS, ROOT, built_client, compile_sources, run_tool

__all__ = ["CLIENT_SETS", "SOURCES", "RocketMQJava", "build_jar", "built_rocketmq_java"]

SOURCES: Final = ROOT / "clients" / "rocketmq-java" / "src"
BUILD: Final = ROOT / "build" / "rocketmq-java"
CLIENT_SETS: Final[Mapping[str, JarSetName]] = {
    "4.7.1": "rocketmq-4.7",
    "4.9.4": "rocketmq-4.9.4",
    "4.9.8": "rocketmq",
    "5.1.4": "rocketmq-5.1",
    "5.3.3": "rocketmq-5",
    "5.5.0": "rocketmq-5.5",
}
"""RocketMQ's clients that it is compiled and tested against, by version."""
# RocketMQ deprecates much of what all its lines share, and names annotations it does not ship.
_OPTIONS: Final = (*OPTIONS, "-Xlint:-deprecation")


@dataclass(frozen=True, slots=True)
class RocketMQJava:
    """A built jar and the classes of its tests.

    Attributes:
        java: the command that runs it.
        jar: the jar, as applications get it.
        tests: the folder with the classes of its tests.
        beside: what it needs at run time: `fairlead-java`, and RocketMQ's client.
        package: of its test programs.
    """

    java: Path
    jar: Path
    tests: Path
    beside: tuple[str, ...]
    package: str = "io.fairlead.rocketmq"

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs a test program."""
        class_path = pathsep.join((str(self.tests), str(self.jar), *self.beside))
        return [
            *(str(self.java), "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"),
            # RocketMQ would write into the home of whoever runs it.
            f"-Drocketmq.client.logRoot={BUILD / 'logs'}",
            f"-Duser.home={BUILD / 'logs'}",
            "-Drocketmq.client.logLevel=WARN",
            *("-cp", class_path, f"{self.package}.{program}", *arguments),
        ]


def built_rocketmq_java(
    jars: JarSetName = "rocketmq", sources: Path = SOURCES, build: Path = BUILD
) -> RocketMQJava:
    """Return the jar for a set of RocketMQ's jars, and build it first if need be.

    Args:
        jars: the set with RocketMQ's client.
        sources: the folder with the sources; a test may have changed a copy.
        build: where builds are kept.

    Raises:
        EnvironmentMissingError: no JDK, no jars and no network, or sources that do not compile.
    """
    java = find_java()
    client = built_client().jar
    # RocketMQ's client asks it for the machine's address; the sets of the judge do without.
    validator = ensure_jars("rocketmq-server-4").glob("commons-validator-*.jar")
    beside = tuple(map(str, (client, *validator, *sorted(ensure_jars(jars).glob("*.jar")))))
    digest = hashlib.sha256(f"{java.banner}{client}{load_jar_set(jars).folder_name}".encode())
    paths = {part: sorted((sources / part / "java").rglob("*.java")) for part in ("main", "test")}
    for path in (Path(__file__), *paths["main"], *paths["test"]):
        digest.update(path.name.encode() + path.read_bytes())
    folder = build / f"{jars}-{digest.hexdigest()[:12]}"
    jar = folder / f"fairlead-rocketmq-java-{__version__}.jar"
    if not folder.is_dir():
        build.mkdir(parents=True, exist_ok=True)
        with locked(build / f".{jars}.lock", lambda: None):
            if not folder.is_dir():
                build_jar(paths, beside, folder, jar.name)
    return RocketMQJava(java.executable, jar, folder / "tests", beside)


def build_jar(
    paths: dict[str, list[Path]],
    beside: Sequence[str],
    folder: Path,
    jar_name: str,
    resources: Path | None = None,
) -> None:
    """Compile sources into a jar and a folder of test classes, both in a new folder.

    Args:
        paths: the sources, of "main" and "test".
        beside: what they are compiled against.
        folder: the result.
        jar_name: the jar's name in it.
        resources: a folder whose files go into the jar as they are.

    Raises:
        EnvironmentMissingError: no JDK, or sources that do not compile.
    """
    java, class_path = find_java(), pathsep.join(beside)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as name:
        classes, result = Path(name) / "classes", Path(name) / "result"
        (classes / "META-INF").mkdir(parents=True)
        result.mkdir()
        compile_sources(java, class_path, classes, paths["main"], _OPTIONS)
        shutil.copy(ROOT / "LICENSE", classes / "META-INF" / "LICENSE")
        if resources is not None:
            shutil.copytree(resources, classes, dirs_exist_ok=True)
        jar = result / jar_name
        packer = ("jdk.jartool/sun.tools.jar.Main", "--create", "--file", str(jar))
        run_tool(java, (*packer, "-C", str(classes), "."))
        class_path = pathsep.join((str(jar), class_path))
        compile_sources(java, class_path, result / "tests", paths["test"], _OPTIONS)
        result.rename(folder)


def main() -> int:
    """Build, and say where the jar is, or how a test program is run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", metavar="PROGRAM")
    parser.add_argument("--client", choices=CLIENT_SETS, default="5.3.3")
    arguments = parser.parse_args()
    try:
        built = built_rocketmq_java(CLIENT_SETS[arguments.client])
    except FairleadError as error:
        sys.stderr.write("error: " + "\n".join(error.lines()) + "\n")
        return error.exit_code
    program: str | None = arguments.command
    said = str(built.jar.relative_to(ROOT))
    sys.stdout.write((said if program is None else json.dumps(built.command(program))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
