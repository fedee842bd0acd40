"""``fairlead adopt``: a group takes over from a native consumer group, where that one stopped."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_options import WAIT_SECONDS, ChangeOptions, GroupOptions
from fairlead.cli.group_work import GroupWork, signature, tell_outcomes, warn
from fairlead.cli.native_work import (
    BothGroups,
    NativeOptions,
    both_groups,
    members_of,
    refuse_if_at_work,
    shortened,
)
from fairlead.cli.offset_rows import place_cells, tell_resets
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import write_objects
from fairlead.counts import counted
from fairlead.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairlead.control.native_takeover import AdoptedQueue, Uncommitted
    from fairlead.control.queue_resets import ResetOutcome

__all__ = ["adopt"]

_COLUMNS = ("queue", "native", "to", "why", "lag", "earliest", "end", "answer")
_CHOICES = ("earliest", "latest")

FromOption = Annotated[
    str | None,
    typer.Option("--from", help="The native group; the one of the same name if left out."),
]
UncommittedOption = Annotated[
    str | None,
    typer.Option(
        "--uncommitted",
        help="Where queues begin that it committed nothing in: earliest or latest; left out: where "
        "the clients' consume_from says.",
    ),
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Take it over; without it that is only shown.")
]


@takes_sets
def adopt(
    name: flags.GroupArgument,
    *,
    native: FromOption = None,
    uncommitted: UncommittedOption = None,
    apply: ApplyFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    options: NativeOptions,
    shared: GroupOptions,
) -> None:
    """Take a native Kafka consumer group over: a dry run, unless --apply is given.

    Each queue begins where the native group stopped. Refused while that has members, and if
    Fairlead's group is at work or has read further; a dry run shows the rows all the same.
    docs/adoption.md has the details.
    """
    work, where = GroupWork(name, shared), _choice(uncommitted)
    change = ChangeOptions(because=because, by=by, wait=wait)
    with both_groups(work, native, options) as both:
        if apply:
            _refuse_if_anybody_is_at_work(work, both)
        planned = _plan(both, where, wait)
        if apply:
            _refuse_if_ahead(planned, both)
        outcomes = _written(work, both, planned, change) if apply else {}
        rows = [each.document(outcomes.get(index)) for index, each in enumerate(planned)]
        write_objects(rows, _cells, _COLUMNS, shared.output)
        _warn_of(planned)
        if not apply:
            warn("a dry run: nothing is written; --apply writes it")
            _refuse_if_anybody_is_at_work(work, both)
            _refuse_if_ahead(planned, both)
            return
        found = list(outcomes.values())
        tell_resets([each for each in found if each.refusal is not None], wait)
        # Before anybody is let in.
        _look_again(both, planned)
        _take_back(work, change)
        tell_resets(found, wait)


def _choice(text: str | None) -> "Uncommitted | None":
    if text not in (None, *_CHOICES):
        raise UsageError(
            f"--uncommitted: {text!r} is neither.", remedy=f"Say {' or '.join(_CHOICES)}."
        )
    return text  # type: ignore[return-value]  # one of its words, as was looked at


def _refuse_if_anybody_is_at_work(work: GroupWork, both: BothGroups) -> None:
    """Refuse while native consumers read, or clients of Fairlead's may before they are told where.

    Raises:
        RefusedError: there are some. Clients that a release or a pause keeps from it do not count.
        EnvironmentMissingError: a cluster does not answer.
    """
    from fairlead.control.native_handback import is_released

    refuse_if_at_work(both.native)
    present = work.session.present
    members = members_of(work)
    if members and not is_released(present) and not present.rules.pause:
        raise RefusedError(
            f"{work.name}: Fairlead's group has moved on already: {shortened(members)}.",
            remedy=f"Stop its clients first, or pause it (fairlead group pause {work.name}).",
        )


def _plan(both: BothGroups, uncommitted: "Uncommitted | None", wait: float) -> "list[AdoptedQueue]":
    from fairlead.control.native_takeover import plan_adoption

    both.require_commits()
    places = both.places(ask_seconds=wait)
    planned = plan_adoption(places, both.native.positions(places), uncommitted)
    if all(each.native is None for each in planned):
        raise UsageError(
            f"{both.native.group}: it has committed nothing in "
            f"{', '.join(sorted({each.place.queue.topic for each in planned}))}.",
            remedy="Name the native group (--from), or its topics (--topic).",
        )
    return planned


def _refuse_if_ahead(planned: "Sequence[AdoptedQueue]", both: BothGroups) -> None:
    """Refuse what would be read a second time.

    Raises:
        RefusedError: Fairlead's group has read further than the native one.
    """
    ahead = [
        f"{'/'.join(map(str, each.place.queue))} is at {each.place.position.offset}, "
        f"{both.native.group} at {each.native}"
        for each in planned
        if each.is_ahead and each.place.position is not None
    ]
    if ahead:
        raise RefusedError(
            f"{both.name}: Fairlead's group has moved on already: {shortened(ahead)}.",
            remedy="Start its clients: they go on where it is. To read again all the same: "
            f"fairlead offsets reset {both.name}.",
        )


def _written(
    work: GroupWork, both: BothGroups, planned: "Sequence[AdoptedQueue]", change: ChangeOptions
) -> "dict[int, ResetOutcome]":
    """Write where each queue begins; return what came of it, by the queue's number."""
    from fairlead.cli.offsets import checked_resets
    from fairlead.control.queue_resets import PlannedReset, write_planned

    wanted = {
        index: PlannedReset(each.place, each.begins)
        for index, each in enumerate(planned)
        if each.needs_reset and each.begins is not None
    }
    why = _because(both, change)
    resets = checked_resets(both.name, list(wanted.values()), change.by or signature(), why)
    found = write_planned(work.settings.kafka, list(wanted.values()), resets, change.wait)
    return dict(zip(wanted, found, strict=True))


def _because(both: BothGroups, change: ChangeOptions) -> str:
    said = f"taken over from the native group {both.native.group}"
    return said if change.because is None else f"{said}: {change.because}"[:255]


def _take_back(work: GroupWork, change: ChangeOptions) -> None:
    """End what a release has put in force."""
    from fairlead.control.native_handback import is_released, take_back_rule

    if is_released(work.session.present):
        changes, _ = work.checked([take_back_rule(work.name)], change)
        tell_outcomes(work.written(changes, change), change.wait)
    if work.session.present.rules.pause:
        warn(f"the group is paused: fairlead group resume {work.name} lets its clients begin")


def _look_again(both: BothGroups, planned: "Sequence[AdoptedQueue]") -> None:
    """Look whether a native consumer has come while the resets were written.

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
        f"{'/'.join(map(str, each.place.queue))} from {each.native} to {now.get(each.place.queue)}"
        for each in planned
        if now.get(each.place.queue) != each.native
    ]
    if moved:
        raise RefusedError(
            f"{both.native.group}: the native group moved meanwhile: {shortened(moved)}.{since}",
            remedy="Do it again, before a client of Fairlead's is started.",
        )


def _warn_of(planned: "Sequence[AdoptedQueue]") -> None:
    outside = [each for each in planned if each.why in ("below_earliest", "beyond_latest")]
    if outside:
        warn(
            f"the commits of {counted(len(outside), 'queue')} lie outside what is kept: messages "
            "are gone, or the topic is another one; begun at the nearest that is kept"
        )
    open_ones = [each.place for each in planned if each.why == "consume_from"]
    left = sum(place.latest - place.earliest for place in open_ones)
    if open_ones:
        warn(
            f"{counted(len(open_ones), 'queue')} with {counted(left, 'message')} without a commit: "
            "begun where the clients' consume_from says, and last_offset skips these messages; "
            "--uncommitted earliest does not"
        )


def _cells(queue: "Mapping[str, Any]") -> dict[str, Any]:
    return {
        **place_cells(queue),
        "native": queue["native_offset"],
        "to": queue["to_offset"],
        "why": queue["to_why"],
    }
