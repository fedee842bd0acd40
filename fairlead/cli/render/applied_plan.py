"""The outcome of an applied plan: rows for people, one document for programs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import typer

from fairlead.cli.render.decision import came_between
from fairlead.cli.render.output import OutputFormat, write_document, write_rows
from fairlead.cli.render.rule import OUTCOME_COLUMNS, outcome_cells
from fairlead.history.formatting import queue_words
from fairlead.wire.decision_records import decision_names

if TYPE_CHECKING:
    from fairlead.control.control_session import RuleOutcome
    from fairlead.planning.changes import Changes
    from fairlead.planning.plan_outcome import QueueOutcome
    from fairlead.planning.saved_plan import PlannedMove, SavedPlan
    from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "AppliedPlan",
    "differences",
    "left_words",
    "show_applied",
    "show_done",
]

_COLUMNS: Final = ("queue", "planned", "moved", "verdict")
_NAMED_MAX: Final = 10
_BAD: Final = frozenset(("otherwise", "not_planned", "not_moved"))


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """A plan and what came of it.

    Attributes:
        saved: the plan.
        outcomes: the outcomes of its rules.
        planned: what the rules move by themselves.
        topic: the control topic's name.
        dry_run: nothing was written.
    """

    saved: "SavedPlan"
    outcomes: "tuple[RuleOutcome, ...]"
    planned: "tuple[PlannedMove, ...]"
    topic: str
    dry_run: bool

    @property
    def decisions(self) -> "list[DecisionRecord]":
        """The decisions that name a rule of the plan as a cause, the oldest first."""
        by_epoch = {one.epoch: one for each in self.outcomes for one in each.decisions}
        return [by_epoch[epoch] for epoch in sorted(by_epoch)]

    @property
    def rows(self) -> "list[QueueOutcome]":
        """The outcome of each queue."""
        from fairlead.planning.plan_outcome import QueueOutcome, outcomes_of

        if self.dry_run:
            return [QueueOutcome(move.queue, move, None, "not_written") for move in self.planned]
        return outcomes_of(self.planned, self.decisions)

    @property
    def held_up(self) -> bool:
        """Whether moves wait because the group moves nothing now."""
        return any(row.verdict == "held_up" for row in self.rows)

    @property
    def differs(self) -> bool:
        """Whether an unplanned queue moved, or a planned one did not."""
        return any(row.verdict in _BAD for row in self.rows)

    @property
    def strangers(self) -> tuple[bool, list[str]]:
        """Whether a decision came in between, and the unplanned causes, in words."""
        from fairlead.planning.plan_outcome import unplanned_causes

        own = [(self.topic, *place) for each in self.outcomes for place in each.places]
        return unplanned_causes(self.decisions, self.saved.epoch, own)


def show_applied(done: AppliedPlan, output: OutputFormat) -> None:
    """Write the outcome of a plan to the standard output."""
    outcomes = [each.to_json(done.topic) for each in done.outcomes]
    if output is not OutputFormat.TABLE:
        write_document(_document(done, outcomes), output)
        return
    write_rows(map(outcome_cells, outcomes), OUTCOME_COLUMNS, output)
    rows = [
        {
            "queue": queue_words(row.queue),
            "planned": _way(row.planned),
            "moved": _way(row.moved),
            "verdict": row.verdict.replace("_", " "),
        }
        for row in done.rows
    ]
    write_rows(rows, _COLUMNS, output)
    typer.echo(_sum(done))


def show_done(
    saved: "SavedPlan", decided: "Sequence[DecisionRecord]", output: OutputFormat
) -> None:
    """Say that a plan is applied already, and by which decisions.

    Args:
        saved: the plan.
        decided: the decisions that its rules caused; empty: the rules are older than the plan.
        output: table or JSON.
    """
    if output is not OutputFormat.TABLE:
        document = {
            **_about(saved),
            "already_applied": True,
            "led_to": decision_names(decided),
            "left": _left_lines(saved),
        }
        write_document(document, output)
        return
    words = f"{saved.group}: the plan is applied already; nothing is written."
    words += " Its rules are in force"
    words += f", and led to:{came_between(decided)}" if decided else " since before it was made."
    typer.echo(words + left_words(saved.changes))


def _about(saved: "SavedPlan") -> dict[str, Any]:
    epoch = saved.epoch
    return {"group": saved.group, "epoch": None if epoch is None else list(epoch)}


def _left_lines(saved: "SavedPlan") -> list[str]:
    return [line.removeprefix("to be done: ") for line in _left(saved.changes)]


def differences(planned: "Iterable[PlannedMove]", now: "Iterable[PlannedMove]") -> str:
    """Return the moves that differ from the plan, a line for each queue, the first of many."""
    wanted, actual = ({move.queue: move for move in moves} for moves in (planned, now))
    lines = [
        f"\n  {queue_words(queue)}: planned {_way(wanted.get(queue)) or 'to stay'}, "
        f"now {_way(actual.get(queue)) or 'to stay'}"
        for queue in dict.fromkeys([*wanted, *actual])
        if wanted.get(queue) != actual.get(queue)
    ]
    more = len(lines) - _NAMED_MAX
    return "".join(lines[:_NAMED_MAX]) + ("" if more <= 0 else f"\n  and {more} more")


def left_words(changes: "Changes", before: str = "  ") -> str:
    """Return what of a plan remains to be done by others, a line for each."""
    return "".join(f"\n{before}{line}" for line in _left(changes))


def _left(changes: "Changes") -> Iterator[str]:
    for join in changes.joins:
        topics = "" if join.topics is None else f", subscribed to {', '.join(join.topics)}"
        yield f"to be done: start client {join.client_id}{topics} (its application's operator)"
    for client_id in changes.leaves:
        yield f"to be done: stop client {client_id} in order (its application's operator)"
    for size in changes.routes:
        place = size.topic if size.broker_name is None else f"{size.topic} on {size.broker_name}"
        yield (
            f"to be done: give {place} {size.queues} queues (the topic's owner; a bridge publishes "
            "the route)"
        )


def _document(done: AppliedPlan, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    between, beside = done.strangers
    return {
        **_about(done.saved),
        "already_applied": False,
        "outcomes": outcomes,
        "led_to": decision_names(done.decisions),
        "came_between": between,
        "beside": beside,
        "move_list": [row.to_json() for row in done.rows],
        "as_planned": not between and not done.differs and not done.held_up and not done.dry_run,
        "left": _left_lines(done.saved),
    }


def _way(move: "PlannedMove | None") -> str | None:
    return None if move is None else f"{move.holder or 'nobody'} → {move.successor or 'nobody'}"


def _sum(done: AppliedPlan) -> str:
    planned = len(done.planned)
    if done.dry_run:
        return f"{done.saved.group}: queues that would move: {planned}; nothing is written"
    good = sum(row.verdict == "as_planned" for row in done.rows)
    other = sum(row.verdict in _BAD for row in done.rows)
    words = f"{done.saved.group}: {good} of {planned} queues move as planned"
    return words if not other else f"{words}; not as planned: {other}"
