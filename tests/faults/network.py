"""A network of this thread's own, in which the kernel loses packets: nobody else's traffic is near.

The thread that enters it, threads and processes that it starts there are inside; all others stay.
It takes root (CAP_SYS_ADMIN), on this machine or in its container.
"""

import ctypes
import fcntl
import os
import re
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.fault_packages import Iptables, ensure_iptables
from tests.kit.awaiting import SECONDS

__all__ = ["Loss", "losing", "own_network"]

_CLONE_NEWNET: Final = 0x40000000
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 1
_NAME_BYTES, _REST_BYTES = 16, 14
_LISTED: Final = re.compile(r"^ *(\d+) +\d+ (DROP)? ", re.MULTILINE)


@dataclass(slots=True)
class Loss:
    """How many packets there were on the way to and from a port, and how many were dropped."""

    packets: int = 0
    dropped: int = 0

    @property
    def share(self) -> float:
        """The part that was dropped."""
        return self.dropped / self.packets if self.packets else 0.0


@contextmanager
def own_network() -> Iterator[None]:
    """Be in a network with nothing but a loopback of its own.

    Raises:
        PermissionError: this process may not make one.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _checked(libc.unshare(_CLONE_NEWNET))
        try:
            _raise_loopback()
            yield
        finally:
            _checked(libc.setns(before, _CLONE_NEWNET))
    finally:
        os.close(before)


@contextmanager
def losing(port: int, share: float, folder: Path) -> Iterator[Loss]:
    """Have the kernel drop this share of all packets to and from a port, each by chance.

    What is yielded is filled in at the end.
    """
    tables, loss = ensure_iptables(lambda _: None), Loss()
    lock = {"XTABLES_LOCKFILE": str(folder / "xtables.lock")}
    chance = ("-m", "statistic", "--mode", "random", "--probability", str(share), "-j", "DROP")
    for end in ("--dport", "--sport"):
        for rest in ((), chance):
            _run(tables, lock, "-A", "INPUT", "-p", "tcp", end, str(port), *rest)
    try:
        yield loss
    finally:
        listed = _run(tables, lock, "-L", "INPUT", "-v", "-n", "-x")
        _run(tables, lock, "-F", "INPUT")
        for count, target in _LISTED.findall(listed):
            if target:
                loss.dropped += int(count)
            else:
                loss.packets += int(count)


def _run(tables: Iptables, lock: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*tables.command, "-w", *arguments],
        env={**os.environ, **tables.variables, **lock},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _raise_loopback() -> None:
    request = struct.pack(f"{_NAME_BYTES}sh{_REST_BYTES}x", b"lo", _IFF_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _checked(result: int) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
