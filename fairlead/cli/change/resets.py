"""Resets of positions: checked as the engine reads them, and reported by its answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairlead.cli.change.rule_command import why_silent
from fairlead.errors import EnvironmentMissingError, UsageError, VerdictError
from fairlead.history.formatting import queue_words

if TYPE_CHECKING:
    from fairlead.control.queue_resets import PlannedReset, ResetOutcome
    from fairlead.core.records import Reset

__all__ = ["checked_resets", "report_resets"]


def checked_resets(
    group: str, planned: "Sequence[PlannedReset]", by: str, because: str | None
) -> "list[Reset]":
    """Return the records, each as the engine reads it.

    Raises:
        UsageError: the engine would refuse a record for its form.
    """
    from fairlead.core.records import Reset
    from fairlead.kafka.rule_writer import reset_as_read
    from fairlead.wire.errors import WireError

    checked = []
    for each in planned:
        queue, identity = each.place.queue, each.place.identity
        try:
            checked.append(
                reset_as_read(
                    Reset(group, queue, each.offset, by, because=because, identity=identity)
                )
            )
        except WireError as error:
            raise UsageError(
                f"--{error.field or 'queue'}: {error.detail}.", remedy=f"{error.remedy}."
            ) from error
    return checked


def report_resets(outcomes: Sequence["ResetOutcome"], wait: float) -> None:
    """End with the exit code of the answers.

    Raises:
        VerdictError: the engine refused a reset.
        EnvironmentMissingError: no engine answered in time.
    """
    for each in outcomes:
        if each.refusal is not None:
            raise VerdictError(
                f"{_named(each)}: the engine refuses the reset ({each.refusal.detail}).",
                remedy=f"{each.refusal.remedy}.",
            )
    silent = [each for each in outcomes if each.answer == "unanswered"]
    if silent:
        more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
        raise EnvironmentMissingError(
            f"{_named(silent[0])}{more}: no answer within {wait:g} s; the reset stands in the log "
            "all the same.",
            remedy=why_silent(silent),
        )


def _named(outcome: "ResetOutcome") -> str:
    return queue_words(outcome.planned.place.queue)
