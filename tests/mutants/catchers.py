"""Who looks for a mutant: the explorer, the simulator, and the stories told with the real parts.

Each runs in a process of its own, on a copy of the source, and is believed only if it says a
violation: a program that does not start has caught nothing.
"""

import json
import re
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.mutants.tree import Tree

__all__ = ["STATES_MAX", "Catch", "CatcherError", "explorer", "simulator", "stories"]

STATES_MAX = 150_000
"""Of so many states of a small world the shortest violating run is among the first."""
TIMEOUT_S = 1_200

TOLD_BY_STORIES = re.compile(
    r"^E +(?:[\w.]*\.)?(\w*(?:Error|Exception)|assert)\b:? ?(.*)$", re.MULTILINE
)
TELLING = (
    # Of pytest's plugins only the one that the settings name: loading all takes as long as a story.
    "-m", "pytest", "--disable-plugin-autoload", "-p", "pytest_timeout", "-p", "no:cacheprovider",
    "-x", "-q", "--no-header", "--tb=short",
)  # fmt: skip
FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


class CatcherError(Exception):
    """A catcher could not look: its process failed."""


@dataclass(frozen=True, slots=True)
class Catch:
    """What a catcher says of one source.

    ``violation`` None: nothing is violated. ``steps``: how many steps, schedules or stories it
    took; ``where``: the world, seed or story.
    """

    catcher: str
    violation: str | None
    where: str
    steps: int
    seconds: float
    run: tuple[str, ...] = ()

    @property
    def kind(self) -> str | None:
        """The kind of violation, such as DOUBLE."""
        return None if self.violation is None else self.violation.partition(":")[0]


def explorer(tree: Tree, bounds: Mapping[str, Any], states_max: int = STATES_MAX) -> Catch:
    """Search a small world in every order."""
    arguments = ("-m", "tests.mutants.inside.explore", json.dumps(dict(bounds)), str(states_max))
    told, seconds = _answer(tree, *arguments)
    run = tuple(told.get("run", ()))
    steps = len(run) if run else told["states"]
    return Catch("explorer", told.get("violation"), told["world"], steps, seconds, run)


def simulator(tree: Tree, schedules: int) -> Catch:
    """Run schedules by seed, from the first on."""
    told, seconds = _answer(tree, "-m", "tests.mutants.inside.simulate", str(schedules))
    number = told["schedules"]
    violation = told.get("violation")
    where = f"seed {number}" if violation else f"{number} schedules"
    return Catch("simulator", violation, where, number, seconds)


def stories(tree: Tree, names: Sequence[str]) -> Catch:
    """Tell stories with the real core and session, up to the first that goes wrong."""
    done, seconds = _run(tree, *TELLING, *names)
    if done.returncode == 0:
        passed = re.search(r"(\d+) passed", done.stdout)
        told = int(passed[1]) if passed else 0
        return Catch("stories", None, f"{told} stories", told, seconds)
    failed = FAILED.search(done.stdout)
    said = TOLD_BY_STORIES.findall(done.stdout)
    if done.returncode != 1 or failed is None or not said:
        raise CatcherError(done.stdout[-3_000:] + done.stderr[-3_000:])
    error, text = said[-1]
    if error == "BrokenError":
        violation = text
    elif error in ("assert", "AssertionError"):
        violation = f"STORY: {text}"
    else:
        violation = f"{error}: {text}"
    before = re.search(r"(\d+) passed", done.stdout)
    name = failed[1].rpartition("::")[2]
    return Catch("stories", violation, name, 1 + int(before[1] if before else 0), seconds)


def _answer(tree: Tree, *arguments: str) -> tuple[dict[str, Any], float]:
    done, seconds = _run(tree, *arguments)
    if done.returncode != 0:
        raise CatcherError(done.stderr[-3_000:])
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told, seconds


def _run(tree: Tree, *arguments: str) -> tuple["subprocess.CompletedProcess[str]", float]:
    before = _processor_s()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree.root,
        env=dict(tree.environment),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done, round(_processor_s() - before, 2)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
