"""Checks this machine: Java and its heap, jars, Python packages, the settings."""

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from fairlead.archive import spark_program
from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext
from fairlead.errors import EnvironmentMissingError
from fairlead.jars import JarStore, cache_root, load_jar_set
from fairlead.jars.manifest import BROKER_SETS
from fairlead.java import find_java
from fairlead.settings.java_heap import heap_given, heap_mib

__all__ = ["archive", "heap", "jars", "java", "packages", "settings"]

_MIB: Final = 1024 * 1024
_REST_BYTES: Final = 512 * _MIB
"""The least memory that the driver's Python, its workers and the JVM need beside the heap."""
_OWN: Final = ("fairlead", "fairlead-client")
"""The packages of this project that the engine runs on."""


def settings(context: CheckContext) -> Iterator[Answer]:
    """Repeat the warnings of `fairlead config check`."""
    for doubt in context.doubts:
        yield warn(f"{doubt.key} ({doubt.place}): {doubt.reason}", doubt.remedy)
    if not context.doubts:
        yield ok("no warnings")


def java(_context: CheckContext) -> Iterator[Answer]:
    """Find the Java that Spark, the embedded broker and the set-up would use."""
    try:
        found = find_java()
    except EnvironmentMissingError as error:
        yield fail(error.message, error.remedy)
        return
    version = re.search(r'"(.+?)"', found.banner)
    yield ok(f"Java {version[1] if version else found.major} in {found.home}")


def heap(context: CheckContext) -> Iterator[Answer]:
    """Compare the heap of Spark's JVM with the memory of the machine or container."""
    key, text = heap_given(context.settings.engine)
    mib, memory = heap_mib(text), _memory_bytes()
    if memory is None or mib is None:
        yield unknown(f"the heap is {text}; this system does not show how much memory it has")
    elif mib * _MIB + _REST_BYTES > memory:
        yield fail(
            f"a heap of {text} is too large for {memory // _MIB:,} MiB of memory",
            f"give the machine or the container more memory, or set {key} lower",
        )
    else:
        yield ok(f"a heap of {text} in {memory // _MIB:,} MiB of memory")


def jars(_context: CheckContext) -> Iterator[Answer]:
    """Compare the jars in the cache with the pinned checksums."""
    store = JarStore(cache_root())
    for name in ("connector", *BROKER_SETS):
        jar_set = load_jar_set(name)
        folder = store.folder(jar_set)
        try:
            complete = store.is_complete(jar_set)
        except EnvironmentMissingError as error:
            yield fail(error.message, error.remedy)
            continue
        if complete:
            yield ok(f"{name}: {len(jar_set.jars)} jars in {folder}")
        elif name == "connector":
            yield fail(f"{name}: missing in {folder}", "fairlead setup jars")
        else:
            yield warn(
                f"{name}: missing in {folder}; only `fairlead broker` and the demo need them",
                "fairlead setup jars",
            )


def archive(_context: CheckContext) -> Iterator[Answer]:
    """Find the class-data archive, which shortens the start of an engine."""
    connector = load_jar_set("connector")
    try:
        path = spark_program(JarStore(cache_root()).folder(connector)).archive(find_java())
    except (EnvironmentMissingError, OSError):
        yield unknown("it needs Java and the jars, and one of them is missing")
        return
    if path.is_file():
        yield ok(f"{path}")
    else:
        yield warn("none for this Java and these jars: each start takes 3 to 5 s longer",
                   "fairlead setup archive")  # fmt: skip


def packages(_context: CheckContext) -> Iterator[Answer]:
    """Compare the installed packages with the requirements in Fairlead's own metadata.

    A pip process would start another Python and compare unrelated packages too.
    """
    python = ".".join(map(str, sys.version_info[:3]))
    read = _reader_of_requirements()
    if read is None:
        yield unknown(f"Python {python}; neither packaging nor pip is here to compare packages")
        return
    wrong = [line for name in _OWN for line in _wrong_packages(name, read)]
    for line in wrong:
        yield fail(line, "make setup, or: pip install --require-hashes -r requirements.lock")
    if not wrong:
        yield ok(f"Python {python} in {sys.prefix}, every package in a fitting version")


def _reader_of_requirements() -> Callable[[str], Any] | None:
    """Return the parser of requirements: packaging's own, or the copy inside pip."""
    for name in ("packaging.requirements", "pip._vendor.packaging.requirements"):
        try:
            reader: Callable[[str], Any] = importlib.import_module(name).Requirement
        except ImportError:
            continue
        return reader
    return None


def _wrong_packages(name: str, read: Callable[[str], Any]) -> Iterator[str]:
    """Yield what an installed package needs and does not have; nothing if it is not installed."""
    try:
        own = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    for line in own.requires or ():
        wanted = read(line)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            yield f"{name} {own.version} needs {line}, which is not installed"
            continue
        if not wanted.specifier.contains(installed, prereleases=True):
            yield f"{name} {own.version} needs {line}, and {installed} is installed"


def _memory_bytes() -> int | None:
    """Return the memory of the machine, or of the container if that is less."""
    limits = []
    try:
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError):
        return None
    for path in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (Path("/sys/fs/cgroup") / path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits)
