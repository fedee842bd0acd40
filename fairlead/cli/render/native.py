"""Native groups as tables for people, and as JSON for programs."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fairlead.cli.render.output import (
    OutputFormat,
    write_document,
    write_fitting,
    write_line,
    write_rows,
)

if TYPE_CHECKING:
    from fairlead.native.observation import ObservedLook

__all__ = ["write_looks", "write_rebalance"]

_GROUPS: Final = (
    *("group", "protocol", "state", "assignor", "generation", "members", "idle"),
    *("queues", "no owner", "lag", "join", "leave", "deploy"),
)
_FEWER: Final = ("group", "protocol", "state", "members", "queues", "lag")
_MEMBERS: Final = ("member", "host", "queues", "lag", "owns")
_PROBLEMS: Final = ("group", "problem", "for", "says", "remedy")


def write_looks(
    found: "Sequence[ObservedLook]", output: OutputFormat, *, whole: bool = False
) -> None:
    """Write groups; ``whole``: a table of the members and the queues too."""
    if output is not OutputFormat.TABLE:
        write_rows([each.to_json() for each in found], (), output)
        return
    if not found:
        write_line("the cluster has no group")
        return
    write_fitting([_group_row(each) for each in found], _GROUPS, output, fewer=_FEWER)
    planned = any(each.moves is not None for each in found)
    if planned:
        write_line(
            "join, leave, deploy: the queues that would move, by the group's assignor → STICKY"
        )
    for each in found if whole else ():
        if each.look.members:
            write_fitting(list(_member_rows(each)), _MEMBERS, output, prose=("owns",))
        if each.look.queues:
            write_fitting(
                list(_queue_rows(each)), ("queue", "owner", "committed", "end", "lag"), output
            )
    rows = [
        {"group": each.look.group, **finding.to_json()}
        for each in found
        for finding in each.findings
    ]
    if rows:
        write_fitting(rows, _PROBLEMS, output, prose=("says", "remedy"))


def _group_row(each: "ObservedLook") -> dict[str, Any]:
    document = each.look.to_json()
    moves = each.moves

    def moved(name: str) -> str | None:
        if moves is None:
            return None
        own = "?" if moves.own is None else moves.own.to_json()[name]
        return f"{own} → {moves.sticky.to_json()[name]}"

    return {
        **document,
        "state": document["native_state"],
        "generation": document["native_generation"],
        "idle": document["members_idle"],
        "no owner": document["queues_unassigned"],
        "lag": document["lag_messages"],
        **{name: moved(name) for name in ("join", "leave", "deploy")},
    }


def _member_rows(each: "ObservedLook") -> Iterable[dict[str, Any]]:
    for one in each.look.to_json()["member_list"]:
        topics: dict[str, list[str]] = {}
        for topic, _, number in one["queue_list"]:
            topics.setdefault(topic, []).append(str(number))
        yield {
            "member": one["member_id"],
            "host": one["host"],
            "queues": len(one["queue_list"]),
            "lag": one["lag_messages"],
            "owns": "; ".join(f"{topic} {','.join(held)}" for topic, held in topics.items())
            or None,
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


def write_rebalance(row: Mapping[str, Any], output: OutputFormat) -> None:
    """Write one rebalance: a line, or a document in a line."""
    if output is not OutputFormat.TABLE:
        write_document(row, OutputFormat.JSONL)
        return
    write_line(f"{_clock(row['seen_ms'])} {row['group']}: {_told(row)}")


def _told(row: Mapping[str, Any]) -> str:
    parts = []
    if row["native_generation"] is not None:
        parts.append(f"generation {row['native_generation_before']} → {row['native_generation']}")
    parts += [f"{name} came" for name in row["came"]]
    parts += [f"{name} went" for name in row["went"]]
    parts.append(f"{row['queues_moved']} queues moved, {row['queues_begun']} begun")
    if row["flaps"]:
        parts.append(f"FLAPPING: {row['flaps']} rebalances in 5 min")
    return "; ".join(parts)


def _clock(at_ms: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_ms / 1_000))
