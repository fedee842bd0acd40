"""How long a group that waits is left waiting: from `fairlead run` to its first assignment.

Each start has topics, routes and a group of its own, all there before the engine is started. The
clock runs from the start of the process until the waiting client stands at the position of its
first queue.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fairlead.archive import spark_program
from fairlead.errors import EnvironmentMissingError, VerdictError
from fairlead.jars import ensure_jars
from fairlead.java import find_java
from fairlead.kafka.topic_content import read_to_end
from fairlead_proof.bench.crew import Crew
from fairlead_proof.bench.waiting import await_fact
from fairlead_proof.local.system import LocalSystem, SystemPlan

WITH_ARCHIVE: Final = "with the archive"
WITHOUT_ARCHIVE: Final = "without the archive"
_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    WITH_ARCHIVE: (),
    WITHOUT_ARCHIVE: ("--no-archive",),
}
_QUEUES: Final = 4
_CLIENT: Final = "waiting"
_SECONDS_MAX: Final = 180.0
_ROUTE_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class StartPlan:
    """What the starts are measured on.

    Attributes:
        folder: for data and logs.
        bootstrap: a cluster that runs.
        name: begins the names of all topics.
        count: so many starts of each kind; they take turns.
        keep: leave the topics behind.
    """

    folder: Path
    bootstrap: str
    name: str
    count: int
    keep: bool


def measure_starts(plan: StartPlan, say: Callable[[str], None]) -> dict[str, list[float]]:
    """Return the times of the starts in milliseconds, by kind.

    Raises:
        EnvironmentMissingError: no class-data archive fits: the engine would start without one, and
            be measured as if it had it.
        FairleadError: a part died, or there was no assignment in time.
    """
    if not spark_program(ensure_jars("connector")).options(find_java()):
        raise EnvironmentMissingError(
            "archive: none fits this JVM and these jars, so no start can be measured with it.",
            remedy="Run: make setup (or: fairlead setup archive), or measure no starts: --starts 0",
        )
    by_kind: dict[str, list[float]] = {kind: [] for kind in _FLAGS}
    for turn in range(plan.count):
        for kind, flags in _FLAGS.items():
            name = f"{plan.name}-{turn}-{len(by_kind[kind])}-{len(flags)}"
            by_kind[kind].append(_one_start(replace(plan, name=name), flags))
            seconds = by_kind[kind][-1] / 1_000
            say(f"start {turn + 1} {kind}: {seconds:.1f} s to the first assignment")
    return by_kind


def _one_start(plan: StartPlan, flags: tuple[str, ...]) -> float:
    folder = plan.folder / plan.name
    folder.mkdir()
    system_plan = SystemPlan(
        folder=folder,
        bootstrap=plan.bootstrap,
        prefix=f"{plan.name}.",
        source=f"{plan.name}-orders",
        partitions=_QUEUES,
        settings={},
    )
    condition = threading.Condition()
    with contextlib.ExitStack() as stack:
        system = LocalSystem(system_plan, lambda _text: None)
        system.start_broker()
        system.make_topics()
        if not plan.keep:
            stack.callback(system.delete_topics)
        stack.enter_context(system)
        system.start_bridge("--topics", system_plan.source)
        arguments = {
            "bootstrap": plan.bootstrap,
            "prefix": system_plan.prefix,
            "group": "waiting",
            "topic": system_plan.source,
        }
        crew = Crew(folder, arguments, condition)
        stack.callback(crew.stop)
        crew.start(_CLIENT)
        crew.send(_CLIENT, "join")
        _await(lambda: crew.states[_CLIENT] == "joined", crew, system)
        _await_route(system)
        begun_ns = time.monotonic_ns()
        system.start_engine(*flags)
        _await(lambda: len(crew.reading) == _QUEUES, crew, system)
        first_ns = min(since_ns for _, _, since_ns in crew.reading.values())
        return (first_ns - begun_ns) / 1e6


def _await_route(system: LocalSystem) -> None:
    """Return when the route of the source topic is in the log."""
    deadline = time.monotonic() + _SECONDS_MAX
    while not read_to_end(system.bootstrap, f"{system.plan.prefix}routes").records:
        system.check()
        if time.monotonic() > deadline:
            raise VerdictError(f"waited {_SECONDS_MAX:.0f} s in vain for the bridge's first route.")
        time.sleep(_ROUTE_POLL_SECONDS)


def _await(holds: Callable[[], bool], crew: Crew, system: LocalSystem) -> None:
    await_fact(crew, holds, system.check, _SECONDS_MAX, lambda: "the first assignment")
