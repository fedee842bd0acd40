"""Finds the Java for Ivy, the embedded broker and Spark, and its version.

The order is FAIRLEAD_JAVA, JAVA_HOME, the PATH. The first one that is set decides; if it is wrong,
that is an error, and the next one is not tried.
"""

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError

JAVA_MAJOR_MIN: Final = 17
_REMEDY: Final = "Install a JDK (17 or later), or set FAIRLEAD_JAVA or JAVA_HOME to one."
_ANSWER_SECONDS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class Java:
    """A working Java.

    Attributes:
        executable: the `java` command.
        home: its own java.home: JAVA_HOME for Spark.
        banner: the output of `java -version`, which differs between builds of one version.
        major: 17, 21, …
    """

    executable: Path
    home: Path
    banner: str
    major: int


def find_java() -> Java:
    """Return the Java to use.

    Raises:
        EnvironmentMissingError: there is none, it does not run, or it is older than 17.
    """
    executable = _candidate()
    return _probe(executable)


def _candidate() -> Path:
    """Return the command that the environment names, untested."""
    named = os.environ.get("FAIRLEAD_JAVA")
    home = os.environ.get("JAVA_HOME")
    if named:
        source, command = "FAIRLEAD_JAVA", named
    elif home:
        source, command = "JAVA_HOME", str(Path(home) / "bin" / "java")
    else:
        source, command = "PATH", "java"
    found = shutil.which(command)
    if found is None:
        raise EnvironmentMissingError(
            f"java: {source} leads to {command}, which is not a program.",
            remedy=_REMEDY,
        )
    return Path(found)


@functools.cache
def _probe(executable: Path) -> Java:
    """Ask the program for its version, once per process."""
    try:
        answer = subprocess.run(
            [str(executable), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_ANSWER_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissingError(
            f"java: {executable} does not run ({error}).", remedy=_REMEDY
        ) from error
    version = re.search(r'^\S+ version "(\d+).*', answer.stderr, re.MULTILINE)
    home = re.search(r"^ *java\.home = (.+)$", answer.stderr, re.MULTILINE)
    if answer.returncode != 0 or version is None or home is None:
        raise EnvironmentMissingError(
            f"java: {executable} -version ended with code {answer.returncode} and printed: "
            f"{answer.stderr.strip()[-200:]}",
            remedy=_REMEDY,
        )
    major = int(version.group(1))
    if major < JAVA_MAJOR_MIN:
        raise EnvironmentMissingError(
            f"java: {executable} is Java {major}; {JAVA_MAJOR_MIN} or later is needed.",
            remedy=_REMEDY,
        )
    banner = answer.stderr[version.start() :].strip()
    return Java(executable, Path(home.group(1).strip()), banner, major)
