"""`fairlead proof conform`: reads cases line by line, and writes answers."""

import sys

import typer

from fairlead.errors import ExitCode


def conform() -> None:
    """Answer cases as RocketMQ's classes do: one JSON line in, one JSON line out, in order.

    docs/conformance.md has the format and a program in Java that lets the real classes answer the
    same cases. A line that is no case is answered with bad_case and stops nothing; the exit code is
    2 then.
    """
    from fairlead_proof.conformance.lines import answer_lines

    bad = False
    for answered in answer_lines(sys.stdin.buffer):
        sys.stdout.buffer.write(answered.text + b"\n")
        bad = bad or not answered.is_case
    sys.stdout.buffer.flush()
    if bad:
        raise typer.Exit(ExitCode.USAGE)
