"""Which Java runs Ivy, the embedded broker and Spark, and which version it is.

Asked in this order: FAIRLEAD_JAVA, JAVA_HOME, the PATH. The first that is set decides; a wrong one
is an error and never silently replaced by the next.
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
_BANNER_SECONDS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that runs.

    Attributes:
        executable: the `java` command.
        banner: what `java -version` prints: it tells apart two builds of one version.
        major: 17, 21, …
    """

    executable: Path
    banner: str
    major: int


def find_java() -> Java:
    """Return the Java to use.

    Raises:
        EnvironmentMissingError: none is found, it does not run, or it is older than 17.
    """
    executable = _candidate()
    return _probe(executable)


def _candidate() -> Path:
    """The command the environment names, not yet tried."""
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
            f"java: {source} leads to {command}, which is no program here.",
            remedy=_REMEDY,
        )
    return Path(found)


@functools.cache
def _probe(executable: Path) -> Java:
    """Run `java -version` once per process and read its answer."""
    try:
        answer = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_BANNER_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissingError(
            f"java: {executable} does not run ({error}).", remedy=_REMEDY
        ) from error
    banner = answer.stderr.strip()
    version = re.search(r'version "(\d+)', banner)
    if answer.returncode != 0 or version is None:
        raise EnvironmentMissingError(
            f"java: {executable} -version failed with code {answer.returncode}: {banner[:200]}",
            remedy=_REMEDY,
        )
    major = int(version.group(1))
    if major < JAVA_MAJOR_MIN:
        raise EnvironmentMissingError(
            f"java: {executable} is Java {major}; {JAVA_MAJOR_MIN} or later is needed.",
            remedy=_REMEDY,
        )
    return Java(executable, banner, major)
