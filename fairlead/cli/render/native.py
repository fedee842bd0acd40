"""Native groups as tables for people, and as JSON for programs."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from fairlead.cli.render.output import (
    OutputFormat,
    write_document,
    write_fitting,
    write_line,
    write_rows,
)

if TYPE_CHECKING:
    from fairlead.native.observation import ObservedLook
    from fairlead.native.rebalances import Rebalance
    from fairlead.native.what_if import WhatIf

__all__ = ["write_looks", "write_rebalance"]

_GROUPS: Final = (
    *("group", "verdict", "protocol", "state", "assignor", "generation", "members", "idle"),
    *("queues", "no owner", "lag"),
)
_FEWER: Final = ("group", "verdict", "members", "queues", "no owner", "lag")
_MEMBERS: Final = ("member", "host", "version", "queues", "lag", "state", "owns")
_QUEUES: Final = ("queue", "owner", "committed", "end", "lag")
_FINDINGS: Final = ("group", "problem", "for", "says", "remedy")


def write_looks(
    found: "Sequence[ObservedLook]", output: OutputFormat, *, whole: bool = False
) -> None:
    """Write groups; ``whole``: tables of the members, the queues and the moves too."""
    if output is not OutputFormat.TABLE:
        write_rows([each.to_json() for each in found], (), output)
        return
    if not found:
        write_line("the cluster has no group")
        return
    write_fitting([_group_row(each) for each in found], _GROUPS, output, fewer=_FEWER)
    for each in found if whole else ():
        _write_whole(each, output)
    rows = [{"group": each.look.group, **one.to_json()} for each in found for one in each.problems]
    if rows:
        typer.echo()
        write_fitting(rows, _FINDINGS, output, prose=("says", "remedy"))
    for each in found:
        for one in each.notes:
            about = f", {one.subject}" if one.subject else ""
            write_line(f"{each.look.group}{about}: {one.text} ({one.problem})")


def _write_whole(each: "ObservedLook", output: OutputFormat) -> None:
    if each.look.members:
        typer.echo()
        write_fitting(list(_member_rows(each)), _MEMBERS, output, prose=("owns",))
    if each.look.queues:
        typer.echo()
        write_fitting(list(_queue_rows(each)), _QUEUES, output)
    if each.moves is not None:
        typer.echo()
        own = each.moves.shape or "its own"
        columns = ("moves of a", "STICKY") if own == "STICKY" else ("moves of a", own, "STICKY")
        write_fitting(list(_move_rows(each.moves, own)), columns, output)


def _group_row(each: "ObservedLook") -> dict[str, Any]:
    document = each.look.summary()
    return {
        **document,
        "verdict": each.verdict,
        "state": document["native_state"],
        "assignor": ", ".join(document["assignors"]) or None,
        "generation": document["native_generation"],
        "idle": document["members_idle"],
        "no owner": document["queues_unassigned"],
        "lag": document["lag_messages"],
    }


def _member_rows(each: "ObservedLook") -> Iterable[dict[str, Any]]:
    lags = each.look.lags()
    for one in each.look.members:
        topics: dict[str, list[str]] = {}
        for queue in one.owns:
            topics.setdefault(f"{queue.topic}/{queue.broker_name}", []).append(str(queue.queue_id))
        owns = "; ".join(f"{place} {','.join(held)}" for place, held in topics.items())
        yield {
            "member": one.member_id,
            # RocketMQ's ids begin with the host.
            "host": None if one.member_id.startswith(one.host) else one.host,
            "version": one.version,
            "queues": None if one.silence else len(one.owns),
            "lag": None if one.silence else lags[one.member_id],
            "state": one.silence or None,
            "owns": owns or None,
        }


def _queue_rows(each: "ObservedLook") -> Iterable[dict[str, Any]]:
    for queue in each.look.queues:
        yield {
            "queue": str(queue.queue),
            "owner": ", ".join(one.name for one in queue.owners) or None,
            "committed": queue.committed,
            "end": queue.end,
            "lag": queue.lag,
        }


def _move_rows(moves: "WhatIf", own: str) -> Iterable[dict[str, Any]]:
    for change in ("join", "leave", "deploy"):
        row = {"moves of a": change, "STICKY": str(getattr(moves.sticky, change))}
        yield row if moves.own is None else {own: str(getattr(moves.own, change)), **row}


def write_rebalance(each: "Rebalance", output: OutputFormat) -> None:
    """Write one rebalance: a line, or a document in a line."""
    if output is not OutputFormat.TABLE:
        write_document(each.to_json(), output)
        return
    at = datetime.fromtimestamp(each.begun_ms / 1_000, UTC)
    write_line(f"{at:%Y-%m-%dT%H:%M:%SZ}  {each.group}  {each.says}")
