"""Starts a program that dies with the process that started it.

Run it as a script: `python launcher.py PARENT_PID PROGRAM ARGUMENT…`. It asks the kernel for
SIGKILL at its parent's death and then becomes the program, so that its pid is the program's. Linux
sends the signal when the *thread* that started it ends; see processes.py. Without prctl the program
starts all the same and outlives a killed parent.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PARENT_GONE = 1


def main() -> None:
    """Ask for the signal, check that the parent still lives, and become the program."""
    parent_pid, program = int(sys.argv[1]), sys.argv[2]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        sys.exit(PARENT_GONE)
    os.execv(program, sys.argv[2:])  # noqa: S606 - becoming the program is the point


if __name__ == "__main__":
    main()
