"""The page of the pitfalls, written from the stories."""

from collections.abc import Iterator
from textwrap import wrap

from fairlead_proof.pitfalls.catalogue import PITFALLS
from fairlead_proof.pitfalls.pitfall import OURS, ROCKETMQ, PitfallRun
from fairlead_proof.pitfalls.text import counts

from tests.pitfalls.runs import run_of

__all__ = ["MARK", "all_runs", "page"]

MARK = "<!-- what follows is written from the stories -->"
_WIDTH = 116


def page(head: str, runs: list[PitfallRun]) -> str:
    """Return the page behind its head, which is written by hand."""
    return "\n".join(_lines(head, runs)) + "\n"


def _lines(head: str, runs: list[PitfallRun]) -> Iterator[str]:
    yield head + MARK
    yield ""
    yield from _table(runs)
    for each in runs:
        yield from _section(each)


def _table(runs: list[PitfallRun]) -> Iterator[str]:
    yield "| | owned twice | nobody's | read twice | here: the same three |"
    yield "|---|---|---|---|---|"
    for each in runs:
        theirs, ours = each.sides[ROCKETMQ].tally, each.sides[OURS].tally
        here = f"{len(ours.twice)} · {len(ours.nobody)} · {ours.read_twice}"
        if ours.nobody:
            here += f" (nobody for {ours.longest_pause_ms / 1_000:.1f} s each)"
        named = f"[{each.pitfall.title}](#{each.pitfall.name})"
        cells = (named, len(theirs.twice), len(theirs.nobody), theirs.read_twice, here)
        yield f"| {' | '.join(map(str, cells))} |"


def _section(run: PitfallRun) -> Iterator[str]:
    pitfall = run.pitfall
    rows = [
        f"{what.strip()} {theirs} → {ours}"
        for what, theirs, ours in counts(run)
        if what.strip() != "queue seconds" and (theirs, ours) != ("0", "0")
    ]
    links = ", ".join(_link(seen) for seen in pitfall.seen)
    yield from ("", f'<a id="{pitfall.name}"></a>', "", f"## {pitfall.title}")
    for paragraph in (
        f"**{ROCKETMQ}.** {pitfall.wrong}" + (f" Met by its users: {links}." if links else ""),
        f"**{OURS}.** {pitfall.right}",
        f"![{pitfall.title}](pitfalls/{pitfall.name}.svg)",
        f"{ROCKETMQ} → {OURS}: {'; '.join(rows)}.",
    ):
        yield ""
        yield from wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _link(seen: str) -> str:
    repository, _, number = seen.partition("#")
    return f"[{seen}](https://github.com/{repository}/issues/{number})"


def all_runs() -> list[PitfallRun]:
    """Tell every pitfall."""
    return [run_of(each.name) for each in PITFALLS]
