"""``fairlead adopt``: take over a native consumer group where it stopped."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.change import rule_flags as flags
from fairlead.cli.change.both_groups import (
    BothGroups,
    NativeOptions,
    both_groups,
    members_of,
    refuse_if_at_work,
    shortened,
)
from fairlead.cli.change.change_options import WAIT_SECONDS, ChangeOptions
from fairlead.cli.change.rule_command import RuleCommand, report_outcomes, signature
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import GroupArgument, OutputOptions
from fairlead.cli.render.output import warn, write_objects
from fairlead.cli.render.positions import place_cells
from fairlead.counts import counted
from fairlead.errors import RefusedError, UsageError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairlead.control.native_takeover import AdoptedQueue, Uncommitted
    from fairlead.control.queue_resets import ResetOutcome

__all__ = ["adopt"]

_COLUMNS = ("queue", "native", "to", "why", "lag", "earliest", "end", "answer")
_CHOICES = ("earliest", "latest")

FromOption = Annotated[
    str | None,
    typer.Option("--from", help="The native group. Default: the group of the same name."),
]
UncommittedOption = Annotated[
    str | None,
    typer.Option(
        "--uncommitted",
        help="Where queues without a commit begin: earliest or latest. Default: as the clients' "
        "consume_from says.",
    ),
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Take the group over. Default: only show the plan.")
]


@takes_sets
def adopt(
    name: GroupArgument,
    *,
    native: FromOption = None,
    uncommitted: UncommittedOption = None,
    apply: ApplyFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    options: NativeOptions,
    shared: OutputOptions,
) -> None:
    """Take over a native group of Kafka or RocketMQ: a dry run, unless --apply is given.

    Each queue begins where the native group stopped. Refused while that has members, and if
    Fairlead's group is at work or has read further; a dry run shows the rows all the same.
    docs/adoption.md has the details.
    """
    from fairlead.operating.resets import report_resets

    command, where = RuleCommand(name, shared), _choice(uncommitted)
    change = ChangeOptions(because=because, by=by, wait=wait)
    with both_groups(command, native, options) as both:
        if apply:
            _refuse_if_anybody_is_at_work(command, both)
        planned = _plan(both, where, wait)
        if apply:
            _refuse_if_ahead(planned, both)
        outcomes = _write_resets(command, both, planned, change) if apply else {}
        rows = [each.to_json(outcomes.get(index)) for index, each in enumerate(planned)]
        write_objects(rows, _cells, _COLUMNS, shared.output)
        _warn_of(planned)
        if not apply:
            warn("a dry run: nothing is written; --apply writes it")
            _refuse_if_anybody_is_at_work(command, both)
            _refuse_if_ahead(planned, both)
            return
        written = list(outcomes.values())
        report_resets([each for each in written if each.refusal is not None], wait)
        # Check once more before any client may begin.
        _recheck_native(both, planned)
        _end_release(command, change)
        report_resets(written, wait)


def _choice(text: str | None) -> "Uncommitted | None":
    if text not in (None, *_CHOICES):
        raise UsageError(
            f"--uncommitted: {text!r} is not allowed.", remedy=f"Give {' or '.join(_CHOICES)}."
        )
    return text  # type: ignore[return-value]  # checked above


def _refuse_if_anybody_is_at_work(command: RuleCommand, both: BothGroups) -> None:
    """Refuse while native consumers or clients of Fairlead's may read.

    Clients that a release or a pause holds back do not count.

    Raises:
        RefusedError: somebody may read.
        EnvironmentMissingError: a cluster does not answer.
    """
    from fairlead.control.native_handback import is_released

    refuse_if_at_work(both.native)
    present = command.session.present
    members = members_of(command)
    if members and not is_released(present) and not present.rules.pause:
        raise RefusedError(
            f"{command.name}: Fairlead's group has moved on already: {shortened(members)}.",
            remedy=f"Stop its clients first, or pause it (fairlead group pause {command.name}).",
        )


def _plan(both: BothGroups, uncommitted: "Uncommitted | None", wait: float) -> "list[AdoptedQueue]":
    from fairlead.control.native_takeover import plan_adoption

    both.require_commits()
    places = both.places(ask_seconds=wait)
    planned = plan_adoption(places, both.native.positions(places), uncommitted)
    if all(each.native is None for each in planned):
        raise UsageError(
            f"{both.native.group}: the native group has committed nothing in "
            f"{', '.join(sorted({each.place.queue.topic for each in planned}))}.",
            remedy="Name the native group (--from), or its topics (--topic).",
        )
    return planned


def _refuse_if_ahead(planned: "Sequence[AdoptedQueue]", both: BothGroups) -> None:
    """Refuse to read messages a second time.

    Raises:
        RefusedError: Fairlead's group has read further than the native one.
    """
    ahead = [
        f"{queue_words(each.place.queue)} is at {each.place.position.offset}, "
        f"{both.native.group} at {each.native}"
        for each in planned
        if each.is_ahead and each.place.position is not None
    ]
    if ahead:
        raise RefusedError(
            f"{both.name}: Fairlead's group has moved on already: {shortened(ahead)}.",
            remedy="Start its clients: they continue where it is. To read again all the same: "
            f"fairlead offsets reset {both.name}.",
        )


def _write_resets(
    command: RuleCommand, both: BothGroups, planned: "Sequence[AdoptedQueue]", change: ChangeOptions
) -> "dict[int, ResetOutcome]":
    """Write where each queue begins; return the outcomes by the queues' numbers."""
    from fairlead.control.queue_resets import PlannedReset, write_planned
    from fairlead.operating.resets import checked_resets
    from fairlead.operating.rule_changes import Signature

    wanted = {
        index: PlannedReset(each.place, each.begins)
        for index, each in enumerate(planned)
        if each.needs_reset and each.begins is not None
    }
    signed = Signature(change.by or signature(), _because(both, change))
    resets = checked_resets(both.name, list(wanted.values()), signed)
    written = write_planned(command.settings.kafka, list(wanted.values()), resets, change.wait)
    return dict(zip(wanted, written, strict=True))


def _because(both: BothGroups, change: ChangeOptions) -> str:
    reason = f"taken over from the native group {both.native.group}"
    return reason if change.because is None else f"{reason}: {change.because}"[:255]


def _end_release(command: RuleCommand, change: ChangeOptions) -> None:
    """End a release, if one is in force."""
    from fairlead.control.native_handback import is_released, take_back_rule

    if is_released(command.session.present):
        changes, _ = command.check([take_back_rule(command.name)], change)
        report_outcomes(command.write(changes, change), change.wait)
    if command.session.present.rules.pause:
        warn(f"the group is paused: fairlead group resume {command.name} lets its clients begin")


def _recheck_native(both: BothGroups, planned: "Sequence[AdoptedQueue]") -> None:
    """Check that no native consumer came while the resets were written.

    Raises:
        RefusedError: one is there, or has read on.
    """
    since = (
        f" {both.name} begins where it was before: what its consumers read from now on is read "
        "twice."
    )
    refuse_if_at_work(both.native, since)
    now = both.native.positions([each.place for each in planned])
    moved = [
        f"{queue_words(each.place.queue)} from {each.native} to {now.get(each.place.queue)}"
        for each in planned
        if now.get(each.place.queue) != each.native
    ]
    if moved:
        raise RefusedError(
            f"{both.native.group}: the native group moved meanwhile: {shortened(moved)}.{since}",
            remedy="Run the command again before you start a client of Fairlead's.",
        )


def _warn_of(planned: "Sequence[AdoptedQueue]") -> None:
    outside = [each for each in planned if each.why in ("below_earliest", "beyond_latest")]
    if outside:
        warn(
            f"the commits of {counted(len(outside), 'queue')} lie outside what the topic keeps: "
            "messages are gone, or the topic is another one; they begin at the nearest offset kept"
        )
    open_ones = [each.place for each in planned if each.why == "consume_from"]
    left = sum(place.latest - place.earliest for place in open_ones)
    if open_ones:
        warn(
            f"{counted(len(open_ones), 'queue')} with {counted(left, 'message')} have no commit: "
            "they begin where the clients' consume_from says, and last_offset skips these "
            "messages; --uncommitted earliest does not"
        )


def _cells(queue: "Mapping[str, Any]") -> dict[str, Any]:
    return {
        **place_cells(queue),
        "native": queue["native_offset"],
        "to": queue["to_offset"],
        "why": queue["to_why"],
    }
