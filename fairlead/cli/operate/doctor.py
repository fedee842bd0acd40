"""``fairlead doctor``: check the installation, and say how to fix it."""

import logging
import time
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import CheckpointOption, OutputOptions
from fairlead.cli.render.output import OutputFormat, visible, write_rows
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, VerdictError

if TYPE_CHECKING:
    from fairlead.doctor import Examined

__all__ = ["doctor"]

_NAME_WIDTH = 12
_STATUS_WIDTH = 7


class Role(StrEnum):
    """The roles of `fairlead.kafka.acls` on the command line."""

    ENGINE = "engine"
    BRIDGE = "bridge"
    CLIENT = "client"
    PRODUCER = "producer"
    READER = "reader"
    OPERATOR = "operator"
    GATEWAY = "gateway"


@takes_sets
def doctor(
    *,
    shared: OutputOptions,
    checkpoint: CheckpointOption = None,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="Whose Kafka rights this user needs: engine, bridge, client, producer, reader, "
            "operator, gateway.",
        ),
    ] = Role.ENGINE,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", help="Also check the rights on this consumer group. Repeatable."),
    ] = None,
) -> None:
    """Check everything that Fairlead needs, from Java to the clocks, and say how to fix it.

    The command changes nothing. Exit code 1 if a check fails, 3 if no broker answers.
    docs/doctor.md has each check.
    """
    from fairlead.doctor import CheckContext, examine_all
    from fairlead.kafka import acls
    from fairlead.settings import SettingsError
    from fairlead.settings.warnings import settings_warnings

    given = {"engine.checkpoint": None if checkpoint is None else str(checkpoint)}
    settings_examined = shared.examined(overrides=given)
    if settings_examined.settings is None:
        raise SettingsError(settings_examined.problems)
    # The checks report in their own words what the library logs.
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
    context = CheckContext(
        settings_examined.settings,
        settings_warnings(settings_examined.settings, settings_examined.layers),
        groups or (),
        acls.Role[role.name],
    )
    begun = time.monotonic()
    examined = []
    for each in examine_all(context):
        examined.append(each)
        if shared.output is OutputFormat.TABLE:
            _write(each)
    took = time.monotonic() - begun
    if shared.output is not OutputFormat.TABLE:
        write_rows((each.to_json() for each in examined), (), shared.output)
    else:
        counts = Counter(each.answer.status.value for each in examined)
        summary = ", ".join(f"{counts[word]} {word}" for word in ("ok", "warn", "FAIL", "unknown"))
        typer.echo(f"{summary}; {took:.1f} s")
    _end(examined)


def _write(examined: "Examined") -> None:
    """Write one result, and below it the remedy."""
    answer = examined.answer
    head = f"{answer.status.value:<{_STATUS_WIDTH}} {examined.check:<{_NAME_WIDTH}} "
    typer.echo(head + visible(answer.says))
    if answer.remedy:
        typer.echo(" " * len(head) + "→ " + visible(answer.remedy))


def _end(examined: "list[Examined]") -> None:
    """End with the verdict; do not wait for checks that hang.

    Raises:
        EnvironmentMissingError: no broker answers.
        VerdictError: a check fails.
    """
    from fairlead.doctor import Status

    failures = [each.check for each in examined if each.answer.status is Status.FAIL]
    failed = list(dict.fromkeys(failures))
    if "broker" in failed:
        raise EnvironmentMissingError(
            "kafka.bootstrap: no broker answers, so the cluster is unchecked.",
            remedy="The results above are of this machine alone.",
        )
    if failed:
        # One check may fail several times; the line above counts each.
        more = f" ({len(failures)} times)" if len(failures) > len(failed) else ""
        raise VerdictError(f"{counted(len(failed), 'check')} failed{more}: {', '.join(failed)}.")
