"""``fairlead doctor``: is everything as it must be, and how is it mended."""

import logging
import time
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import CheckpointOption, OutputOption, SettingsOptions
from fairlead.cli.output import OutputFormat, visible, write_rows
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, VerdictError

if TYPE_CHECKING:
    from fairlead.doctor import Examined

__all__ = ["doctor"]

_NAME_WIDTH = 12
_STATUS_WIDTH = 7


class Role(StrEnum):
    """The roles of `fairlead.kafka.acls`, in words of the command line."""

    ENGINE = "engine"
    BRIDGE = "bridge"
    CLIENT = "client"
    PRODUCER = "producer"
    READER = "reader"
    OPERATOR = "operator"


@takes_sets
def doctor(
    *,
    shared: SettingsOptions,
    checkpoint: CheckpointOption = None,
    role: Annotated[
        Role,
        typer.Option("--role", help="Whose rights in Kafka this user must have."),
    ] = Role.ENGINE,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", help="Look at the rights on this consumer group too. Repeatable."),
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Check all that Fairlead needs, from Java to the clocks, and say how to mend what is wrong.

    Nothing is written and nothing is changed. Exit code 1 if anything fails, 3 if no broker
    answers. docs/doctor.md has each check.
    """
    from fairlead.doctor import Surroundings, examine_all
    from fairlead.kafka import acls
    from fairlead.settings import SettingsError
    from fairlead.settings.warnings import cautions

    given = {"engine.checkpoint": None if checkpoint is None else str(checkpoint)}
    found = shared.examined(overrides=given)
    if found.settings is None:
        raise SettingsError(found.problems)
    # What the library says to the log the checks say in their own words.
    logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
    around = Surroundings(
        found.settings,
        cautions(found.settings, found.layers),
        groups or (),
        acls.Role[role.name],
    )
    begun = time.monotonic()
    examined = []
    for each in examine_all(around):
        examined.append(each)
        if output is OutputFormat.TABLE:
            _write(each)
    took = time.monotonic() - begun
    if output is not OutputFormat.TABLE:
        write_rows((each.to_json() for each in examined), (), output)
    else:
        counts = Counter(each.answer.status.value for each in examined)
        told = ", ".join(f"{counts[word]} {word}" for word in ("ok", "warn", "FAIL", "unknown"))
        typer.echo(f"{told}; {took:.1f} s")
    _leave(examined)


def _write(examined: "Examined") -> None:
    """Write one finding, and below it how it is mended."""
    answer = examined.answer
    head = f"{answer.status.value:<{_STATUS_WIDTH}} {examined.check:<{_NAME_WIDTH}} "
    typer.echo(head + visible(answer.says))
    if answer.remedy:
        typer.echo(" " * len(head) + "→ " + visible(answer.remedy))


def _leave(examined: "list[Examined]") -> None:
    """End with the verdict, without waiting for a check that still hangs on something.

    Raises:
        EnvironmentMissingError: no broker answers.
        VerdictError: something fails.
    """
    from fairlead.doctor import Status

    found = [each.check for each in examined if each.answer.status is Status.FAIL]
    failed = list(dict.fromkeys(found))
    if "broker" in failed:
        raise EnvironmentMissingError(
            "kafka.bootstrap: no broker answers, so the cluster could not be looked at.",
            remedy="What is above holds for this machine alone.",
        )
    if failed:
        # The line above counts what was found: a check may find several things.
        more = f", by {len(found)} findings" if len(found) > len(failed) else ""
        raise VerdictError(f"{counted(len(failed), 'check')} failed{more}: {', '.join(failed)}.")
