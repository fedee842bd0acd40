"""This machine: Java and its heap, jars, Python packages, the settings."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.archive import spark_program
from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.surroundings import Surroundings
from fairlead.errors import EnvironmentMissingError
from fairlead.jars import JarStore, cache_root, load_jar_set
from fairlead.jars.manifest import BROKER_SETS
from fairlead.java import find_java
from fairlead.settings.java_heap import heap_given, heap_mib

__all__ = ["archive", "heap", "jars", "java", "packages", "settings"]

_MIB: Final = 1024 * 1024
_REST_BYTES: Final = 512 * _MIB
"""What the driver's Python, its workers and the JVM itself want beside the heap, at the least."""
_PIP_SECONDS: Final = 9


def settings(around: Surroundings) -> Iterator[Answer]:
    """Tell what `fairlead config check` warns of."""
    for doubt in around.doubts:
        yield warn(f"{doubt.key} ({doubt.place}): {doubt.reason}", doubt.remedy)
    if not around.doubts:
        yield ok("nothing to think of")


def java(_around: Surroundings) -> Iterator[Answer]:
    """Look for the Java that Spark, the embedded broker and the set-up would use."""
    try:
        found = find_java()
    except EnvironmentMissingError as error:
        yield fail(error.message, error.remedy)
        return
    version = re.search(r'"(.+?)"', found.banner)
    yield ok(f"Java {version[1] if version else found.major} in {found.home}")


def heap(around: Surroundings) -> Iterator[Answer]:
    """Compare the heap of Spark's JVM with the memory that there is for it."""
    key, text = heap_given(around.settings.engine)
    mib, there = heap_mib(text), _memory_bytes()
    if there is None or mib is None:
        yield unknown(f"{text}; how much memory there is for it does not show here")
    elif mib * _MIB + _REST_BYTES > there:
        yield fail(
            f"a heap of {text}, and {there // _MIB:,} MiB of memory in all",
            f"give the machine or the container more memory, or set {key} lower",
        )
    else:
        yield ok(f"a heap of {text}, and {there // _MIB:,} MiB of memory")


def jars(_around: Surroundings) -> Iterator[Answer]:
    """Compare the jars in the cache with what is pinned, file by file."""
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
            yield fail(f"{name}: not in {folder}", "fairlead setup jars")
        else:
            yield warn(
                f"{name}: not in {folder}; only `fairlead broker` and the demo need them",
                "fairlead setup jars",
            )


def archive(_around: Surroundings) -> Iterator[Answer]:
    """Look for the class-data archive, with which an engine decides sooner after its start."""
    connector = load_jar_set("connector")
    try:
        path = spark_program(JarStore(cache_root()).folder(connector)).archive(find_java())
    except (EnvironmentMissingError, OSError):
        yield unknown("it fits one Java and one set of jars, and one of these is missing")
        return
    if path.is_file():
        yield ok(f"{path}")
    else:
        yield warn("there is none for this Java and these jars: starts take 3 to 5 s longer",
                   "fairlead setup archive")  # fmt: skip


def packages(_around: Surroundings) -> Iterator[Answer]:
    """Let pip say whether every package that Fairlead needs is there, in a version that fits."""
    python = ".".join(map(str, sys.version_info[:3]))
    if importlib.util.find_spec("pip") is None:
        yield unknown(f"Python {python}; there is no pip here to compare the packages")
        return
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PIP_SECONDS,
    )
    wrong = [line for line in done.stdout.splitlines() if line.startswith("fairlead")]
    for line in wrong:
        yield fail(line, "make setup, or: pip install --require-hashes -r requirements.lock")
    if not wrong:
        yield ok(f"Python {python} in {sys.prefix}, every package in a version that fits")


def _memory_bytes() -> int | None:
    """Return the memory of the machine, or of the container if that is less."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError):
        return None
    for path in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (Path("/sys/fs/cgroup") / path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found)
