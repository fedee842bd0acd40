"""Checks whether the record that a cause names is the event that the cause describes.

It compares the record as the engine reads it: its kind, its group, and the client, topic, queue or
rule that the cause names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from fairlead.core.model import Source
from fairlead.core.outputs import Cut
from fairlead.core.records import (
    ALL_GROUPS,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Record,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
)
from fairlead.core.rules.rule_cause import cause_of_rule
from fairlead.core.standby_records import Former
from fairlead.history.formatting import queue_words
from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.wire.bodies import cause_body
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["CauseCheck", "CauseChecks", "CauseStatus", "place_of"]

CauseStatus = Literal["verified", "retention", "compacted", "disagrees", "no_record"]
"""``no_record``: the cause names no record, because none told of it."""

_RULE: Final = (RuleSet,)
_TELLS: Final[Mapping[str, tuple[type, ...]]] = {
    "client_joined": (Heartbeat,),
    "client_replaced": (Heartbeat,),
    "client_expired": (Heartbeat,),
    "subscription_changed": (Heartbeat,),
    "decision_asked": (Heartbeat,),
    "client_left": (Leave, Release),
    "released": (Release, Leave),
    "pull_idle": (Progress,),
    "position_out_of_bounds": (Release, Progress),
    "spoken_for": (Heartbeat,),
    "former_told": (Former,),
    "route_changed": (RouteChanged,),
    "offsets_known": (OffsetsKnown,),
    "rules_changed": _RULE,
    "pins_changed": _RULE,
    "weights_changed": _RULE,
    "reset": (Reset,),
}
"""Kind of a cause -> the possible types of its record. For other kinds any record of the group."""


@dataclass(frozen=True, slots=True)
class CauseCheck:
    """The result of a look at the record of a cause.

    ``text``: says more. ``append_ms``: when the record was appended, if it was found. ``deletes``:
    the record deletes the route of a topic.
    """

    status: CauseStatus
    text: str
    append_ms: int | None = None
    deletes: bool = False


def place_of(cause: Mapping[str, Any]) -> RecordPlace | None:
    """Return the place of a cause's record; None: it names none."""
    at = cause.get("at")
    return None if at is None else (str(at[0]), int(at[1]), int(at[2]))


@dataclass(frozen=True, slots=True)
class CauseChecks:
    """Checks the records behind the decisions of one group.

    Attributes:
        group: its name.
        names: the names of the topics.
        shards: partitions of heartbeats, releases and control.
    """

    group: str
    names: TopicNames
    shards: int

    def check(
        self, cause: Mapping[str, Any], cut: Cut, found: RawRecord | WhyMissing | None
    ) -> CauseCheck:
        """Return whether a record is what a cause says of it.

        Args:
            cause: as its decision has it.
            cut: what the decision had read.
            found: the record at the place that the cause names, or why there is none; None: the
                cause names no place.
        """
        if found is None:
            return CauseCheck("no_record", "no record told of it")
        if isinstance(found, str):
            return _missing(found)
        read = cut.positions.get(found.topic, {}).get(found.partition, 0)
        if found.offset >= read:
            text = f"the decision had read up to {read} there, and not this record"
            return CauseCheck("disagrees", text, found.append_ms)
        try:
            suffix = self.names.suffix(found.topic) or ""
            record = decode(suffix, found, WireLimits(self.shards))
        except (WireError, KeyError) as error:
            text = f"the engine takes no such record ({error})"
            return CauseCheck("disagrees", text, found.append_ms)
        wrong = "; ".join(_differences(cause, record, self.group))
        if wrong:
            return CauseCheck("disagrees", wrong, found.append_ms)
        deletes = isinstance(record, RouteChanged) and record.route is None
        return CauseCheck("verified", _words(record), found.append_ms, deletes)


def _missing(why: WhyMissing) -> CauseCheck:
    match why:
        case "retention":
            return CauseCheck("retention", "it is older than the records that the topic keeps")
        case "compacted":
            return CauseCheck("compacted", "a later record of the same key has replaced it")
        case "not_yet":
            return CauseCheck("disagrees", "the partition ends before it")
    return CauseCheck("disagrees", "no such record was ever there")


def _differences(cause: Mapping[str, Any], record: Record, group: str) -> Iterator[str]:
    kind = str(cause["kind"])
    wanted = _TELLS.get(kind)
    if wanted is not None and not isinstance(record, wanted):
        yield f"the record there is a {_kind(record)}"
        return
    speaks_for = getattr(record, "group", group)
    if speaks_for != group and not (isinstance(record, RuleSet) and speaks_for == ALL_GROUPS):
        yield f"it is of the group {speaks_for}"
    member, client_id = getattr(record, "member", None), cause.get("client_id")
    if member is not None and client_id is not None and member.client_id != client_id:
        yield f"it is of the client {member.client_id}"
    topic = cause.get("topic")
    if topic is not None and getattr(record, "topic", topic) != topic:
        yield f"it is of the topic {getattr(record, 'topic', '')}"
    yield from _details(cause, record)


def _details(cause: Mapping[str, Any], record: Record) -> Iterator[str]:
    """Yield the differences in what only some kinds name."""
    queue = cause.get("queue")
    match record:
        case RuleSet():
            recorded = cause_body(cause_of_rule(record, Source("", 0, 0, 0)))
            for name in sorted((recorded.keys() | cause.keys()) - {"at"}):
                if recorded.get(name) != cause.get(name):
                    yield f"its {name} is {recorded.get(name)!r}"
        case Reset():
            if [*record.queue] != queue:
                yield f"it is of the queue {queue_words(record.queue)}"
            if (record.by or None, record.because) != (cause.get("by"), cause.get("because")):
                yield f"it is by {record.by!r}, because of {record.because!r}"
        case Progress():
            if queue is not None and queue not in [[*each.queue] for each in record.queues]:
                yield f"it does not tell of {queue_words(queue)}"
        case Heartbeat() if cause["kind"] == "decision_asked" and not record.decide:
            yield "it asks for no decision"
        case Release() if cause["kind"] == "client_left" and record.last_started is None:
            yield "it is a release of a client that stays"


_KINDS: Final = {
    RouteChanged: "route",
    OffsetsKnown: "offsets record",
    RuleSet: "rule",
}


def _kind(record: Record) -> str:
    return _KINDS.get(type(record)) or type(record).__name__.lower()


def _words(record: Record) -> str:
    """Say briefly what a record is."""
    member = getattr(record, "member", None)
    of = "" if member is None else f" of {member.client_id}"
    match record:
        case Release():
            where = (
                "that it never started"
                if record.position is None
                else f"at offset {record.position.offset:,}"
            )
            return f"release{of}: {queue_words(record.queue)} {where}"
        case RouteChanged():
            return f"route of {record.topic}" + (" (deleted)" if record.route is None else "")
        case OffsetsKnown():
            return f"offsets of {len(record.queues)} queues of {record.topic}"
        case RuleSet():
            return f"rule {record.rule}" + (" removed" if record.value is None else "")
        case Reset():
            return f"reset of {queue_words(record.queue)} to offset {record.offset:,}"
    return f"{_kind(record)}{of}"
