"""Class-data archives: the classes that a Java program loads at its start, ready for mapping.

Spark and the embedded broker have one each, which halves the time of a start. An archive fits
exactly one JVM and one class path, so both are in its file's name. Without a matching archive, or
if the JVM does not accept it, the JVM loads the classes as usual.

ADR 0012 gives the reasons.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import cache_root
from fairlead.java import Java

_SUFFIX: Final = ".jsa"
# A user need not hear about an archive that does not fit or cannot be used.
_SILENT: Final = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_LOADED: Final = re.compile(r"source: (shared objects file \(top\))?")


@dataclass(frozen=True, slots=True)
class ArchivedProgram:
    """A Java program with an archive of its classes.

    Attributes:
        name: the beginning of its archives' names.
        class_path: its jars.
    """

    name: str
    class_path: tuple[Path, ...]

    def archive(self, java: Java) -> Path:
        """Return the path of the archive for this JVM and this class path; it may not exist."""
        return archive_folder() / f"{self.name}-{self._fingerprint(java)}{_SUFFIX}"

    def other_archives(self, java: Java) -> list[Path]:
        """Return this program's archives for other JVMs or class paths, newest first."""
        archives = archive_folder().glob(f"{self.name}-*{_SUFFIX}")
        others = set(archives) - {self.archive(java)}
        return sorted(others, key=lambda one: one.stat().st_mtime, reverse=True)

    def options(self, java: Java) -> tuple[str, ...]:
        """Return the JVM options that use the archive; none if no archive fits."""
        path = self.archive(java)
        return using_options(path) if path.is_file() else ()

    def _fingerprint(self, java: Java) -> str:
        """Identify JVM and class path as the JVM itself does: by file, size and time."""
        digest = hashlib.sha256(f"{java.home}\n{java.banner}\n".encode())
        for jar in self.class_path:
            status = jar.stat()
            digest.update(f"{jar}\n{status.st_size}\n{status.st_mtime_ns}\n".encode())
        return digest.hexdigest()[:16]


def spark_program(jars: Path) -> ArchivedProgram:
    """Return Spark with the connector jars of this folder.

    Raises:
        EnvironmentMissingError: pyspark is not installed.
    """
    return ArchivedProgram("spark", _jars_in((jars, _spark_home() / "jars")))


def broker_program(folders: Iterable[Path]) -> ArchivedProgram:
    """Return the embedded broker with the jars of these folders."""
    return ArchivedProgram("broker", _jars_in(folders))


def archive_folder() -> Path:
    """Return the folder of all archives, in the cache."""
    return cache_root() / "archives"


def recording_options(path: Path) -> tuple[str, ...]:
    """Return the JVM options that write an archive when the JVM exits."""
    return (f"-XX:ArchiveClassesAtExit={path}", *_SILENT)


def using_options(path: Path) -> tuple[str, ...]:
    """Return the JVM options that use an archive if it fits."""
    return (f"-XX:SharedArchiveFile={path}", *_SILENT)


def load_log_option(log: Path) -> str:
    """Return the JVM option that logs the source of each class, for `archived_share`."""
    return f"-Xlog:class+load=info:file={log}:none:filecount=0"


def archived_share(log: Path) -> float:
    """Return the share of classes that a JVM loaded from the archive, from its class-load log.

    Returns:
        0.0 to 1.0; classes of the JVM's own default archive do not count as ours.
    """
    with log.open(encoding="utf-8", errors="replace") as lines:
        sources = [match for line in lines if (match := _LOADED.search(line))]
    return sum(1 for match in sources if match.group(1)) / len(sources) if sources else 0.0


def _jars_in(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(jar for folder in folders for jar in sorted(folder.glob("*.jar")))


def _spark_home() -> Path:
    """Return the folder of Spark's own jars, found like pyspark does but without importing it."""
    named = os.environ.get("SPARK_HOME")
    if named:
        return Path(named)
    specification = find_spec("pyspark")
    if specification is None or specification.origin is None:
        raise EnvironmentMissingError(
            "archive: pyspark is not installed.",
            remedy="Run: make setup (or: pip install fairlead)",
        )
    return Path(specification.origin).parent
