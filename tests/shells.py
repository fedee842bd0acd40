"""The shells whose completion is tested: the machine's own, else Debian's, unpacked in the cache.

`python -m tests.shells` brings both, without root; the tests do so themselves where it was not run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from tests.apt_tree import AptTree, find_in_cache
from tests.kit.awaiting import LONGEST_SECONDS
from tools.prometheus.apt import AptPackage

__all__ = ["Shell", "ensure_shell"]

FETCHED: Final = ("zsh", "fish")
REMEDY: Final = "Install it, or let apt reach a mirror: completion is tested in it."


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell that can be run from here.

    ``prelude``: what a script begins with; ``variables``: what its environment has beside others.
    """

    program: Path
    prelude: str
    variables: Mapping[str, str]

    def lines(self, script: str, environment: Mapping[str, str]) -> list[str]:
        """Run a script that has to succeed; return what it prints."""
        done = subprocess.run(
            [self.program, "-c", f"{self.prelude}{script}"],
            env={**environment, **self.variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


def ensure_shell(name: str, say: Callable[[str], None]) -> Shell:
    """Return a shell; one that is not on this machine is fetched with apt, once.

    Raises:
        EnvironmentMissingError: it cannot be had here: says why, and what to do.
    """
    found = shutil.which(name)
    if found is not None:
        return Shell(Path(found), "", {})
    # Fish looks for its settings beside its other data.
    links = [("usr/etc", "../etc")]
    package = AptPackage(name, say, REMEDY)
    unpacked = find_in_cache("shells", name, lambda: AptTree(package, "bin/", links))
    return _as_unpacked(name, unpacked)


def _as_unpacked(name: str, program: Path) -> Shell:
    """Tell a shell where its libraries, modules and functions stand."""
    libraries = {path.parent for path in program.parent.rglob("lib*.so.*")}
    kept = os.environ.get("LD_LIBRARY_PATH")
    path = os.pathsep.join([*map(str, sorted(libraries)), *([kept] if kept else ())])
    prelude = ""
    if name == "zsh":
        # It takes neither from the environment.
        modules = {path.parents[1] for path in program.parent.rglob("zsh/complete.so")}
        functions = {path.parent for path in program.parent.rglob("functions/*/_arguments")}
        prelude = f"module_path=({_words(modules)}); fpath=({_words(functions)}); "
    return Shell(program, prelude, {"LD_LIBRARY_PATH": path})


def _words(paths: set[Path]) -> str:
    return " ".join(f"'{path}'" for path in sorted(paths))


def main() -> int:
    """Bring both shells; return 1 if one cannot be had."""
    try:
        for name in FETCHED:
            shell = ensure_shell(name, lambda line: print(line, file=sys.stderr))  # noqa: T201
            print(f"{name}: {shell.program}")  # noqa: T201 - the answer
    except EnvironmentMissingError as error:
        print(f"{error} {error.remedy}", file=sys.stderr)  # noqa: T201 - the answer
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
