"""The heap of Spark's JVM: how large it was set, and the least that Spark takes."""

import re
from collections.abc import Iterator
from typing import Final

from fairlead.settings.sections import EngineSettings

__all__ = ["HEAP_KEY", "SPARK_HEAP_MIB_MIN", "heap_given", "heap_mib", "heap_problems"]

HEAP_KEY: Final = "engine.java_heap"

SPARK_HEAP_MIB_MIN: Final = 450
"""Spark refuses to start below one and a half times the 300 MiB that it sets aside for itself."""

_ABOVE: Final = "spark.driver.memory"
"""Spark's own name of the setting; given under engine.spark it is above ours."""

_MIB: Final = {"": 1 / 2**20, "k": 1 / 2**10, "m": 1, "g": 2**10, "t": 2**20}


def heap_given(engine: EngineSettings) -> tuple[str, str]:
    """Return the key that counts, and the size as it was written."""
    above = engine.spark.get(_ABOVE)
    return (HEAP_KEY, engine.java_heap) if above is None else (f"engine.spark.{_ABOVE}", str(above))


def heap_mib(text: str) -> float | None:
    """Return a size in MiB; None: it is written in a way that only Spark and Java know."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().lower())
    return None if found is None else int(found[1]) * _MIB[found[2]]


def heap_problems(engine: EngineSettings) -> Iterator[tuple[str, str, str]]:
    """Yield key, what is wrong and a remedy if Spark would refuse to start with such a heap."""
    key, text = heap_given(engine)
    mib = heap_mib(text)
    if mib is not None and mib < SPARK_HEAP_MIB_MIN:
        yield (
            key,
            f"{text} is less than the {SPARK_HEAP_MIB_MIN}m without which Spark does not start",
            f"set {key} to 512m at the least; 1g, the default, carries some thousand clients",
        )
