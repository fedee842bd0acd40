"""Looks at groups of RocketMQ and writes what was seen."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import typer
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.cli.interruption import stop_on_signals
from fairlead.cli.render.output import (
    OutputFormat,
    write_document,
    write_fitting,
    write_line,
)
from fairlead.counts import counted, listed
from fairlead.errors import UsageError, VerdictError
from fairlead.observed_rocketmq.cluster_look import ClusterLook
from fairlead.observed_rocketmq.group_report import GroupReport, report_of
from fairlead.observed_rocketmq.rebalance_history import Rebalance, RebalanceHistory
from fairlead.rocketmq.name_servers import ClusterInfo, NameServers, addresses_of

__all__ = ["LookOptions", "look_once", "watch_groups"]

_OWNERS_S: Final = 30.0
"""While nothing changes, consumers are asked what they work on no more often than this."""


@dataclass(frozen=True, slots=True)
class LookOptions:
    """Where to look, and for what; `rocketmq` has what each means."""

    namesrv: str
    group: str | None
    cluster_name: str | None
    client_s: float

    @contextmanager
    def looking(self) -> Iterator[ClusterLook]:
        """Yield a look that shares its connections.

        Raises:
            UsageError: an address is none.
        """
        addresses = addresses_of(self.namesrv)
        with Connections(ConnectionSettings()) as connections:
            yield ClusterLook(
                connections,
                NameServers(connections, addresses),
                cluster=self.cluster_name,
                client_s=self.client_s,
            )

    def groups(self, look: ClusterLook, info: ClusterInfo) -> tuple[str, ...]:
        """Return the groups to look at.

        Raises:
            UsageError: no broker knows the group.
        """
        known = look.groups(info)
        if self.group is None:
            return known
        if self.group not in known:
            raise UsageError(
                f"--group: no broker knows the group {self.group}.",
                remedy=f"They know: {listed(known) or 'none'}.",
            )
        return (self.group,)


def look_once(options: LookOptions, output: OutputFormat) -> None:
    """Look, and write what was seen.

    Raises:
        VerdictError: something is wrong with a group.
    """
    with options.looking() as look:
        info = look.info()
        seen = look.look(info, look.views(info, options.groups(look, info)))
    reports = [report_of(each) for each in seen]
    if output is OutputFormat.TABLE:
        _write_table(reports, whole=options.group is not None)
    elif output is OutputFormat.JSON:
        write_document([each.to_json() for each in reports], output)
    else:
        for each in reports:
            write_document(each.to_json(), output)
    wrong = [each for each in reports if each.findings]
    if wrong:
        number = sum(len(each.findings) for each in wrong)
        raise VerdictError(
            f"{counted(number, 'problem')} in {len(wrong)} of {counted(len(reports), 'group')}.",
            remedy="docs/observe-rocketmq.md explains each problem.",
        )


def watch_groups(
    options: LookOptions, interval_s: float, seconds: float | None, output: OutputFormat
) -> None:
    """Look again and again until a signal comes, and write each rebalance that is over.

    Who is connected is asked at each look. What consumers work on, which costs them a little, is
    asked while something changes, and otherwise every 30 s.
    """
    history = RebalanceHistory()
    stop = stop_on_signals()
    with options.looking() as look:
        begun = time.monotonic()
        asked_s: dict[str, float] = {}
        while True:
            info = look.info()
            views = look.views(info, options.groups(look, info))
            due = {group for group in views if time.monotonic() - asked_s.get(group, 0) > _OWNERS_S}
            for group, view in views.items():
                ids = {one.client_id for each in view.values() if each for one in each.connections}
                if not history.is_settled(group) or not history.knows(group, ids):
                    due.add(group)
            for seen in look.look(info, {group: views[group] for group in sorted(due)}):
                asked_s[seen.name] = time.monotonic()
                rebalance = history.add(seen, int(time.time() * 1000))
                if rebalance is not None:
                    _write_rebalance(rebalance, output)
            left = None if seconds is None else seconds - (time.monotonic() - begun)
            if (left is not None and left <= 0) or stop.wait(
                interval_s if left is None else min(interval_s, left)
            ):
                return


def _write_rebalance(rebalance: Rebalance, output: OutputFormat) -> None:
    if output is OutputFormat.JSONL:
        write_document(rebalance.to_json(), output)
        return
    at = datetime.fromtimestamp(rebalance.begun_ms / 1000, UTC)
    write_line(f"{at:%Y-%m-%dT%H:%M:%SZ}  {rebalance.group}  {rebalance.says}")


def _write_table(reports: Sequence[GroupReport], *, whole: bool) -> None:
    rows = [_row(each) for each in reports]
    columns = ("group", "verdict", "clients", "queues", "lag", "shared_by")
    write_fitting(rows, columns, OutputFormat.TABLE)
    for each in reports:
        if whole:
            _write_group(each)
        _write_problems(each)


def _row(report: GroupReport) -> dict[str, Any]:
    seen = report.seen
    return {
        "group": seen.name,
        "verdict": report.verdict,
        "clients": len(seen.members),
        "queues": len(seen.queues),
        "lag": seen.lag,
        "shared_by": listed(seen.strategies) or None,
    }


def _write_group(report: GroupReport) -> None:
    members = [
        {
            "client": each.client_id,
            "version": each.info.version if each.info else None,
            "queues": len(each.info.queues) if each.info else None,
            "lag": report.lag_at(each),
            "state": each.silence or "answers",
        }
        for each in report.seen.members
    ]
    if members:
        typer.echo()
        columns = ("client", "version", "queues", "lag", "state")
        write_fitting(members, columns, OutputFormat.TABLE, prose=("state",))
    if report.forecasts:
        typer.echo()
        moves: dict[str, dict[str, str]] = {}
        for each in report.forecasts:
            number = str(each.fewest) if each.fewest == each.most else f"{each.fewest}-{each.most}"
            moves.setdefault(each.change, {"moves of a": each.change})[each.strategy] = number
        shown: list[Mapping[str, Any]] = [*moves.values()]
        write_fitting(shown, ("moves of a", "AVG", "STICKY"), OutputFormat.TABLE)


def _write_problems(report: GroupReport) -> None:
    name = report.seen.name
    for note in report.notes:
        write_line(f"{name}: {note}")
    if report.findings:
        rows = [{"group": name, **each.to_json()} for each in report.findings]
        columns = ("group", "problem", "for", "says", "remedy")
        typer.echo()
        write_fitting(rows, columns, OutputFormat.TABLE, prose=("says", "remedy"))
