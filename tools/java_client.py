"""Builds the Java client's jar, and the classes of its tests, with the JDK that is used here.

``python -m tools.java_client`` prints where the jar is; with ``--command PROGRAM`` it prints the
command that runs a test program, as a list in JSON. It builds only if something has changed:
sources, compiler, Kafka's jar or this file. Kafka's client is on the class path of the compiler,
never in the jar (ADR 0198).
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import pathsep
from pathlib import Path
from typing import Final

from fairlead import __version__
from fairlead.errors import EnvironmentMissingError, FairleadError
from fairlead.jars import ensure_jars, load_jar_set
from fairlead.jars.lock import locked
from fairlead.java import Java, find_java

__all__ = ["OPTIONS", "JavaClient", "built_client", "compile_sources", "run_tool"]

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ROOT / "clients" / "java" / "src"
BUILD: Final = ROOT / "build" / "java-client"
_JAR_SET: Final = "connector"
"""It has a Kafka client that still runs on Java 8."""
_SECONDS_MAX: Final = 300
OPTIONS: Final = (
    *("--release", "8", "-encoding", "UTF-8", "-g", "-Werror"),
    # Newer JDKs warn that 8 is old, and Kafka's classes name annotations that are not shipped.
    *("-Xlint:all,-options,-classfile", "-Xdoclint:all,-missing"),
)
_MANIFEST: Final = f"""Automatic-Module-Name: io.fairlead.client
Implementation-Title: fairlead-java
Implementation-Version: {__version__}
"""


@dataclass(frozen=True, slots=True)
class JavaClient:
    """A built client.

    Attributes:
        java: the command that runs it.
        jar: the jar, as applications get it.
        tests: the folder with the classes of its tests.
        kafka: the jars with Kafka's client and what that needs, one of each.
    """

    java: Path
    jar: Path
    tests: Path
    kafka: tuple[Path, ...]

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs a test program."""
        class_path = pathsep.join(str(path) for path in (self.tests, self.jar, *self.kafka))
        return [
            *(str(self.java), "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"),
            *("-cp", class_path, f"io.fairlead.client.{program}", *arguments),
        ]


def built_client() -> JavaClient:
    """Return the client, and build it first if need be.

    Raises:
        EnvironmentMissingError: no JDK, no jars and no network, or sources that do not compile.
    """
    java = find_java()
    kafka = _kafka()
    folder = BUILD / _key(java)
    if not folder.is_dir():
        BUILD.mkdir(parents=True, exist_ok=True)
        with locked(BUILD / ".lock", lambda: None):
            if not folder.is_dir():
                _build(java, kafka, folder)
    jar = folder / f"fairlead-java-{__version__}.jar"
    return JavaClient(java.executable, jar, folder / "tests", kafka)


def _kafka() -> tuple[Path, ...]:
    connector = ensure_jars(_JAR_SET)
    # It speaks to SLF4J, and compresses by these; of the broker's set they run on Java 8 too.
    names = ("slf4j-api-", "lz4-java-", "snappy-java-", "zstd-jni-")
    others = sorted(ensure_jars("broker").glob("*.jar"))
    return (
        *sorted(connector.glob("kafka-clients-*.jar")),
        *(jar for jar in others if jar.name.startswith(names)),
    )


def _key(java: Java) -> str:
    """Return the name of a build: another content has another name."""
    digest = hashlib.sha256(java.banner.encode())
    digest.update(load_jar_set(_JAR_SET).listing_sha256.encode())
    for path in (Path(__file__), ROOT / "fairlead" / "__init__.py", *_sources("main", "test")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _sources(*parts: str) -> Iterator[Path]:
    for part in parts:
        yield from sorted((SOURCES / part / "java").rglob("*.java"))


def _build(java: Java, kafka: Sequence[Path], folder: Path) -> None:
    class_path = pathsep.join(str(path) for path in kafka)
    with tempfile.TemporaryDirectory(dir=BUILD, prefix=".building-") as name:
        work = Path(name)
        classes, result = work / "classes", work / "result"
        (classes / "META-INF").mkdir(parents=True)
        result.mkdir()
        compile_sources(java, class_path, classes, _sources("main"))
        shutil.copy(ROOT / "LICENSE", classes / "META-INF" / "LICENSE")
        (work / "manifest").write_text(_MANIFEST, encoding="utf-8")
        jar = result / f"fairlead-java-{__version__}.jar"
        packer = ("jdk.jartool/sun.tools.jar.Main", "--create", "--file", str(jar))
        run_tool(java, (*packer, "--manifest", str(work / "manifest"), "-C", str(classes), "."))
        class_path = pathsep.join((str(jar), class_path))
        compile_sources(java, class_path, result / "tests", _sources("test"))
        for old in BUILD.iterdir():
            if old.is_dir() and old != work:
                shutil.rmtree(old, ignore_errors=True)
        result.rename(folder)


def compile_sources(
    java: Java,
    class_path: str,
    target: Path,
    sources: Iterable[Path],
    options: Sequence[str] = OPTIONS,
) -> None:
    """Compile sources for Java 8 into a folder.

    Raises:
        EnvironmentMissingError: they do not compile, or there is no compiler.
    """
    compiler = ("jdk.compiler/com.sun.tools.javac.Main", *options, "-d", str(target))
    run_tool(java, (*compiler, "-cp", class_path, *map(str, sources)))


def run_tool(java: Java, tool: Sequence[str]) -> None:
    """Run a tool of the JDK, named by module and class.

    Raises:
        EnvironmentMissingError: it fails.
    """
    done = subprocess.run(
        [str(java.executable), "-m", *tool],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_SECONDS_MAX,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise EnvironmentMissingError(
            f"java-client: {tool[0]} failed: {said[-3_000:]}",
            remedy="Set FAIRLEAD_JAVA or JAVA_HOME to a JDK: a JRE has no compiler.",
        )


def main() -> int:
    """Build, and say where the jar is, or how a test program is run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", metavar="PROGRAM")
    program: str | None = parser.parse_args().command
    try:
        client = built_client()
    except FairleadError as error:
        sys.stderr.write("error: " + "\n".join(error.lines()) + "\n")
        return error.exit_code
    said = str(client.jar.relative_to(ROOT))
    sys.stdout.write((said if program is None else json.dumps(client.command(program))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
