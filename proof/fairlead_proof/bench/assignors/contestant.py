"""Who is measured, and how it is asked: a process that speaks JSON, killed beyond its limit.

The form of the lines is in docs/strategy-benchmark.md. A silence after ``ready`` or a sign of life
is one run of the contestant, so a silence longer than the limit is a run beyond it.
"""

import queue
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import orjson

from fairlead.errors import QueryDiedError
from fairlead_proof.bench.assignors.group import Group, Owners, owners_of
from fairlead_proof.local.child import Child

_SET_UP_SECONDS_MAX: Final = 300.0
"""To start, read a group and make what the contestant is given, which is not measured."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long a contestant is run for one figure.

    Attributes:
        warm_up_ms: runs that are not counted, until so much time is over.
        measure_ms: runs that are counted, until so much time is over, …
        runs_min: … and at least so many.
    """

    warm_up_ms: int = 0
    measure_ms: int = 0
    runs_min: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a contestant answered.

    Attributes:
        owners: who should own what.
        clock_ms: how long a run took, the median of the counted ones.
        processor_ms: the processor time of its thread, the median too. The collector of Java's
            garbage has threads of its own and is not in it; Python's is.
        runs: how many were counted.
        warm_ups: and how many were not.
        rounds: rebalances until the answer is reached; only the first is timed.
    """

    owners: Owners
    clock_ms: float
    processor_ms: float
    runs: int
    warm_ups: int
    rounds: int

    @classmethod
    def read(cls, document: dict[str, Any]) -> Self:
        """Return the answer of a line."""
        return cls(
            owners_of(document["owners"]),
            median(document["clock_ns"]) / 1e6,
            median(document["processor_ns"]) / 1e6,
            len(document["clock_ns"]),
            document["warm_ups"],
            document.get("rounds", 1),
        )


@dataclass(frozen=True, slots=True)
class Contestant:
    """One strategy or assignor.

    Attributes:
        name: as the tables name it.
        asked: as its process knows it.
        command: what starts that process.
        sticky: whether it looks at the owners of now.
        is_ours: whether it is a strategy of this product.
    """

    name: str
    asked: str
    command: tuple[str, ...]
    sticky: bool
    is_ours: bool


def ours(name: str, *, sticky: bool = False) -> Contestant:
    """Return a strategy of this product, by its name on the wire."""
    program = (sys.executable, "-m", "fairlead_proof.bench.assignors.strategy_process")
    return Contestant(name, name, program, sticky, is_ours=True)


class Conversation:
    """A contestant's process, from its start to the end of the context."""

    def __init__(self, contestant: Contestant, folder: Path) -> None:
        """Describe the process; its log goes to the folder."""
        self._contestant = contestant
        self._log = folder / f"{contestant.asked}.log"
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        """Start the process."""
        self._child = Child(
            self._contestant.name,
            self._contestant.command,
            self._log,
            on_line=lambda _name, line: self._lines.put(line),
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it does."""
        if self._child is not None:
            self._child.kill()

    def ask(self, group: Group, effort: Effort, limit_s: float) -> Answer | None:
        """Return the answer for a group; None if one run goes beyond the limit.

        After None the process is of no more use.

        Raises:
            QueryDiedError: the process died.
        """
        assert self._child is not None
        self._child.send(
            contestant=self._contestant.asked,
            warm_up_ms=effort.warm_up_ms,
            measure_ms=effort.measure_ms,
            runs_min=effort.runs_min,
            **group.to_json(),
        )
        patience = _SET_UP_SECONDS_MAX
        while True:
            try:
                line = self._lines.get(timeout=patience)
            except queue.Empty:
                return None
            if not line:
                raise QueryDiedError(
                    f"{self._contestant.name}: its process died: {self._child.log_tail()}"
                )
            document = orjson.loads(line)
            if "owners" in document:
                return Answer.read(document)
            patience = limit_s
