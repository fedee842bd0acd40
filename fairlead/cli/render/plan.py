"""A plan as a reader takes it in: who gets what, then what it costs and what it brings."""

from collections.abc import Iterator, Sequence
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, Final

import typer

from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.cli.render.queue import queues_text
from fairlead.counts import counted

if TYPE_CHECKING:
    from fairlead.core.model import MessageQueue
    from fairlead.planning.imbalance import Skew
    from fairlead.planning.plan import MemberPlan, Plan

__all__ = ["show_table"]

_CHANGES: Final = "gains +, loses −"
_LINE: Final = 40
"""A list of queues goes on in the next line after this; a single name may be longer."""
_NO_BREAK: Final = "\u00a0"
_WRAPPER: Final = TextWrapper(
    _LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


def show_table(found: "Plan") -> None:
    """Write a plan to the standard output."""
    typer.echo(_heading(found))
    members = found.members
    scales = {
        "weight": any(member.weighs for member in members),
        "capacity": any(member.capacity != 1 for member in members),
    }
    columns = ("client", "", "queues", *(name for name in scales if scales[name]), _CHANGES)
    write_rows(map(_row, found.members), columns, OutputFormat.TABLE)
    for line in _totals(found, weighed=any(scales.values())):
        typer.echo(line)


def _heading(found: "Plan") -> str:
    strategy, queues = found.strategy, found.queues
    before = sum(member.role != "joins" for member in found.members)
    after = sum(member.role != "leaves" for member in found.members)
    return (
        f"{found.group}: {_change(strategy.before, strategy.after)}, "
        f"{_counts(before, after, 'member')}, {_counts(queues.before, queues.after, 'queue')}"
    )


def _counts(before: int, after: int, noun: str) -> str:
    return counted(after, noun) if before == after else f"{before} → {counted(after, noun)}"


def _change(before: object, after: object) -> str:
    return str(before) if before == after else f"{before} → {after}"


def _row(member: "MemberPlan") -> dict[str, Any]:
    weight = member.weight
    return {
        "client": member.client_id,
        "": {"joins": "joins", "leaves": "leaves"}.get(member.role, ""),
        "queues": _change(len(member.before), len(member.after)),
        "weight": _change(f"{weight.before:.4g}", f"{weight.after:.4g}"),
        "capacity": f"{member.capacity:.4g}",
        _CHANGES: "\n".join([*_lines("+", member.gained), *_lines("−", member.lost)]),
    }


def _lines(sign: str, queues: "Sequence[MessageQueue]") -> Iterator[str]:
    """Write queues in lines of readable length; nothing is cut off."""
    for place in queues_text(queues, between="\n").split("\n") if queues else ():
        # It may be broken between numbers alone.
        lines = _WRAPPER.wrap(f"{sign}{_NO_BREAK}{place}".replace(",", ", "))
        yield from (line.replace(_NO_BREAK, " ").replace(", ", ",") for line in lines)


def _totals(found: "Plan", *, weighed: bool) -> Iterator[str]:
    yield f"moves: {_queues(found.moves)}; {_least(found)}"
    if found.moves_anyway:
        yield f"{_queues(found.moves_anyway)} would move without any change"
    yield _skew("queues", found.by_queues)
    if weighed:
        yield _skew("weight / capacity", found.by_load)
    if found.orphans:
        yield f"{_queues(len(found.orphans))} would belong to nobody: {queues_text(found.orphans)}"
    if found.gone:
        yield f"{_queues(len(found.gone))} would be gone: {queues_text(found.gone)}"
    for topic, failure in found.failures.items():
        yield f"{topic} cannot be allocated and keeps what it has: {failure.message}"
    for alarm in found.alarms:
        yield f"alarm: {alarm}"
    for remark in found.remarks:
        yield f"note: {remark}"
    yield from _passing(found)


def _passing(found: "Plan") -> Iterator[str]:
    ways: dict[tuple[str, str], list[MessageQueue]] = {}
    for one in found.passing:
        way = (one.holder or "nobody", one.successor or "nobody")
        ways.setdefault(way, []).append(one.queue)
    for (holder, successor), queues in ways.items():
        yield f"  {holder} → {successor}: {queues_text(queues)}"


def _queues(number: int) -> str:
    return counted(number, "queue")


def _least(found: "Plan") -> str:
    even = found.even_share
    if even is None:
        return "there is no even share to compare with"
    by = "by capacity" if even.by == "capacity" else "by number of queues"
    if any(member.weighs for member in found.members):
        by += ", weights aside,"
    if even.exact:
        return f"the least possible for an even share {by} is {even.moves}"
    return f"an even share {by} can be had with {even.moves}"


def _skew(what: str, skews: "tuple[Skew, Skew]") -> str:
    spread = " → ".join(f"{each.spread:.4g}" if each.mean else "–" for each in skews)
    ratio = " → ".join("–" if each.ratio is None else f"{each.ratio:.3f}" for each in skews)
    return f"skew by {what}: most − least {spread}, most / mean {ratio}"
