"""Native groups as tables for people, from the JSON that programs get."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import typer

from fairlead.cli.render.output import (
    OutputFormat,
    write_document,
    write_fitting,
    write_line,
    write_rows,
)

__all__ = ["write_native_groups", "write_native_table", "write_rebalance"]

_GROUPS: Final = (
    *("group", "native", "verdict", "protocol", "state", "assignor", "generation", "members"),
    *("idle", "queues", "no owner", "lag", "problem"),
)
_FEWER: Final = ("group", "native", "verdict", "members", "queues", "lag", "problem")
_MEMBERS: Final = ("member", "host", "version", "queues", "lag", "state", "owns")
_QUEUES: Final = ("queue", "owner", "committed", "end", "lag")
_FINDINGS: Final = ("group", "problem", "for", "says", "remedy")

_Document = Mapping[str, Any]


def write_native_groups(
    found: Sequence[_Document], output: OutputFormat, *, whole: bool = False
) -> None:
    """Write groups with what is wrong; ``whole``: their members, queues and moves too."""
    if output is not OutputFormat.TABLE:
        write_rows(found, (), output)
        return
    if not found:
        write_line("the cluster has no group")
        return
    write_native_table(found)
    found = _in_one_line(found)
    for each in found if whole else ():
        _write_whole(each, output)
    rows = [{"group": each["group"], **one} for each in found for one in each["problem_list"]]
    if rows:
        typer.echo()
        write_fitting(rows, _FINDINGS, output, prose=("says", "remedy"))
    for each in found:
        for one in each["note_list"]:
            about = f", {one['for']}" if one["for"] else ""
            write_line(f"{each['group']}{about}: {one['says']} ({one['problem']})")


def write_native_table(found: Sequence[_Document]) -> None:
    """Write a line for each group."""
    rows = [_group_row(each) for each in _in_one_line(found)]
    write_fitting(rows, _GROUPS, OutputFormat.TABLE, prose=("problem",), fewer=_FEWER)


def _in_one_line(value: Any) -> Any:
    """Return JSON values whose texts end no line: clients of a cluster name themselves."""
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if isinstance(value, Mapping):
        return {name: _in_one_line(each) for name, each in value.items()}
    return [_in_one_line(each) for each in value] if isinstance(value, list | tuple) else value


def _write_whole(each: _Document, output: OutputFormat) -> None:
    if each["member_list"]:
        typer.echo()
        write_fitting(list(_member_rows(each)), _MEMBERS, output, prose=("owns",))
    if each["queue_list"]:
        typer.echo()
        write_fitting(list(_queue_rows(each)), _QUEUES, output)
    if each["what_if"] is not None:
        typer.echo()
        shape = each["what_if"]["shape"]
        own = [] if shape in (None, "STICKY") else [shape]
        columns = ("moves of a", *own, "STICKY")
        write_fitting(list(_move_rows(each["what_if"])), columns, output)


def _group_row(each: _Document) -> dict[str, Any]:
    return {
        **each,
        "state": each["native_state"],
        "assignor": ", ".join(each["assignors"]) or None,
        "generation": each["native_generation"],
        "idle": each["members_idle"],
        "no owner": each["queues_unassigned"],
        "lag": each["lag_messages"],
        "problem": ", ".join(dict.fromkeys(one["problem"] for one in each["problem_list"])) or None,
    }


def _member_rows(each: _Document) -> Iterable[dict[str, Any]]:
    for one in each["member_list"]:
        topics: dict[str, list[str]] = {}
        for topic, broker, number in one["queue_list"]:
            topics.setdefault(f"{topic}/{broker}", []).append(str(number))
        owns = "; ".join(f"{place} {','.join(held)}" for place, held in topics.items())
        yield {
            "member": one["member_id"],
            # RocketMQ's ids begin with the host.
            "host": None if one["member_id"].startswith(one["host"]) else one["host"],
            "version": one["client_version"],
            "queues": None if one["silent_because"] else len(one["queue_list"]),
            "lag": one["lag_messages"],
            "state": one["silent_because"],
            "owns": owns or None,
        }


def _queue_rows(each: _Document) -> Iterable[dict[str, Any]]:
    names = {
        one["member_id"]: one["client_id"]
        if one["client_id"] == one["member_id"]
        else f"{one['client_id']} at {one['host']}"
        for one in each["member_list"]
    }
    for queue in each["queue_list"]:
        yield {
            "queue": "/".join(map(str, queue["queue"])),
            "owner": ", ".join(names.get(one, one) for one in queue["owner_ids"]) or None,
            "committed": queue["committed_offset"],
            "end": queue["end_offset"],
            "lag": queue["lag_messages"],
        }


def _move_rows(moves: _Document) -> Iterable[dict[str, Any]]:
    for change in ("join", "leave", "deploy"):
        row = {"moves of a": change, "STICKY": _range(moves["sticky"][change])}
        yield row if moves["own"] is None else {moves["shape"]: _range(moves["own"][change]), **row}


def _range(moves: _Document) -> str:
    fewest, most = moves["moves_fewest"], moves["moves_most"]
    return str(most) if fewest == most else f"{fewest}-{most}"


def write_rebalance(each: _Document, output: OutputFormat) -> None:
    """Write one rebalance: a line, or a document in a line."""
    if output is not OutputFormat.TABLE:
        write_document(each, output)
        return
    at = datetime.fromtimestamp(each["begun_ms"] / 1_000, UTC)
    says = _in_one_line(f"{each['group']}  {each['says']}")
    write_line(f"{at:%Y-%m-%dT%H:%M:%SZ}  {says}")
