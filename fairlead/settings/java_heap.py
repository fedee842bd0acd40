"""The heap of Spark's JVM: its setting, and the least that Spark accepts."""

import re
from collections.abc import Iterator
from typing import Final

from fairlead.settings.engine_section import EngineSettings

__all__ = ["HEAP_KEY", "SPARK_HEAP_MIB_MIN", "heap_given", "heap_mib", "heap_problems"]

HEAP_KEY: Final = "engine.java_heap"

SPARK_HEAP_MIB_MIN: Final = 450
"""Spark refuses to start below one and a half times its own reserve of 300 MiB."""

_ABOVE: Final = "spark.driver.memory"
"""Spark's own name of the setting; under engine.spark it wins over ours."""

_MIB: Final = {"": 1 / 2**20, "k": 1 / 2**10, "m": 1, "g": 2**10, "t": 2**20}


def heap_given(engine: EngineSettings) -> tuple[str, str]:
    """Return the key in force, and the size as the operator wrote it."""
    above = engine.spark.get(_ABOVE)
    return (HEAP_KEY, engine.java_heap) if above is None else (f"engine.spark.{_ABOVE}", str(above))


def heap_mib(text: str) -> float | None:
    """Return a size in MiB; None: only Spark or Java understands its form."""
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().lower())
    return None if match is None else int(match[1]) * _MIB[match[2]]


def heap_problems(engine: EngineSettings) -> Iterator[tuple[str, str, str]]:
    """Yield key, reason and remedy if Spark would refuse to start with this heap."""
    key, text = heap_given(engine)
    mib = heap_mib(text)
    if mib is not None and mib < SPARK_HEAP_MIB_MIN:
        yield (
            key,
            f"{text} is less than the {SPARK_HEAP_MIB_MIN}m that Spark needs to start",
            f"set {key} to at least 512m; the default 1g is enough for some thousand clients",
        )
