"""What examples/ are built with and run by: the machine's own programs, else fetched ones.

Go and Node come from requirements-examples.lock, curl and jq from Debian, into the cache, without
root. `python -m tests.example_programs` brings them; where it was not run, the tests do so.
"""

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from fairlead.errors import EnvironmentMissingError
from tests.apt_tree import AptTree, find_in_cache
from tools.prometheus.apt import AptPackage
from tools.wheel_programs import REMEDY, wheel_folders

__all__ = ["environment"]

_FROM_DEBIAN: Final = ("curl", "jq")


def environment(say: Callable[[str], None]) -> dict[str, str]:
    """Return an environment in which go, node, curl and jq are found.

    Raises:
        EnvironmentMissingError: one cannot be had here: says why, and what to do.
    """
    folders, libraries = wheel_folders(say), set()
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
    return AptTree(AptPackage(name, say, REMEDY), "bin/")


def main() -> int:
    """Bring them; return 1 if one cannot be had."""
    try:
        found = environment(lambda line: print(line, file=sys.stderr))  # noqa: T201
    except EnvironmentMissingError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the answer
        return 1
    for name in ("go", "node", *_FROM_DEBIAN):
        print(f"{name}: {shutil.which(name, path=found['PATH'])}")  # noqa: T201 - the answer
    return 0


if __name__ == "__main__":
    sys.exit(main())
