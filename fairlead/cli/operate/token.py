"""``fairlead token``: make, list and revoke the tokens of callers."""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import OutputFormat, write_line, write_objects, write_pairs
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.access.access_file import AccessFile

app = typer.Typer(no_args_is_help=True, add_completion=False)

COLUMNS: Final = (
    "token_id",
    "principal",
    "observe",
    "consume",
    "operate",
    "created",
    "expires",
    "note",
)
_UNITS: Final = {"h": 1, "d": 24, "w": 7 * 24}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([hdw])")


class RightName(StrEnum):
    """What a principal may do with a group."""

    OBSERVE = "observe"
    CONSUME = "consume"
    OPERATE = "operate"


FileOption = Annotated[
    Path | None,
    typer.Option("--file", help="The access file. Default: that of the setting access.file."),
]


@app.callback()
def token() -> None:
    """Make, list and revoke tokens: who may call `fairlead serve`."""


@app.command("new")
@takes_sets
def new_token(
    *,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", help="A group, or a glob such as 'orders*'. Repeatable."),
    ] = None,
    right: Annotated[
        list[RightName] | None,
        typer.Option("--right", help="A right for these groups. Repeatable."),
    ] = None,
    principal: Annotated[
        str | None,
        typer.Option("--principal", help="Whose token it is. Default: a new one of its own."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", help="After what time it ends, such as 12h or 30d.")
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="What it is for.")] = None,
    file: FileOption = None,
    shared: OutputOptions,
) -> None:
    """Make a token, write its hash into the access file, and show the token once.

    A principal that exists keeps its rights and gets these beside them. A running server reads the
    file within a second.
    """
    from fairlead.access import tokens
    from fairlead.access.access_edits import add_token

    path = _path(file, shared)
    if bool(group) != bool(right):
        raise UsageError(
            "--group, --right: one is given without the other.",
            remedy="Give both: a right is for groups.",
        )
    if not group and principal is None:
        raise UsageError(
            "--group, --right: a new principal without rights may do nothing.",
            remedy="Give --group and --right, or --principal with the name of one that has rights.",
        )
    now = datetime.now(UTC).replace(microsecond=0)
    shown, record = tokens.new_token(now, _end(now, expires), note)
    name = principal or f"token-{record.id}"
    if not group and name not in _present(path):
        raise UsageError(
            f"--principal: {path} has no {name!r}.", remedy="Give --group and --right for it."
        )
    add_token(path, name, record, [each.value for each in right or ()], group or ())
    if shared.output is OutputFormat.TABLE:
        write_pairs([("token", shown), ("principal", name), ("id", record.id), ("file", str(path))])
        write_line("The token is shown once: the file has its hash alone.")
    else:
        document = {"token": shown, "principal": name, "token_id": record.id}
        write_objects([document], dict, (), shared.output)


@app.command("list")
@takes_sets
def list_tokens(*, file: FileOption = None, shared: OutputOptions) -> None:
    """List the tokens of the access file, without any secret."""
    from fairlead.access.access_file import parse_access_file

    present = parse_access_file(_path(file, shared))
    write_objects(list(_documents(present)), _cells, COLUMNS, shared.output, prose=("note",))


@app.command("revoke")
@takes_sets
def revoke_token(
    own: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as list shows it.")],
    *,
    file: FileOption = None,
    shared: OutputOptions,
) -> None:
    """Remove a token from the access file: within a second nobody can use it any more."""
    from fairlead.access.access_edits import remove_token
    from fairlead.access.access_file import parse_access_file

    path = _path(file, shared)
    gone = [each for each in _documents(parse_access_file(path)) if each["token_id"] == own]
    remove_token(path, own)
    write_objects(gone, _cells, COLUMNS, shared.output, prose=("note",))


def _path(file: Path | None, shared: OutputOptions) -> Path:
    path = file or shared.settings().access.file
    if path is None:
        raise UsageError(
            "--file: neither it nor the setting access.file names an access file.",
            remedy="Give --file access.toml, and set access.file to the same for the server.",
        )
    return path


def _present(path: Path) -> "Mapping[str, Any]":
    from fairlead.access.access_file import parse_access_file

    return parse_access_file(path).principals if path.exists() else {}


def _end(now: datetime, expires: str | None) -> datetime | None:
    if expires is None:
        return None
    found = _DURATION.fullmatch(expires)
    if found is None:
        raise UsageError(
            f"--expires: {expires!r} is no duration.",
            remedy="Give hours, days or weeks: 12h, 30d, 8w.",
        )
    return now + timedelta(hours=int(found[1]) * _UNITS[found[2]])


def _documents(present: "AccessFile") -> list[dict[str, Any]]:
    return [
        {
            "token_id": record.id,
            "principal": principal.name,
            **{right.value: list(principal.rights.get(right.value, ())) for right in RightName},
            "created_ms": _milliseconds(record.created),
            "expires_ms": _milliseconds(record.expires),
            "note": record.note,
        }
        for principal, record in present.tokens.values()
    ]


def _milliseconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1_000)


def _cells(row: "Mapping[str, Any]") -> dict[str, Any]:
    from fairlead.history.formatting import time_words

    cells: dict[str, Any] = dict(row)
    for right in RightName:
        cells[right.value] = ", ".join(row[right.value]) or None
    for name in ("created", "expires"):
        at_ms = row[f"{name}_ms"]
        cells[name] = None if at_ms is None else time_words(at_ms)
    return cells
