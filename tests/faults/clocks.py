"""Wall clocks that a trial sets: of the broker's JVM, of the engine's JVM, of the engine's driver.

Those of the JVMs by libfaketime, which reads at each look by how much to lie; monotonic clocks stay
true, as they do when a machine's clock is set. The driver's by `shifted/sitecustomize.py`.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from fairlead.java import find_java
from tests.faults.fault_packages import ensure_faketime

__all__ = ["WHO", "Clocks", "ahead_by", "shifted_clocks"]

WHO: Final = ("broker", "jvm", "driver")
_SHIFTED: Final = Path(__file__).with_name("shifted")


class Clocks:
    """The clocks, each true at first."""

    def __init__(self, folder: Path) -> None:
        self.files = {who: folder / f"{who}.clock" for who in WHO}
        for who in WHO:
            self.set(who, 0)

    def set(self, who: str, seconds: int) -> None:
        """Let a clock be ahead by so much, or behind, within a second."""
        whole = self.files[who].with_suffix(".new")
        whole.write_text(f"{seconds:+d}", encoding="ascii")
        whole.replace(self.files[who])

    def variables(self, who: str, library: Path) -> dict[str, str]:
        """Return what a JVM's environment must have."""
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self.files[who]),
            # To look into the file each time that a broker wants to know the time slows it down.
            "FAKETIME_CACHE_DURATION": "1",
            "DONT_FAKE_MONOTONIC": "1",
            # Else every timed wait of Java ends at once.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        }


@contextmanager
def shifted_clocks(folder: Path, *, brokers_too: bool = True) -> Iterator[Clocks]:
    """Let whatever is started in the context have clocks that can be set."""
    clocks, library = Clocks(folder), ensure_faketime(lambda _: None)
    # Spark's start script takes it in, and nobody else does.
    spark = folder / "spark-conf"
    spark.mkdir()
    (spark / "spark-env.sh").write_text(_lines(clocks.variables("jvm", library)), encoding="utf-8")
    # The embedded broker is started with this program; Spark goes by where its Java says it stands.
    java = folder / "java"
    words = " ".join(f"{k}='{v}'" for k, v in clocks.variables("broker", library).items())
    executable = find_java().executable
    java.write_text(f"#!/bin/sh\nexec env {words} '{executable}' \"$@\"\n", encoding="utf-8")
    java.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(spark))
        if brokers_too:
            patch.setenv("FAIRLEAD_JAVA", str(java))
        patch.setenv("FAULTS_DRIVER_CLOCK", str(clocks.files["driver"]))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(_SHIFTED), *_kept()]))
        yield clocks


def ahead_by(stamp_ms: float) -> float:
    """Return by how many seconds a time is ahead of this process's clock."""
    return stamp_ms / 1_000 - time.time()


def _kept() -> list[str]:
    kept = os.environ.get("PYTHONPATH")
    return [kept] if kept else []


def _lines(variables: dict[str, str]) -> str:
    return "".join(f"{name}='{value}'\n" for name, value in variables.items())
