"""`fairlead plan`: what would move if a group were changed; nothing is written."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from fairlead.cli.documents import read_document, read_json
from fairlead.cli.options import OutputOption
from fairlead.cli.output import OutputFormat, queues_text, write_rows
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.planning.picture import Picture
    from fairlead.planning.plan import Plan

_ROUTE: Final = re.compile(r"([^/=]+)(?:/([^=]+))?=(\d{1,6})")
_COLUMNS: Final = ("client", "before", "after", "gains", "loses")


def plan(
    *,
    file: Annotated[
        Path,
        typer.Option("--file", "-f", help="The group as a JSON document; - is standard input."),
    ],
    join: Annotated[
        list[str] | None, typer.Option("--join", help="A client id that joins; may be given again.")
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option("--leave", help="A client id that leaves.")
    ] = None,
    route: Annotated[
        list[str] | None,
        typer.Option("--route", help="topic=N or topic/broker=N: so many queues from now on."),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", "-s", help="Another strategy.")
    ] = None,
    options: Annotated[
        str | None, typer.Option("--options", help="Its options, as JSON; weights are among them.")
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show who would get what, how many queues move, and how even it would be.

    docs/planning.md has the document. Nothing is written anywhere.
    """
    from fairlead.core.allocation import AllocationError
    from fairlead.planning.group_file import BadGroupError, read_group
    from fairlead.planning.picture import UnknownStrategyError
    from fairlead.planning.plan import plan as work_out

    document = read_document(file, "--file")
    try:
        before = read_group(document)
        after = _changed(before, join or [], leave or [])
        after = _routed(after, route or [])
        if strategy is not None:
            after = replace(after, strategy=strategy, options={})
        if options is not None:
            after = replace(after, options=read_json(options, "--options"))
        found = work_out(before, after)
    except BadGroupError as error:
        raise UsageError(f"--file: {error}.", remedy="See docs/planning.md.") from error
    except UnknownStrategyError as error:
        raise UsageError(f"strategy: {error}.", remedy="Name one of them.") from error
    except AllocationError as error:
        raise UsageError(
            f"options: {error.message}.", remedy="See strategies/README.md."
        ) from error
    _show(found, output)


def _changed(picture: "Picture", join: list[str], leave: list[str]) -> "Picture":
    from fairlead.core.allocation import Candidate

    everything = frozenset(queue.topic for queue in picture.queues)
    for client_id in leave:
        if client_id not in picture.members:
            known = ", ".join(sorted(picture.members))
            raise UsageError(f"--leave: {client_id} is no member.", remedy=f"Members: {known}.")
    for client_id in join:
        if client_id in picture.members:
            raise UsageError(f"--join: {client_id} is a member.", remedy="Name a new client.")
    members = {name: each for name, each in picture.members.items() if name not in leave}
    members |= {client_id: Candidate(client_id, everything) for client_id in join}
    return replace(picture, members=members)


def _routed(picture: "Picture", routes: list[str]) -> "Picture":
    from fairlead.core.model import MessageQueue

    queues = picture.queues
    for text in routes:
        found = _ROUTE.fullmatch(text)
        if found is None:
            raise UsageError(f"--route: {text!r} is no route.", remedy="topic=16, topic/broker=16")
        topic, broker_name, number = found.groups()
        brokers = sorted({queue.broker_name for queue in queues if queue.topic == topic})
        if broker_name is None and len(brokers) != 1:
            names = ", ".join(brokers) or "none yet"
            raise UsageError(f"--route: {topic} has brokers: {names}.", remedy="topic/broker=16")
        name = broker_name or brokers[0]
        others = {queue for queue in queues if (queue.topic, queue.broker_name) != (topic, name)}
        queues = frozenset(others | {MessageQueue(topic, name, n) for n in range(int(number))})
    return replace(picture, queues=queues)


def _show(found: "Plan", output: OutputFormat) -> None:
    if output is not OutputFormat.TABLE:
        typer.echo(orjson.dumps(found.document(), option=orjson.OPT_INDENT_2))
        return
    rows: list[dict[str, Any]] = [
        {
            "client": member.client_id,
            "before": len(member.before),
            "after": len(member.after),
            "gains": queues_text(member.gained),
            "loses": queues_text(member.lost),
        }
        for member in found.members
    ]
    write_rows(rows, _COLUMNS, output)
    least = "not known" if found.minimum is None else f"{found.minimum} for an even share"
    typer.echo(f"moves: {found.moves}; the least possible: {least}")
    typer.echo(f"spread, most less least: {found.spread_before} before, {found.spread_after} after")
    if found.orphans:
        typer.echo(f"{found.orphans} queues would belong to nobody")
    for topic, reason in found.failures.items():
        typer.echo(f"{topic} cannot be allocated and keeps what it has: {reason}")
