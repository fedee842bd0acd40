"""`fairlead proof allocate`: who gets which queue of one set, for one group of clients."""

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
        help="Its name on the wire, such as AVG; STICKY unless given.",
        autocompletion=complete_strategy,
    ),
]


def allocate(
    *,
    strategy: StrategyOption = None,
    queues: Annotated[
        list[str] | None,
        typer.Option("--queues", "-q", help="topic/broker/first-last; may be given again."),
    ] = None,
    clients: Annotated[
        str | None, typer.Option("--clients", "-c", help="Client ids, with commas between them.")
    ] = None,
    options: Annotated[
        str | None, typer.Option("--options", help="The strategy's options, as JSON.")
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option("--case", help="A JSON document with the same fields; - is standard input."),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show who gets which queue under a strategy; flags win over the document.

    Queues and clients are sorted first, as the engine sorts them.
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
            raise UsageError(f"--{name}: there are none.", remedy=f"Give --{name}, or --case.")
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
        # Of some clients' shares alone nobody can tell.
        if orphans and document.get("for") is None:
            typer.echo(f"{len(orphans)} of {len(queues_known)} queues belong to nobody")
        typer.echo("".join(f"note: {note}\n" for note in answered.get("notes", ())), nl=False)
    else:
        found = {name: value for name, value in answered.items() if name != "id"}
        write_rows([{"strategy": document["strategy"], **found}], (), output)


def _document(case: Path) -> dict[str, Any]:
    """Read the fields of a case; a field nobody knows may be a known one mistyped."""
    found = read_document(case, "--case")
    unknown = sorted(set(found) - set(_FIELDS))
    if unknown:
        known = ", ".join(_FIELDS)
        raise UsageError(f"--case: {unknown[0]}: no such field.", remedy=f"A case has {known}.")
    if found.get("kind", _KIND) != _KIND:
        raise UsageError(f"--case: kind: it is not {_KIND}.", remedy="Use fairlead conform.")
    return found


def _sorted(document: dict[str, Any], name: str) -> list[Any]:
    """Sort as the engine does; what cannot be sorted is named by the answer."""
    from fairlead_proof.conformance.answer import answer

    answered = answer({"kind": f"sort_{name}", name: document[name]})
    found: list[Any] = answered.get("result", document[name])
    return found


def _written_queues(texts: list[str] | None) -> list[list[Any]] | None:
    return None if texts is None else [queue for text in texts for queue in _range(text)]


def _range(text: str) -> Iterator[list[Any]]:
    found = _QUEUES.fullmatch(text)
    if found is None:
        raise UsageError(f"--queues: {text!r} is no range of queues.", remedy="orders/main/0-7")
    topic, broker_name, first, last = found.groups()
    start, end = int(first), int(last or first)
    if end < start:
        raise UsageError(f"--queues: {text!r} ends before it begins.", remedy="orders/main/0-7")
    if end - start >= _QUEUES_MAX:
        raise UsageError(f"--queues: {text!r} is too many.", remedy=f"At most {_QUEUES_MAX}.")
    for queue_id in range(start, end + 1):
        yield [topic, broker_name, queue_id]
