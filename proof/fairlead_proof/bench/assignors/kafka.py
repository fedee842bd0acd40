"""Kafka's own assignors as contestants: compiled here, run from their released jars."""

import os
import subprocess
from importlib import resources
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import ensure_jars, load_jar_set
from fairlead.jars.progress import FetchProgress
from fairlead.java import Java, find_java
from fairlead_proof.bench.assignors.contestant import Contestant

JAR_SET: Final = "kafka-assignors"
_PROGRAM: Final = "AssignorProcess"
_COMPILE_SECONDS_MAX: Final = 120
_ASSIGNORS: Final = (
    ("UNIFORM", "uniform", True),
    ("RANGE", "range", False),
    ("COOPERATIVE_STICKY", "cooperative-sticky", True),
)
"""Name, its name in Kafka, and whether it looks at the owners of now."""


def kafka_contestants(folder: Path, progress: FetchProgress | None = None) -> list[Contestant]:
    """Return Kafka's assignors, ready to be run; compiled classes go to the folder.

    Raises:
        EnvironmentMissingError: no Java, no compiler, or no jars and no network.
    """
    java = find_java()
    jars = sorted(ensure_jars(JAR_SET, progress).glob("*.jar"))
    class_path = os.pathsep.join(str(path) for path in jars)
    _compile(java, class_path, folder)
    # The garbage collector that Kafka's own start script chooses.
    command = (str(java.executable), "-XX:+UseG1GC", "-cp")
    program = (*command, os.pathsep.join((str(folder), class_path)), _PROGRAM)
    return [
        Contestant(name, asked, program, sticky, is_ours=False)
        for name, asked, sticky in _ASSIGNORS
    ]


def kafka_release() -> str:
    """Return the release that the assignors are of."""
    jars = load_jar_set(JAR_SET).jars
    (release,) = {jar.revision for jar in jars if jar.module.startswith("kafka-")}
    return release


def _compile(java: Java, class_path: str, folder: Path) -> None:
    source = resources.files("fairlead_proof.bench.assignors").joinpath(f"{_PROGRAM}.java")
    with resources.as_file(source) as path:
        compiler = (str(java.executable), "-m", "jdk.compiler/com.sun.tools.javac.Main")
        done = subprocess.run(
            [*compiler, "-encoding", "UTF-8", "-d", str(folder), "-cp", class_path, str(path)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_COMPILE_SECONDS_MAX,
        )
    if done.returncode:
        raise EnvironmentMissingError(
            f"java: {java.executable} could not compile {_PROGRAM}.java: "
            f"{(done.stdout + done.stderr).strip()[-500:]}",
            remedy="Set FAIRLEAD_JAVA or JAVA_HOME to a JDK: a JRE has no compiler.",
        )
