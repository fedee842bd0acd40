"""The class-data archive: the classes that Spark loads at its start, ready to be mapped to memory.

It halves the start of the engine. It fits exactly one JVM and one class path, so both are in its
file's name. Without a matching file, or when the JVM does not accept it, classes are loaded as
they always were.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import cache_root
from fairlead.java import Java, find_java

_PREFIX: Final = "spark-"
_SUFFIX: Final = ".jsa"
# Another class path, a full temporary folder, an older kernel: nothing a user of it must hear.
_SILENT: Final = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_LOADED: Final = re.compile(r"source: (shared objects file \(top\))?")


def archive_options(jars: Path) -> tuple[str, ...]:
    """Return the JVM options that use the archive; none if no archive fits.

    Args:
        jars: the folder of the connector jars.

    Raises:
        EnvironmentMissingError: there is no Java, or no pyspark.
    """
    path = archive_path(find_java(), jars)
    return using_options(path) if path.is_file() else ()


def archive_path(java: Java, jars: Path) -> Path:
    """Return where the archive for this JVM and this class path is, or would be."""
    return archive_folder() / f"{_PREFIX}{_fingerprint(java, jars)}{_SUFFIX}"


def archive_folder() -> Path:
    """Return the folder of all archives, below the cache of the jars."""
    return cache_root() / "archives"


def recording_options(path: Path) -> tuple[str, ...]:
    """Return the JVM options that write an archive when the JVM exits."""
    return (_quoted(f"-XX:ArchiveClassesAtExit={path}"), *_SILENT)


def using_options(path: Path) -> tuple[str, ...]:
    """Return the JVM options that use an archive if it fits."""
    return (_quoted(f"-XX:SharedArchiveFile={path}"), *_SILENT)


def load_log_option(log: Path) -> str:
    """Return the JVM option that writes where each class comes from, for `archived_share`."""
    return _quoted(f"-Xlog:class+load=info:file={log}:none:filecount=0")


def archived_share(log: Path) -> float:
    """Return the share of classes that a JVM took from the archive, by its class-load log.

    Returns:
        0.0 to 1.0; classes of the JVM's own default archive do not count as ours.
    """
    with log.open(encoding="utf-8", errors="replace") as lines:
        sources = [match for line in lines if (match := _LOADED.search(line))]
    return sum(1 for match in sources if match.group(1)) / len(sources) if sources else 0.0


def other_archives(path: Path) -> list[Path]:
    """Return the archives beside this one, the newest first."""
    found = path.parent.glob(f"{_PREFIX}*{_SUFFIX}")
    return sorted(set(found) - {path}, key=lambda one: one.stat().st_mtime, reverse=True)


def _fingerprint(java: Java, jars: Path) -> str:
    """Tell apart JVMs and class paths as the JVM itself does: by file, size and time."""
    digest = hashlib.sha256(f"{java.home}\n{java.banner}\n".encode())
    for jar in _class_path(jars):
        status = jar.stat()
        digest.update(f"{jar}\n{status.st_size}\n{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _class_path(jars: Path) -> Iterator[Path]:
    yield from sorted(jars.glob("*.jar"))
    yield from sorted((_spark_home() / "jars").glob("*.jar"))


def _spark_home() -> Path:
    """Where Spark's own jars are: as pyspark looks for them, without importing it."""
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


def _quoted(option: str) -> str:
    """Spark splits the options at spaces, and understands quotation marks."""
    return f'"{option}"' if " " in option else option
