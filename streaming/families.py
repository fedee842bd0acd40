"""The metric families that show what the shards count: their names, labels and meaning.

docs/metrics.md shows these texts. Label values are words of docs/protocol.md.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from fairlead.core.targets.strategy_answer import STRATEGY_ERROR


class CountedFamily(NamedTuple):
    """A counter that the shards fill.

    Attributes:
        name: without the prefix.
        text: what it means, for an operator.
        labels: label names, in the order of the values in the shards' words.
        unit: by how much the family rises per counted one (0.001 turns ms into s).
        known: values of the family's only label that are shown from the first scrape on, so that
            the first count is an increase.
    """

    name: str
    text: str
    labels: tuple[str, ...] = ()
    unit: float = 1
    known: tuple[str, ...] = ()


_MILLISECOND: Final = 0.001

COUNTED: Final[Mapping[str, CountedFamily]] = {
    "rows": CountedFamily(
        "rows_total",
        "Rows handed to shards: read, replayed (already read, so skipped); and rows of a "
        "quarantined group that newer rows have superseded or that were given_up.",
        ("outcome",),
    ),
    "records_read": CountedFamily(
        "records_read_total",
        "Records read for the first time, by topic.",
        ("topic",),
        known=("heartbeats", "releases", "control", "routes", "offsets"),
    ),
    "records": CountedFamily(
        "records_total",
        "Outcome of each record, counted once: applied; refused (it has a dead letter); ignored "
        "(a duplicate, out of date, or from nobody who is a member); or held for a quarantined "
        "group, which tries it again. The sum over a topic is fairlead_records_read_total. A "
        "record that breaks the protocol has the kind unreadable; one that a quota refuses unread "
        "has the kind over_quota.",
        ("topic", "kind", "outcome"),
    ),
    "events": CountedFamily(
        "events_total",
        "Events by kind and outcome: applied, duplicate, stale, rejected. subscription/stale: "
        "ignored, because its incarnation has already named the topic with a greater version. For "
        "members: lapsed (the lease ended), mute (no answer in time), disagrees (it reports "
        "something else than its group), healed (the engine sent its whole set again); awaited, "
        "returned and not_returned are clients within a restart grace.",
        ("type", "outcome"),
    ),
    "fenced": CountedFamily(
        "fenced_total",
        "release and progress records that changed nothing, by reason: the sender is not_a_member "
        "(it lapsed, left or was never heard); an old_epoch (a newer grant exists); the grant has "
        "ended (mostly a duplicate record) or belongs to an other_member; a future_epoch; an "
        "unknown_queue.",
        ("type", "reason"),
    ),
    "handovers": CountedFamily(
        "handovers_total",
        "Drops by outcome: ended (released, answered or lapsed); blocked (the successor was "
        "dropped too before the holder answered); overtaken (the engine passed a mute member); and "
        "told_again: each repetition of an unanswered drop (RocketMQ's tryUnlockTimes).",
        ("outcome",),
    ),
    "handover_ms": CountedFamily(
        "handover_seconds_total",
        "Time from drop to its end, summed, on the clock of the log. Divided by the handovers that "
        "ended, it is the mean time that a queue takes to leave its holder.",
        unit=_MILLISECOND,
    ),
    "slow_handovers": CountedFamily(
        "slow_handovers_total",
        "Ended drops that took longer than 1s, 5s or 30s, each counted under the longest bound.",
        ("over",),
        known=("1s", "5s", "30s"),
    ),
    "pull_idle": CountedFamily(
        "pull_idle_total",
        "Queues that the engine dropped and added again because their push client did not pull "
        "them.",
    ),
    "gates": CountedFamily(
        "gates_total",
        "Opened gates of successors: by_engine (the engine wrote the second add) or by_client "
        "(the successor started and reported progress before the engine read the release).",
        ("opened",),
        known=("by_engine", "by_client"),
    ),
    "rejects": CountedFamily(
        "rejects_total",
        "Records in the rejects topic, by reason.",
        ("reason",),
    ),
    "ignored_fields": CountedFamily(
        "ignored_fields_total",
        "Fields that this version does not know, by kind of record.",
        ("kind",),
    ),
    "decisions": CountedFamily("decisions_total", "Decision records written."),
    "decision_triggers": CountedFamily(
        "decision_triggers_total", "Decisions, once for each of their triggers.", ("trigger",)
    ),
    "trigger_wait_ms": CountedFamily(
        "trigger_wait_seconds_total",
        "Append time of the newest record that a decision had read minus that of the first record "
        "of its trigger, summed. Divided by fairlead_decision_triggers_total, it is the mean time "
        "until the engine decides on a join, a route or a subscription.",
        ("trigger",),
        unit=_MILLISECOND,
    ),
    "queue_steps": CountedFamily(
        "queue_steps_total",
        "Moves of single queues: dropped, gated, granted, resolved; by the first trigger of their "
        "decision.",
        ("stage", "trigger"),
    ),
    "allocation_failures": CountedFamily(
        "allocation_failures_total",
        "Failed attempts to allocate a topic, which then keeps its last allocation; each retry "
        "counts, whether or not it leads to a decision.",
        ("code",),
    ),
    "alarms": CountedFamily("alarms_total", "Alarms in decisions.", ("alarm",)),
    "clock_jumps": CountedFamily(
        "clock_jumps_total",
        "Times that append times differed by more than two ticks although the driver ticked: a "
        "broker's clock has jumped.",
    ),
    "steps": CountedFamily(
        "steps_total",
        "Group steps that failed, and those that the engine saved by leaving out the record that "
        "broke them.",
        ("outcome",),
        known=("failed", "saved"),
    ),
    "groups": CountedFamily(
        "group_steps_total",
        "Groups stepped in a batch; groups quarantined because their step failed; and groups that "
        "left quarantine (quarantine_left).",
        ("outcome",),
    ),
    "published": CountedFamily(
        "assignments_published_total",
        "Messages to members, each counted once however many records it takes: an assignment, a "
        "notice (of a refusal, a duplicate client id, a fencing), and gone (the engine deletes the "
        "record of a former member).",
        ("kind",),
        known=("assignment", "notice", "gone"),
    ),
    "written": CountedFamily(
        "records_written_total", "Records handed to the sink, by topic.", ("topic",)
    ),
}
"""The shards' word -> the family that shows it."""

FAILED_ALLOCATIONS: Final = "allocation_failures"
_CODE: Final = re.compile(r"[a-z_]{1,40}")


def labels_of(word: str, rest: str) -> tuple[str, ...]:
    """Return the values of a family's labels from the text after its word; the last may hold ``/``.

    A strategy's code that is not a short word could create endless series, so it is shown as
    `strategy_error`.
    """
    if word == FAILED_ALLOCATIONS:
        return (rest if _CODE.fullmatch(rest) else STRATEGY_ERROR,)
    return tuple(rest.split("/", len(COUNTED[word].labels) - 1)) if rest else ()
