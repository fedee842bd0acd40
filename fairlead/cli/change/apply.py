"""``fairlead apply``: carry out a saved plan, if the group is still as planned."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.change_options import ChangeOptions
from fairlead.cli.change.planned_start import live_group
from fairlead.cli.change.rule_command import RuleCommand
from fairlead.cli.documents import read_document
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.applied_plan import show_applied, show_done
from fairlead.cli.render.output import warn
from fairlead.errors import UsageError, in_commands

if TYPE_CHECKING:
    from fairlead.operating.applied_plan import AppliedPlan
    from fairlead.planning.saved_plan import SavedPlan

__all__ = ["apply"]

PlanArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="The file of `fairlead plan … --save`; - is standard input."
    ),
]


@takes_sets
def apply(
    file: PlanArgument,
    *,
    absent_ok: flags.AbsentFlag = False,
    change: ChangeOptions,
    shared: OutputOptions,
) -> None:
    """Carry out a saved plan: write its rules, and compare what moves with the plan.

    Refused if the group has decided anything since, or if other queues would move by now. If the
    plan is applied already, the command names the decision, writes nothing, and succeeds. It starts
    and stops no clients and adds no queues: it says what remains to be done, and by whom.
    """
    from fairlead.kafka.kafka_source import KafkaSource
    from fairlead.operating.applied_plan import PlanInForce
    from fairlead.operating.plan_application import PlanApplication

    saved = _read(file)
    command = RuleCommand(saved.group, shared)
    source = KafkaSource(command.settings.kafka)
    application = PlanApplication(
        saved, command.operated, source, command.signed(change), absent_ok=absent_ok
    )
    done = application.run(
        lambda: live_group(saved.group, source, command.settings), command.wait_s(change)
    )
    if isinstance(done, PlanInForce):
        show_done(done, shared.output)
        return
    show_applied(done, shared.output)
    for note in done.notes:
        warn(in_commands(note))
    _report(done, change)


def _read(file: Path) -> "SavedPlan":
    from fairlead.planning.group_file import BadGroupError
    from fairlead.planning.saved_plan import SAVED_BY, read_saved_plan

    try:
        return read_saved_plan(read_document(file, "PLAN", f"{SAVED_BY}."))
    except BadGroupError as error:
        raise UsageError(f"PLAN: {file}: {error}.", remedy=f"{SAVED_BY}.") from error


def _report(done: "AppliedPlan", change: ChangeOptions) -> None:
    """Report what is not as planned, and end with the exit code.

    Raises:
        VerdictError: the engine refused a rule; another decision came before it; other queues move.
        EnvironmentMissingError: no engine answered in time.
    """
    from fairlead.operating.plan_words import left_words

    if done.saved.of_others:
        typer.echo(left_words(done.saved.changes, before="").lstrip(), err=True)
    notes, failure = done.judged(change.wait)
    for note in notes:
        warn(in_commands(note))
    if failure is not None:
        raise failure
