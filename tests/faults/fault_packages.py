"""What faults are made with and a machine may lack: libfaketime, iptables; unpacked in the cache.

`python -m tests.faults.fault_packages` brings both with apt, without root; the trials do so
themselves where it was not run.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError
from tests.apt_tree import AptTree, find_in_cache
from tools.prometheus.apt import AptPackage

__all__ = ["Iptables", "ensure_faketime", "ensure_iptables"]

_FAKETIME: Final = ("libfaketime", "libfaketimeMT.so.1")
_IPTABLES: Final = ("iptables", "xtables-legacy-multi")
_REMEDY: Final = "Let apt reach a mirror: some faults are made with it."


@dataclass(frozen=True, slots=True)
class Iptables:
    """The program, and what its environment must have."""

    command: tuple[str, ...]
    variables: Mapping[str, str]


def ensure_faketime(say: Callable[[str], None]) -> Path:
    """Return the library that shifts the wall clock of a program that it is loaded into.

    Raises:
        EnvironmentMissingError: it cannot be had here: says why, and what to do.
    """
    return _ensure(_FAKETIME, say)


def ensure_iptables(say: Callable[[str], None]) -> Iptables:
    """Return the program that has the kernel drop packets.

    Raises:
        EnvironmentMissingError: it cannot be had here: says why, and what to do.
    """
    program = _ensure(_IPTABLES, say)
    folder = program.parent
    libraries = {str(path.parent) for path in folder.rglob("lib*.so.*")}
    (modules,) = {str(path.parent) for path in folder.rglob("libxt_statistic.so")}
    variables = {"LD_LIBRARY_PATH": os.pathsep.join(sorted(libraries)), "XTABLES_LIBDIR": modules}
    return Iptables((str(program), "iptables"), variables)


def _ensure(wanted: tuple[str, str], say: Callable[[str], None]) -> Path:
    package, name = wanted
    return find_in_cache("faults", name, lambda: AptTree(AptPackage(package, say, _REMEDY)))


def main() -> int:
    """Bring both; return 1 if one cannot be had."""

    def say(line: str) -> None:
        print(line, file=sys.stderr)  # noqa: T201 - the answer

    try:
        say(f"libfaketime: {ensure_faketime(say)}")
        say(f"iptables: {ensure_iptables(say).command[0]}")
    except EnvironmentMissingError as error:
        say(f"{error} {error.remedy}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
