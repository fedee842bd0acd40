"""A plan as people read it: who gets which queues, then the moves and the balance."""

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
"""A list of queues wraps at this width; a single name may be longer."""
_NO_BREAK: Final = "\u00a0"
_WRAPPER: Final = TextWrapper(
    _LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


def show_table(plan: "Plan") -> None:
    """Write a plan to the standard output."""
    typer.echo(_heading(plan))
    members = plan.members
    scales = {
        "weight": any(member.weighs for member in members),
        "capacity": any(member.capacity != 1 for member in members),
    }
    columns = ("client", "", "queues", *(name for name in scales if scales[name]), _CHANGES)
    write_rows(map(_row, plan.members), columns, OutputFormat.TABLE)
    for line in _totals(plan, weighed=any(scales.values())):
        typer.echo(line)


def _heading(plan: "Plan") -> str:
    strategy, queues = plan.strategy, plan.queues
    before = sum(member.role != "joins" for member in plan.members)
    after = sum(member.role != "leaves" for member in plan.members)
    return (
        f"{plan.group}: {_change(strategy.before, strategy.after)}, "
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
    """Wrap queues into lines; nothing is cut off."""
    for place in queues_text(queues, between="\n").split("\n") if queues else ():
        # Lines break between numbers only.
        lines = _WRAPPER.wrap(f"{sign}{_NO_BREAK}{place}".replace(",", ", "))
        yield from (line.replace(_NO_BREAK, " ").replace(", ", ",") for line in lines)


def _totals(plan: "Plan", *, weighed: bool) -> Iterator[str]:
    yield f"moves: {_queues(plan.moves)}; {_least(plan)}"
    if plan.moves_anyway:
        yield f"{_queues(plan.moves_anyway)} would move without any change"
    yield _skew("queues", plan.by_queues)
    if weighed:
        yield _skew("weight / capacity", plan.by_load)
    if plan.orphans:
        yield f"{_queues(len(plan.orphans))} would belong to nobody: {queues_text(plan.orphans)}"
    if plan.gone:
        yield f"{_queues(len(plan.gone))} would be gone: {queues_text(plan.gone)}"
    for topic, failure in plan.failures.items():
        yield f"{topic} cannot be allocated and keeps its owners: {failure.message}"
    for alarm in plan.alarms:
        yield f"alarm: {alarm}"
    for remark in plan.remarks:
        yield f"note: {remark}"
    yield from _passing(plan)


def _passing(plan: "Plan") -> Iterator[str]:
    ways: dict[tuple[str, str], list[MessageQueue]] = {}
    for one in plan.passing:
        way = (one.holder or "nobody", one.successor or "nobody")
        ways.setdefault(way, []).append(one.queue)
    for (holder, successor), queues in ways.items():
        yield f"  {holder} → {successor}: {queues_text(queues)}"


def _queues(number: int) -> str:
    return counted(number, "queue")


def _least(plan: "Plan") -> str:
    even = plan.even_share
    if even is None:
        return "there is no even share to compare with"
    by = "by capacity" if even.by == "capacity" else "by number of queues"
    if any(member.weighs for member in plan.members):
        by += ", weights aside,"
    if even.exact:
        return f"the least possible for an even share {by} is {even.moves}"
    return f"an even share {by} is possible with {even.moves}"


def _skew(what: str, skews: "tuple[Skew, Skew]") -> str:
    spread = " → ".join(f"{each.spread:.4g}" if each.mean else "–" for each in skews)
    ratio = " → ".join("–" if each.ratio is None else f"{each.ratio:.3f}" for each in skews)
    return f"skew by {what}: most − least {spread}, most / mean {ratio}"
