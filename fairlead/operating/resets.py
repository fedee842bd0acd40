"""Resets of positions: checked as the engine reads them, written, and answered by it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fairlead.control.queue_place import QueuePlace
from fairlead.control.queue_resets import PlannedReset, ResetOutcome, plan_resets, write_planned
from fairlead.control.reset_target import BadTargetError, ResetTarget, read_target
from fairlead.core.records import Reset
from fairlead.errors import UsageError, Way, sentence
from fairlead.kafka.rule_writer import reset_as_read
from fairlead.operating.rule_answers import failure_of_resets
from fairlead.operating.rule_changes import Signature
from fairlead.settings import KafkaSettings
from fairlead.wire.errors import WireError
from fairlead.wire.topics import TopicNames

__all__ = ["DoneResets", "checked_resets", "report_resets", "reset_positions", "target_of"]


class DoneResets(NamedTuple):
    """Resets, and what came of each."""

    resets: tuple[Reset, ...]
    outcomes: tuple[ResetOutcome, ...]
    topic: str
    """The name of the control topic."""

    def to_json(self) -> list[dict[str, Any]]:
        """Return JSON values, one for each queue."""
        pairs = zip(self.outcomes, self.resets, strict=True)
        return [outcome.to_json(reset, self.topic) for outcome, reset in pairs]


def target_of(text: str) -> ResetTarget:
    """Return where an operator wants a group to go on.

    Raises:
        UsageError: the text names no such place.
    """
    try:
        return read_target(text)
    except BadTargetError as error:
        message = (Way("--to", "to"), f": {error.detail}.")
        raise UsageError(message, remedy=sentence(error.remedy), field="to") from error


def reset_positions(
    group: str,
    places: Sequence[QueuePlace],
    target: ResetTarget,
    signed: Signature,
    kafka: KafkaSettings,
    *,
    wait_s: float | None,
) -> DoneResets:
    """Reset a group's positions in some queues; ``wait_s`` None: only say what that would do.

    Raises:
        UsageError: the engine would refuse a record for its form.
        EnvironmentMissingError: the topics cannot be read or written.
    """
    planned = plan_resets(places, target)
    resets = checked_resets(group, planned, signed)
    if wait_s is None or not resets:
        outcomes = [ResetOutcome(each, "not_written") for each in planned]
    else:
        outcomes = write_planned(kafka, planned, resets, wait_s)
    control = TopicNames(kafka.topic_prefix).name("control")
    return DoneResets(tuple(resets), tuple(outcomes), control)


def checked_resets(group: str, planned: Sequence[PlannedReset], signed: Signature) -> list[Reset]:
    """Return the records, each as the engine reads it.

    Raises:
        UsageError: the engine would refuse a record for its form.
    """
    checked = []
    for each in planned:
        queue, identity = each.place.queue, each.place.identity
        reset = Reset(
            group, queue, each.offset, signed.by, because=signed.because, identity=identity
        )
        try:
            checked.append(reset_as_read(reset))
        except WireError as error:
            field = error.field or "queue"
            message = (Way(f"--{field}", field), f": {error.detail}.")
            raise UsageError(message, remedy=sentence(error.remedy), field=field) from error
    return checked


def report_resets(outcomes: Sequence[ResetOutcome], wait_s: float) -> None:
    """Fail if the answers say so.

    Raises:
        VerdictError: the engine refused a reset.
        EnvironmentMissingError: no engine answered in time.
    """
    failure = failure_of_resets(outcomes, wait_s)
    if failure is not None:
        raise failure
