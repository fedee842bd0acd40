"""``fairlead release``: hand a group back to native consumers where it stopped."""

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
from fairlead.cli.change.rule_command import RuleCommand, report_outcomes
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import GroupArgument, OutputOptions
from fairlead.cli.render.output import warn, write_objects
from fairlead.cli.render.positions import place_cells
from fairlead.counts import counted
from fairlead.errors import EnvironmentMissingError, RefusedError, UsageError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairlead.control.native_handback import ReleasedQueue

__all__ = ["release"]

_COLUMNS = ("queue", "position", "why", "native", "lag", "earliest", "end", "answer")

ToOption = Annotated[
    str | None,
    typer.Option("--to", help="The native group. Default: the group of the same name."),
]
ApplyFlag = Annotated[
    bool, typer.Option("--apply", help="Hand the group back. Default: only show the plan.")
]
RewindFlag = Annotated[
    bool,
    typer.Option(
        "--rewind",
        help="Set the native group back where it is further: it reads those messages again.",
    ),
]


@takes_sets
def release(
    name: GroupArgument,
    *,
    native: ToOption = None,
    apply: ApplyFlag = False,
    rewind: RewindFlag = False,
    because: flags.BecauseFlag = None,
    by: flags.ByFlag = None,
    wait: flags.WaitFlag = WAIT_SECONDS,
    options: NativeOptions,
    shared: OutputOptions,
) -> None:
    """Hand a group back to native consumers: a dry run, unless --apply is given.

    Each queue's position becomes a commit of the native group. Refused while anybody is in either
    group; a dry run shows the rows all the same. Afterwards Fairlead's clients own nothing, until
    adopt. docs/adoption.md has the details.
    """
    command = RuleCommand(name, shared)
    with both_groups(command, native, options) as both:
        reason = f"released to the native group {both.native.group}"
        reason = reason if because is None else f"{reason}: {because}"[:255]
        change = ChangeOptions(because=reason, by=by, wait=wait)
        planned = _plan(both)
        if apply:
            _refuse_if_anybody_is_at_work(command, both)
            _refuse_if_ahead(both, planned, rewind=rewind)
            _keep_ours_out(command, change, elsewhere=both.native.group != name)
            since = " They own nothing any more, and nothing is committed yet."
            _refuse_if_ours_at_work(command, since)
            # From here on nobody moves the positions.
            planned = _plan(both)
            _refuse_if_ahead(both, planned, rewind=rewind)
        refused = _commit(both, planned, rewind=rewind) if apply else {}
        rows = [_row(each, refused, written=apply) for each in planned]
        write_objects(rows, _cells, _COLUMNS, shared.output)
        _warn_of(both, planned)
        if apply:
            _require_commits_stand(both, planned, refused)
            return
        warn("a dry run: nothing is written; --apply writes it")
        _refuse_if_anybody_is_at_work(command, both)
        _refuse_if_ahead(both, planned, rewind=rewind)


def _refuse_if_anybody_is_at_work(command: RuleCommand, both: BothGroups) -> None:
    """Refuse while either group has members, and if the release would displace a rule.

    Raises:
        RefusedError: one of these holds.
        EnvironmentMissingError: a cluster does not answer.
    """
    refuse_if_at_work(both.native)
    _refuse_if_ours_at_work(command, "")
    _refuse_if_designated(command)


def _refuse_if_ours_at_work(command: RuleCommand, since: str) -> None:
    """Refuse while clients of Fairlead's may read; ``since`` says what has happened already.

    Raises:
        RefusedError: the group has clients, or waits for some.
    """
    members = members_of(command)
    if members:
        raise RefusedError(
            f"{command.name}: clients are in Fairlead's group: {shortened(members)}.{since}",
            remedy="Stop them first. One that died is gone when lease, margin and restart grace "
            f"are over: fairlead group describe {command.name} --members.",
        )


def _refuse_if_designated(command: RuleCommand) -> None:
    """Refuse to displace a rule that adopt would not restore.

    Raises:
        RefusedError: the group has such a rule.
    """
    from fairlead.control.native_handback import foreign_designation

    if foreign_designation(command.session.present):
        raise RefusedError(
            f"{command.name}: the group has a rule designated, and a release needs its place.",
            remedy=f"Write it down and remove it: fairlead group unset {command.name} "
            "--designated.",
        )


def _keep_ours_out(command: RuleCommand, change: ChangeOptions, *, elsewhere: bool) -> None:
    """Let no client of Fairlead's own a queue from now on.

    Raises:
        VerdictError: the engine refuses the rule.
        EnvironmentMissingError: an engine runs and does not answer.
    """
    from fairlead.control.native_handback import release_rule

    changes, _ = command.check([release_rule(command.name, elsewhere=elsewhere)], change)
    outcomes = command.write(changes, change)
    if all(each.answer == "unanswered" and not each.ticking for each in outcomes):
        # An engine that starts later reads the rule before it grants anything.
        warn("no engine runs: it releases the group when it starts")
        return
    report_outcomes(outcomes, change.wait)


def _plan(both: BothGroups) -> "list[ReleasedQueue]":
    """Return what to commit for each queue.

    Raises:
        UsageError: no position is known: the group is mistyped, most likely.
        EnvironmentMissingError: a cluster does not answer.
    """
    from fairlead.control.native_handback import plan_release

    places = both.places()
    planned = plan_release(places, both.native.positions(places))
    if all(each.verdict == "untold" for each in planned):
        raise UsageError(
            f"{both.name}: no position is known in "
            f"{', '.join(sorted({each.place.queue.topic for each in planned}))}: there is nothing "
            "to hand back.",
            remedy="Check the group's name, and its topics (--topic).",
        )
    return planned


def _refuse_if_ahead(both: BothGroups, planned: "Sequence[ReleasedQueue]", *, rewind: bool) -> None:
    """Refuse to let the native group read messages a second time.

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


def _commit(
    both: BothGroups, planned: "Sequence[ReleasedQueue]", *, rewind: bool
) -> "dict[str, str | None]":
    """Commit where the native group continues; return per queue why that failed, if it did."""
    verdicts = ("to_write", "ahead") if rewind else ("to_write",)
    wanted = {
        each.place.queue: (each.place, each.position)
        for each in planned
        if each.verdict in verdicts and each.position is not None
    }
    refused = both.native.commit(wanted)
    return {queue_words(queue): why for queue, why in refused.items()}


def _require_commits_stand(
    both: BothGroups, planned: "Sequence[ReleasedQueue]", refused: "dict[str, str | None]"
) -> None:
    """Check that the native group is where it is to continue.

    Raises:
        RefusedError: it had members, or a commit does not stand.
        EnvironmentMissingError: the cluster did not answer.
    """
    again = " Some commits failed; run the command again: it writes what is missing."
    failed = [f"{queue}: {why}" for queue, why in refused.items() if why is not None]
    if failed:
        refuse_if_at_work(both.native, again)
        raise EnvironmentMissingError(
            f"{both.native.group}: some commits failed: {shortened(failed)}.",
            remedy="Check the brokers and the rights of this user; then run the command again.",
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


def _warn_of(both: BothGroups, planned: "Sequence[ReleasedQueue]") -> None:
    from fairlead_client.session.topic_names import is_own_topic

    waiting = sum(each.lag or 0 for each in planned if is_own_topic(each.place.queue.topic))
    if waiting and not both.on_rocketmq:
        warn(
            f"{counted(waiting, 'message')} in the retry topic wait for another try: native "
            "consumers do not read it"
        )
    untold = [_queue(each) for each in planned if each.verdict == "untold"]
    if untold:
        warn(
            f"no position is known of {shortened(untold)}: there the native consumers begin where "
            f"their {'consumeFromWhere' if both.on_rocketmq else 'auto.offset.reset'} says"
        )


def _queue(each: "ReleasedQueue") -> str:
    return queue_words(each.place.queue)


def _row(
    each: "ReleasedQueue", refused: "dict[str, str | None]", *, written: bool
) -> dict[str, Any]:
    answer: str = "not_written" if each.verdict in ("to_write", "ahead") else each.verdict
    if written and _queue(each) in refused:
        answer = "committed" if refused[_queue(each)] is None else "refused"
    return each.to_json(answer, refused.get(_queue(each)))


def _cells(queue: "Mapping[str, Any]") -> dict[str, Any]:
    return {**place_cells(queue), "native": queue["native_offset"]}
