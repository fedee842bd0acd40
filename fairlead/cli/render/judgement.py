"""A judgement as people read it: the verdicts, what breaks them, the counts, the last word."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from fairlead.cli.render.output import OutputFormat, write_fitting
from fairlead.verify.invariants import INVARIANTS

if TYPE_CHECKING:
    from fairlead.verify.judgement import Judgement
    from fairlead.verify.verdicts import Ruling

__all__ = ["show_judgement"]

_WORDS = {"held": "held", "broken": "BROKEN", "not_judged": "not judged"}


def show_judgement(judgement: "Judgement") -> None:
    """Write a judgement to the standard output."""
    write_fitting(
        [
            {
                "": ruling.number,
                "invariant": INVARIANTS[ruling.number].title,
                "verdict": _WORDS[ruling.outcome],
                "looked at": "\n".join(_details(ruling)),
            }
            for ruling in judgement.rulings
        ],
        ("", "invariant", "verdict", "looked at"),
        OutputFormat.TABLE,
        prose=("invariant", "looked at"),
    )
    for ruling in judgement.rulings:
        for line in _findings(ruling):
            typer.echo(line)
    if judgement.recoveries:
        write_fitting(
            [
                {
                    "fault": each.fault,
                    "queues": each.queues,
                    "all owned again": _seconds(each.recovered_ms),
                    "longest without an owner": _seconds(each.longest_ms),
                }
                for each in judgement.recoveries
            ],
            ("fault", "queues", "all owned again", "longest without an owner"),
            OutputFormat.TABLE,
            prose=("fault",),
        )
    for line in _counts(judgement.counts):
        typer.echo(line)
    typer.echo(_last_word(judgement))


def _details(ruling: "Ruling") -> Iterator[str]:
    if ruling.looked_at:
        yield from ruling.looked_at.split(", ")
    if ruling.reason:
        yield from (f"– {reason}" for reason in ruling.reason.split("; "))


def _findings(ruling: "Ruling") -> Iterator[str]:
    if not ruling.findings:
        return
    more = ruling.found - len(ruling.findings)
    yield f"{ruling.number} {INVARIANTS[ruling.number].title}: {ruling.found:,} found" + (
        f", the shortest {len(ruling.findings)} are shown" if more else ""
    )
    for finding in ruling.findings:
        yield f"  {finding.text}"
        yield from (f"    {each.place}  {each.says}" for each in finding.slice)


def _counts(counts: Mapping[str, Any]) -> Iterator[str]:
    plain = {name: value for name, value in counts.items() if not isinstance(value, dict)}
    yield ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in plain.items())
    for name, values in counts.items():
        if isinstance(values, dict) and values:
            listed = ", ".join(f"{word} {number:,}" for word, number in values.items())
            yield f"{name}: {listed}"


def _seconds(milliseconds: float | None) -> str:
    return "never" if milliseconds is None else f"{milliseconds / 1000:.3f} s"


def _last_word(judgement: "Judgement") -> str:
    if judgement.broken:
        return f"verdict: BROKEN: {', '.join(judgement.broken)}"
    if judgement.nothing:
        return f"verdict: NOTHING PROVED: {judgement.nothing}"
    judged = sum(ruling.outcome == "held" for ruling in judgement.rulings)
    return f"verdict: HELD: {judged} of {len(judgement.rulings)} invariants judged"
