"""Which prometheus and promtool are run here.

Asked in this order: the variables PROMETHEUS and PROMTOOL, Fairlead's cache, the PATH. What a
variable names decides; a wrong one is an error and never silently replaced by the next.
"""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.store import cache_root
from tools.prometheus.apt import AptPackage
from tools.prometheus.store import ProgramStore

Program = Literal["prometheus", "promtool"]

PROGRAMS: Final[tuple[Program, ...]] = get_args(Program)
VERSION_MIN: Final = (2, 42)
REMEDY: Final = (
    "Run: python -m tools.prometheus (it unpacks Debian's package into the cache, without root),"
    " or set PROMETHEUS and PROMTOOL to programs of version 2.42 or later."
)
_UNFETCHED: Final = (
    "Where there is no apt or no network: set PROMETHEUS and PROMTOOL to programs of version 2.42"
    " or later."
)
_ANSWER_SECONDS_MAX: Final = 30


def find_program(name: Program) -> Path:
    """Return the program to run.

    Raises:
        EnvironmentMissingError: there is none, it does not run, or it is older than 2.42.
    """
    program = _known(name)
    if program is None:
        raise EnvironmentMissingError(
            f"{name}: there is none in the cache ({cache_root()}) and none on the PATH.",
            remedy=REMEDY,
        )
    return program


def ensure_programs(say: Callable[[str], None]) -> dict[Program, Path]:
    """Return both programs; what is not here is fetched with apt, once.

    Args:
        say: told what is being done, should it take time.

    Raises:
        EnvironmentMissingError: they cannot be had here: says why, and what to do.
    """
    known = {name: _known(name) for name in PROGRAMS}
    if None in known.values():
        _store().fill(AptPackage("prometheus", say, _UNFETCHED), PROGRAMS)
    return {name: path or find_program(name) for name, path in known.items()}


def _known(name: Program) -> Path | None:
    """The program that is named, cached or on the PATH, in this order; one that will do."""
    variable = name.upper()
    named = os.environ.get(variable)
    if named:
        executable = shutil.which(named)
        if executable is None:
            raise EnvironmentMissingError(
                f"{name}: {variable} leads to {named}, which is no program here.", remedy=REMEDY
            )
        return _proven(name, Path(executable))
    cached = _store().find(name)
    if cached is not None:
        return _proven(name, cached)
    on_path = shutil.which(name)
    if on_path is None:
        return None
    try:
        return _proven(name, Path(on_path))
    except EnvironmentMissingError:
        # One that the machine has for other reasons is no error: it will not do, that is all.
        return None


def _store() -> ProgramStore:
    return ProgramStore(cache_root() / "prometheus")


@functools.cache
def _proven(name: Program, path: Path) -> Path:
    """Return the program if it is new enough; asked once per process."""
    try:
        answer = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_ANSWER_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentMissingError(
            f"{name}: {path} does not run ({error}).", remedy=REMEDY
        ) from error
    printed = answer.stdout + answer.stderr
    version = re.search(rf"^{name}, version (\d+)\.(\d+)", printed, re.MULTILINE)
    if version is None:
        raise EnvironmentMissingError(
            f"{name}: {path} --version ended with code {answer.returncode} and said: "
            f"{printed.strip()[-200:]}",
            remedy=REMEDY,
        )
    if (int(version[1]), int(version[2])) < VERSION_MIN:
        raise EnvironmentMissingError(
            f"{name}: {path} is version {version[1]}.{version[2]}; 2.42 or later is needed.",
            remedy=REMEDY,
        )
    return path
