"""What the shards count, and the families that show it: their names, labels and what they mean.

docs/metrics.md shows these texts. A label's value is a word of docs/protocol.md.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from fairlead.core.targets.strategy_answer import STRATEGY_ERROR


class CountedFamily(NamedTuple):
    """A counter that the shards fill.

    Attributes:
        name: without the prefix.
        text: what it means, for whoever reads the page at night.
        labels: their names, in the order in which the shards' words give their values.
        unit: what one of what the shards count is of one of what is shown.
        known: values of a family's one label that are shown from the first scrape on, so that the
            first count is an increase.
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
        "Rows handed to shards: read, replayed (read before, and skipped), and of rows of a group "
        "in quarantine those superseded by newer ones or given_up.",
        ("outcome",),
    ),
    "records_read": CountedFamily(
        "records_read_total",
        "Records read for the first time, by topic: what its partitions' ends have moved by.",
        ("topic",),
        known=("heartbeats", "releases", "control", "routes", "offsets"),
    ),
    "records": CountedFamily(
        "records_total",
        "What became of each record, once each: applied; refused (it has a dead letter); ignored "
        "(read before, out of date, of nobody who is there); or held, of a group in quarantine, "
        "with which it is tried again. By topic their sum is fairlead_records_read_total. A record "
        "that is not what the protocol says is of kind unreadable, one that a quota refuses "
        "unread of over_quota.",
        ("topic", "kind", "outcome"),
    ),
    "events": CountedFamily(
        "events_total",
        "Records by kind and what became of them: applied, duplicate, stale, rejected. "
        "subscription/stale is one that was ignored because its incarnation had named its topic "
        "with a greater version. Of members: lapsed is a lease that ended, mute one that did not "
        "answer in time, disagrees one that was told what its group has otherwise, healed one "
        "that was told its whole set again; awaited, returned and not_returned are clients within "
        "a restart grace.",
        ("type", "outcome"),
    ),
    "fenced": CountedFamily(
        "fenced_total",
        "release and progress records that changed nothing: of an incarnation that is not_a_member "
        "(lapsed, left, never heard), under an old_epoch (a newer grant was given), for a grant "
        "that has ended (most often the same record again) or is an other_member's, under a "
        "future_epoch, of an unknown_queue.",
        ("type", "reason"),
    ),
    "handovers": CountedFamily(
        "handovers_total",
        "Drops that ended (released, answered or lapsed), were blocked (the successor was dropped "
        "too before the holder had answered), or overtaken (a mute member was passed); and "
        "told_again, each time that a drop that is not answered is written again (what RocketMQ "
        "counts as tryUnlockTimes).",
        ("outcome",),
    ),
    "handover_ms": CountedFamily(
        "handover_seconds_total",
        "From drops to their ends, on the clock of the log; over the handovers that ended it is "
        "the mean time that a queue takes to leave its holder.",
        unit=_MILLISECOND,
    ),
    "slow_handovers": CountedFamily(
        "slow_handovers_total",
        "Of the drops that ended, those that took longer than 1s, 5s or 30s, each under the "
        "longest: releases to look into.",
        ("over",),
        known=("1s", "5s", "30s"),
    ),
    "pull_idle": CountedFamily(
        "pull_idle_total",
        "Queues that were dropped and added again because their push clients did not pull them.",
    ),
    "gates": CountedFamily(
        "gates_total",
        "Gates of successors that opened: by_engine (its second add was written), or by_client "
        "(the successor had started and told of progress before the engine had read the release).",
        ("opened",),
        known=("by_engine", "by_client"),
    ),
    "rejects": CountedFamily(
        "rejects_total",
        "Records in the rejects topic, by the reason that stands there.",
        ("reason",),
    ),
    "ignored_fields": CountedFamily(
        "ignored_fields_total",
        "Fields of records that this version does not know, by kind of record.",
        ("kind",),
    ),
    "decisions": CountedFamily("decisions_total", "Decision records written."),
    "decision_triggers": CountedFamily(
        "decision_triggers_total", "Decisions, once for each of their triggers.", ("trigger",)
    ),
    "trigger_wait_ms": CountedFamily(
        "trigger_wait_seconds_total",
        "From the first record that told of a trigger to the newest that its decision had read, by "
        "append times; over fairlead_decision_triggers_total it is the mean time until a join, a "
        "route or a subscription is decided on.",
        ("trigger",),
        unit=_MILLISECOND,
    ),
    "queue_steps": CountedFamily(
        "queue_steps_total",
        "Steps of single queues: dropped, gated, granted, resolved; by the first trigger of their "
        "decision.",
        ("stage", "trigger"),
    ),
    "allocation_failures": CountedFamily(
        "allocation_failures_total",
        "Attempts to allocate a topic that failed, so that it keeps its last allocation; each "
        "retry counts, whether or not it leads to a decision.",
        ("code",),
    ),
    "alarms": CountedFamily("alarms_total", "Alarms in decisions.", ("alarm",)),
    "clock_jumps": CountedFamily(
        "clock_jumps_total",
        "Times that append times differed by more than two ticks although the driver ticked: a "
        "broker's clock jumped.",
    ),
    "steps": CountedFamily(
        "steps_total",
        "Steps of groups that did not go well: failed, and those of them that were saved by "
        "leaving out the record that broke them.",
        ("outcome",),
        known=("failed", "saved"),
    ),
    "groups": CountedFamily(
        "group_steps_total",
        "Groups stepped in a batch; those quarantined because their step failed, and those of "
        "which quarantine_left.",
        ("outcome",),
    ),
    "published": CountedFamily(
        "assignments_published_total",
        "What members were told, each once however many records it takes: an assignment, a notice "
        "(of a refusal, a duplicate client id, a fencing), and gone, when the record of a member "
        "that is no more is deleted.",
        ("kind",),
        known=("assignment", "notice", "gone"),
    ),
    "written": CountedFamily(
        "records_written_total", "Records handed to the sink, by topic.", ("topic",)
    ),
}
"""What shards count -> the family that shows it."""

FAILED_ALLOCATIONS: Final = "allocation_failures"
_CODE: Final = re.compile(r"[a-z_]{1,40}")


def labels_of(word: str, rest: str) -> tuple[str, ...]:
    """Return the values of a family's labels from what follows its word; the last may hold ``/``.

    A strategy's code that is no short word would make a series of its own each time, so it is
    shown as `strategy_error`.
    """
    if word == FAILED_ALLOCATIONS:
        return (rest if _CODE.fullmatch(rest) else STRATEGY_ERROR,)
    return tuple(rest.split("/", len(COUNTED[word].labels) - 1)) if rest else ()
