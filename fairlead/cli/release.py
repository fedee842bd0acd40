"""``fairlead release``: a native consumer group takes over from Fairlead's, where that stopped."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli import rule_flags as flags
from fairlead.cli.group_options import WAIT_SECONDS, ChangeOptions, GroupOptions
from fairlead.cli.group_work import GroupWork, tell_outcomes, warn
from fairlead.cli.native_work import (
    BothGroups,
    NativeOptions,
    both_groups,
    members_of,
    refuse_if_at_work,
    shortened,
)
from fairlead.cli.offset_rows import place_cells
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.output import write_objects
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairlead.control.native_handback import ReleasedQueue

__all__ = ["release"]

_COLUMNS = ("queue", "position", "why", "native", "lag", "earliest", "end", "answer")

ToOption = Annotated[
    str | None,
    typer.Option("--to", help="The native group; the one of the same name if left out."),
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Hand it back; without it that is only shown.")
]
RewindFlag = Annotated[
    bool,
    typer.Option(
        "--rewind", help="Also where the native group is further: it reads those messages again."
    ),
]


@takes_sets
def release(
    name: flags.GroupArgument,
    *,
    native: ToOption = None,
    apply: ApplyFlag = False,
    rewind: RewindFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    options: NativeOptions,
    shared: GroupOptions,
) -> None:
    """Hand a group back to native Kafka consumers: a dry run, unless --apply is given.

    Each queue's position becomes a commit of the native group. Refused while anybody is in either
    group; a dry run shows the rows all the same. Afterwards Fairlead's clients own nothing, until
    adopt. docs/adoption.md has the details.
    """
    work = GroupWork(name, shared)
    with both_groups(work, native, options) as both:
        said = f"released to the native group {both.native.group}"
        said = said if because is None else f"{said}: {because}"[:255]
        change = ChangeOptions(because=said, by=by, wait=wait)
        planned = _plan(both)
        if apply:
            _refuse_if_anybody_is_at_work(work, both)
            _refuse_if_ahead(both, planned, rewind=rewind)
            _keep_ours_out(work, change, elsewhere=both.native.group != name)
            since = " They own nothing any more, and nothing is committed yet."
            _refuse_if_ours_at_work(work, since)
            # Only now nobody moves them any more.
            planned = _plan(both)
            _refuse_if_ahead(both, planned, rewind=rewind)
        refused = _written(both, planned, rewind=rewind) if apply else {}
        rows = [_row(each, refused, written=apply) for each in planned]
        write_objects(rows, _cells, _COLUMNS, shared.output)
        _warn_of(planned)
        if apply:
            _look_again(both, planned, refused)
            return
        warn("a dry run: nothing is written; --apply writes it")
        _refuse_if_anybody_is_at_work(work, both)
        _refuse_if_ahead(both, planned, rewind=rewind)


def _refuse_if_anybody_is_at_work(work: GroupWork, both: BothGroups) -> None:
    """Refuse while somebody is in either group, or where the release would displace a rule.

    Raises:
        RefusedError: so it is.
        EnvironmentMissingError: a cluster does not answer.
    """
    refuse_if_at_work(both.native)
    _refuse_if_ours_at_work(work, "")
    _refuse_if_designated(work)


def _refuse_if_ours_at_work(work: GroupWork, since: str) -> None:
    """Refuse while Fairlead's clients may read on; ``since`` says what was done before.

    Raises:
        RefusedError: there are some, or some are waited for.
    """
    members = members_of(work)
    if members:
        raise RefusedError(
            f"{work.name}: clients are in Fairlead's group: {shortened(members)}.{since}",
            remedy="Stop them first. One that died is gone when lease, margin and restart grace "
            f"are over: fairlead group describe {work.name} --members.",
        )


def _refuse_if_designated(work: GroupWork) -> None:
    """Refuse to displace a rule that the way back would not know.

    Raises:
        RefusedError: the group has one.
    """
    from fairlead.control.native_handback import foreign_designation

    if foreign_designation(work.session.present):
        raise RefusedError(
            f"{work.name}: the group has a rule designated, and a released group needs that place.",
            remedy=f"Write it down and take it away: fairlead group unset {work.name} "
            "--designated.",
        )


def _keep_ours_out(work: GroupWork, change: ChangeOptions, *, elsewhere: bool) -> None:
    """Let no client of Fairlead's own anything from now on.

    Raises:
        VerdictError: the engine refuses that.
        EnvironmentMissingError: an engine runs and does not answer.
    """
    from fairlead.control.native_handback import release_rule

    changes, _ = work.checked([release_rule(work.name, elsewhere=elsewhere)], change)
    outcomes = work.written(changes, change)
    if all(each.answer == "unanswered" and not each.ticking for each in outcomes):
        # Whatever engine starts reads it before it grants anything.
        warn("no engine runs: that the group is released stands in the log")
        return
    tell_outcomes(outcomes, change.wait)


def _plan(both: BothGroups) -> "list[ReleasedQueue]":
    """Return what is to be written for each queue.

    Raises:
        UsageError: of none of them a position is known: the group is mistyped, most likely.
        EnvironmentMissingError: a cluster does not answer.
    """
    from fairlead.control.native_handback import plan_release

    places = both.places()
    planned = plan_release(places, both.native.positions(places))
    if all(each.verdict == "untold" for each in planned):
        raise UsageError(
            f"{both.name}: nobody has told a position in "
            f"{', '.join(sorted({each.place.queue.topic for each in planned}))}: there is nothing "
            "to hand back.",
            remedy="Check the group's name, and its topics (--topic).",
        )
    return planned


def _refuse_if_ahead(both: BothGroups, planned: "Sequence[ReleasedQueue]", *, rewind: bool) -> None:
    """Refuse what the native group would read a second time.

    Raises:
        RefusedError: it is further in a queue already.
    """
    ahead = [
        f"{_queue(each)} at {each.native}, Fairlead's group at {each.position.offset}"
        for each in planned
        if each.verdict == "ahead" and each.position is not None
    ]
    if ahead and not rewind:
        raise RefusedError(
            f"{both.native.group}: the native group is further already: {shortened(ahead)}.",
            remedy="It was released before, and has read on: leave it. --rewind lets it read "
            "those messages again.",
        )


def _written(
    both: BothGroups, planned: "Sequence[ReleasedQueue]", *, rewind: bool
) -> "dict[str, str | None]":
    """Commit where the native group goes on; return per queue why it was refused, if it was."""
    verdicts = ("to_write", "ahead") if rewind else ("to_write",)
    wanted = {
        each.place.queue: (each.place, each.position)
        for each in planned
        if each.verdict in verdicts and each.position is not None
    }
    refused = both.native.commit(wanted)
    return {"/".join(map(str, queue)): why for queue, why in refused.items()}


def _look_again(
    both: BothGroups, planned: "Sequence[ReleasedQueue]", refused: "dict[str, str | None]"
) -> None:
    """Make sure that the native group is where it shall go on.

    Raises:
        RefusedError: somebody was in it, or a commit does not stand.
        EnvironmentMissingError: the cluster did not answer.
    """
    again = " Not every commit stands; do it again, it writes what is missing."
    failed = [f"{queue}: {why}" for queue, why in refused.items() if why is not None]
    if failed:
        refuse_if_at_work(both.native, again)
        raise EnvironmentMissingError(
            f"{both.native.group}: not every commit stands: {shortened(failed)}.",
            remedy="Check the brokers and what this user may do; then do it again.",
        )
    now = both.native.positions([each.place for each in planned])
    behind = [
        _queue(each)
        for each in planned
        if each.position is not None and now.get(each.place.queue, -1) < each.position.offset
    ]
    if behind:
        raise RefusedError(
            f"{both.native.group}: somebody moved the native group: {shortened(behind)}.{again}",
            remedy="Find out who commits for it.",
        )


def _warn_of(planned: "Sequence[ReleasedQueue]") -> None:
    from fairlead_client.session.topic_names import is_own_topic

    waiting = sum(each.lag or 0 for each in planned if is_own_topic(each.place.queue.topic))
    if waiting:
        warn(
            f"{counted(waiting, 'message')} in the retry topic wait for another try: native "
            "consumers do not read it"
        )
    untold = [_queue(each) for each in planned if each.verdict == "untold"]
    if untold:
        warn(
            f"of {shortened(untold)} nobody has told a position: there the native consumers' "
            "auto.offset.reset says where they begin"
        )


def _queue(each: "ReleasedQueue") -> str:
    return "/".join(map(str, each.place.queue))


def _row(
    each: "ReleasedQueue", refused: "dict[str, str | None]", *, written: bool
) -> dict[str, Any]:
    answer: str = "not_written" if each.verdict in ("to_write", "ahead") else each.verdict
    if written and _queue(each) in refused:
        answer = "committed" if refused[_queue(each)] is None else "refused"
    return each.document(answer, refused.get(_queue(each)))


def _cells(queue: "Mapping[str, Any]") -> dict[str, Any]:
    return {**place_cells(queue), "native": queue["native_offset"]}
