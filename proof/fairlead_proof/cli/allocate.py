"""`fairlead proof allocate`: which client of a group gets which queue under a strategy."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from fairlead.cli.completions import complete_strategy
from fairlead.cli.documents import read_document, read_json
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.cli.render.queue import queues_text
from fairlead.errors import UsageError

_QUEUES: Final = re.compile(r"([^/]+)/([^/]+)/([0-9]+)(?:-([0-9]+))?")
_QUEUES_MAX: Final = 1_000_000
_KIND: Final = "allocate"
_FIELDS: Final = ("id", "kind", "strategy", "queues", "clients", "options", "for")

StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        "-s",
        help="The strategy's name as clients send it, such as AVG (default: STICKY).",
        autocompletion=complete_strategy,
    ),
]


def allocate(
    *,
    strategy: StrategyOption = None,
    queues: Annotated[
        list[str] | None,
        typer.Option("--queues", "-q", help="topic/broker/first-last. Repeatable."),
    ] = None,
    clients: Annotated[
        str | None, typer.Option("--clients", "-c", help="Client ids, separated by commas.")
    ] = None,
    options: Annotated[
        str | None, typer.Option("--options", help="The strategy's options, as JSON.")
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option("--case", help="A JSON file with the same fields; - reads standard input."),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show which client gets which queue under a strategy; flags override the file of --case.

    Queues and clients are first sorted in the engine's order.
    """
    from fairlead_proof.conformance.answer import answer
    from strategies.registry import USUAL

    document: dict[str, Any] = {"strategy": USUAL, "queues": [], "clients": []}
    document |= {} if case is None else _document(case)
    given = {
        "strategy": strategy,
        "queues": _written_queues(queues),
        "clients": None if clients is None else [*filter(None, map(str.strip, clients.split(",")))],
        "options": None if options is None else read_json(options, "--options"),
    }
    document |= {name: value for name, value in given.items() if value is not None}
    for name in ("queues", "clients"):
        if not document[name]:
            raise UsageError(f"--{name}: no {name} given.", remedy=f"Give --{name}, or --case.")
    document |= {"queues": _sorted(document, "queues"), "clients": _sorted(document, "clients")}
    answered = answer({**document, "kind": _KIND})
    if "error" in answered:
        error = answered["error"]
        raise UsageError(f"{error['code']}: {error['message']}", remedy="Correct the case.")
    shares = answered["result"]
    if output is OutputFormat.TABLE:
        rows = (
            {"client": client_id, "number": len(owned), "queues": queues_text(owned)}
            for client_id, owned in shares.items()
        )
        write_rows(rows, ("client", "number", "queues"), output)
        queues_known = {tuple(queue) for queue in document["queues"]}
        orphans = queues_known - {tuple(queue) for own in shares.values() for queue in own}
        # With shares of only some clients, queues without an owner cannot be known.
        if orphans and document.get("for") is None:
            typer.echo(f"{len(orphans)} of {len(queues_known)} queues belong to nobody")
        typer.echo("".join(f"note: {note}\n" for note in answered.get("notes", ())), nl=False)
    else:
        shown = {name: value for name, value in answered.items() if name != "id"}
        write_rows([{"strategy": document["strategy"], **shown}], (), output)


def _document(case: Path) -> dict[str, Any]:
    """Read the fields of a case; an unknown field is an error, as it may be a misspelt one."""
    document = read_document(case, "--case")
    unknown = sorted(set(document) - set(_FIELDS))
    if unknown:
        known = ", ".join(_FIELDS)
        raise UsageError(f"--case: {unknown[0]}: no such field.", remedy=f"A case has {known}.")
    if document.get("kind", _KIND) != _KIND:
        raise UsageError(f"--case: kind: it is not {_KIND}.", remedy="Use fairlead proof conform.")
    return document


def _sorted(document: dict[str, Any], name: str) -> list[Any]:
    """Sort as the engine does; the answer reports values that cannot be sorted."""
    from fairlead_proof.conformance.answer import answer

    answered = answer({"kind": f"sort_{name}", name: document[name]})
    ordered: list[Any] = answered.get("result", document[name])
    return ordered


def _written_queues(texts: list[str] | None) -> list[list[Any]] | None:
    return None if texts is None else [queue for text in texts for queue in _range(text)]


def _range(text: str) -> Iterator[list[Any]]:
    parts = _QUEUES.fullmatch(text)
    if parts is None:
        raise UsageError(f"--queues: {text!r} is no range of queues.", remedy="orders/main/0-7")
    topic, broker_name, first, last = parts.groups()
    start, end = int(first), int(last or first)
    if end < start:
        raise UsageError(f"--queues: {text!r} ends before it begins.", remedy="orders/main/0-7")
    if end - start >= _QUEUES_MAX:
        raise UsageError(f"--queues: {text!r} is too many.", remedy=f"At most {_QUEUES_MAX}.")
    for queue_id in range(start, end + 1):
        yield [topic, broker_name, queue_id]
