"""`fairlead proof conform`: answers conformance cases line by line."""

import sys

import typer

from fairlead.errors import ExitCode


def conform() -> None:
    """Answer conformance cases as RocketMQ's classes do: one JSON line out for each line in.

    docs/conformance.md describes the format, and a Java program that has the real classes answer
    the same cases. A line that is no case is answered with bad_case, and the command goes on; its
    exit code is 2 then.
    """
    from fairlead_proof.conformance.lines import answer_lines

    bad = False
    for answered in answer_lines(sys.stdin.buffer):
        sys.stdout.buffer.write(answered.text + b"\n")
        bad = bad or not answered.is_case
    sys.stdout.buffer.flush()
    if bad:
        raise typer.Exit(ExitCode.USAGE)
