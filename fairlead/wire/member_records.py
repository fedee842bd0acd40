"""Reads clients' records (heartbeat, leave, progress, claims, release) and the driver's tick.

Each reader returns the value of one record, or raises WireError. None looks at a group's state.
"""

from fairlead.core.model import (
    DataPlane,
    Epoch,
    MemberProfile,
    MessageQueue,
    Process,
    Subscription,
)
from fairlead.core.records import (
    Claim,
    Claims,
    Heartbeat,
    Leave,
    Progress,
    QueueProgress,
    Release,
    Tick,
)
from fairlead.wire.fields import Fields
from fairlead.wire.limits import PARTS_MAX
from fairlead.wire.standby_records import DATA_PLANE, STANDBY, read_data_plane, read_standby
from fairlead.wire.texts import (
    ADDRESS,
    DIGEST,
    EXPRESSION,
    GROUP,
    LABEL,
    SECRET,
    TAG,
    TOPIC,
    UUID,
)
from fairlead.wire.values import duplicate, inconsistent

__all__ = [
    "EXPRESSION_TYPES",
    "read_claims",
    "read_heartbeat",
    "read_leave",
    "read_progress",
    "read_release",
    "read_tick",
]

LEASE_MS_MIN = 1_000
LEASE_MS_MAX = 600_000
CAPACITY_MAX = 1_000_000

_SENDER = ("v", "kind", "group", "client_id", "incarnation")
_HEARTBEAT = frozenset(
    (
        *_SENDER,
        *("process", "sequence", "generation", "lease_ms", "consume_type", "message_model"),
        *("consume_from", "consume_timestamp_ms", "ordered", "language", "version", "address"),
        *("zone", "capacity", "subscriptions", "applied", "digest"),
    )
)
_PROCESS = frozenset(("start_ms", "uuid", "incarnations"))
_SUBSCRIPTION = frozenset(("topic", "expression_type", "expression", "tags", "sub_version"))
_LEAVE = frozenset((*_SENDER, "sequence"))
_PROGRESS = frozenset((*_SENDER, "queues"))
_POSITION = ("queue", "epoch", "position")
_PROGRESS_ENTRY = frozenset((*_POSITION, "end"))
_CLAIMS = frozenset((*_SENDER, "generation", "part", "parts", "queues"))
_CLAIM = frozenset((*_POSITION, "state"))
_RELEASE = frozenset((*_SENDER, "queue", "epoch", "position"))
_IDENTITY = ("identity",)
_PROGRESS_OPTIONAL = (*_IDENTITY, "idle_ms")
_LAST_STARTED = "last_started"
_DECIDE = "decide"
_HEARTBEAT_OPTIONAL = (_DECIDE, DATA_PLANE, STANDBY)
_TICK = frozenset(("v", "kind", "generation"))
_FIRST_TICK = frozenset(("control_end", "input_lost", "secret"))

_CONSUME_TYPES = ("push", "pull")
_MESSAGE_MODELS = ("clustering", "broadcasting")
_CONSUME_FROM = ("last_offset", "first_offset", "timestamp")
EXPRESSION_TYPES = ("tag", "sql92")
_CLAIM_STATES = ("running", "final")


def read_heartbeat(fields: Fields) -> Heartbeat:
    """Read a heartbeat."""
    fields.known(_HEARTBEAT, _HEARTBEAT_OPTIONAL)
    data_plane = read_data_plane(fields)
    follows, standby = read_standby(fields, data_plane)
    process = fields.object("process", _PROCESS)
    applied = fields.get("applied", "the epoch of the newest assignment read, or null")
    return Heartbeat(
        group=fields.text("group", GROUP),
        member=fields.member(),
        process=Process(process.time_ms("start_ms"), process.text("uuid", UUID)),
        incarnations=process.integer("incarnations", 1),
        sequence=fields.integer("sequence"),
        generation=fields.integer("generation"),
        profile=_profile(fields, data_plane, follows),
        subscriptions=_subscriptions(fields),
        applied=None if applied is None else fields.epoch("applied"),
        digest=int(fields.text("digest", DIGEST), 16),
        decide=_DECIDE in fields.body and fields.boolean(_DECIDE),
        standby=standby,
    )


def _profile(fields: Fields, data_plane: DataPlane | None, follows: str | None) -> MemberProfile:
    consume_from = fields.word("consume_from", _CONSUME_FROM)
    timestamp_ms = fields.optional_time_ms("consume_timestamp_ms")
    if consume_from == "timestamp" and timestamp_ms is None:
        raise inconsistent(
            "consume_timestamp_ms",
            "consume_from is timestamp, but this field is null",
            "send the time from which to consume, in milliseconds since 1970",
        )
    return MemberProfile(
        consume_type=fields.word("consume_type", _CONSUME_TYPES),
        message_model=fields.word("message_model", _MESSAGE_MODELS),
        consume_from=consume_from,
        consume_timestamp_ms=timestamp_ms,
        ordered=fields.boolean("ordered"),
        language=fields.text("language", LABEL),
        version=fields.text("version", LABEL),
        address=fields.text("address", ADDRESS),
        zone=fields.optional_text("zone", LABEL),
        capacity=fields.integer("capacity", 1, CAPACITY_MAX),
        lease_ms=fields.integer("lease_ms", LEASE_MS_MIN, LEASE_MS_MAX),
        data_plane=data_plane,
        follows=follows,
    )


def _subscriptions(fields: Fields) -> tuple[Subscription, ...]:
    subscriptions = tuple(
        Subscription(
            topic=entry.text("topic", TOPIC),
            expression_type=entry.word("expression_type", EXPRESSION_TYPES),
            expression=entry.text("expression", EXPRESSION),
            tags=entry.texts("tags", TAG),
            sub_version=entry.integer("sub_version"),
        )
        for entry in fields.entries("subscriptions", _SUBSCRIPTION)
    )
    if len(subscriptions) > 1:
        topics = {subscription.topic for subscription in subscriptions}
        if len(topics) != len(subscriptions):
            raise duplicate("subscriptions", "a topic")
    return subscriptions


def read_leave(fields: Fields) -> Leave:
    """Read a leave."""
    fields.known(_LEAVE, (_LAST_STARTED,))
    return Leave(
        fields.text("group", GROUP),
        fields.member(),
        fields.integer("sequence"),
        _last_started(fields),
    )


def read_progress(fields: Fields) -> Progress:
    """Read the progress of some queues; refuse repeated queues."""
    fields.known(_PROGRESS)
    queues = tuple(
        _read_made(entry) for entry in fields.entries("queues", _PROGRESS_ENTRY, _PROGRESS_OPTIONAL)
    )
    _check_queues(queues)
    return Progress(fields.text("group", GROUP), fields.member(), queues)


def _read_made(entry: Fields) -> QueueProgress:
    return QueueProgress(
        entry.queue("queue"),
        entry.epoch("epoch"),
        entry.position("position"),
        None if entry.body.get("end") is None else entry.integer("end"),
        entry.identity(),
        None if entry.body.get("idle_ms") is None else entry.integer("idle_ms"),
    )


def read_claims(fields: Fields) -> Claims:
    """Read one part of an acknowledgement of a generation; refuse repeated queues."""
    fields.known(_CLAIMS)
    part = fields.integer("part", 0, PARTS_MAX - 1)
    parts = fields.integer("parts", 1, PARTS_MAX)
    if part >= parts:
        raise inconsistent("part", "it is not below parts", "count parts from 0")
    queues = tuple(
        Claim(
            entry.queue("queue"),
            entry.epoch("epoch"),
            entry.position("position"),
            running=entry.word("state", _CLAIM_STATES) == "running",
            identity=entry.identity(),
        )
        for entry in fields.entries("queues", _CLAIM, _IDENTITY)
    )
    _check_queues(queues)
    return Claims(
        group=fields.text("group", GROUP),
        member=fields.member(),
        generation=fields.integer("generation", 1),
        part=part,
        parts=parts,
        queues=queues,
    )


def _check_queues(entries: tuple[QueueProgress, ...] | tuple[Claim, ...]) -> None:
    queues: set[MessageQueue] = {entry.queue for entry in entries}
    if len(queues) != len(entries):
        raise duplicate("queues", "a queue")


def read_release(fields: Fields) -> Release:
    """Read the release of one queue."""
    fields.known(_RELEASE, (_LAST_STARTED, *_IDENTITY))
    return Release(
        group=fields.text("group", GROUP),
        member=fields.member(),
        queue=fields.queue("queue"),
        epoch=fields.epoch("epoch"),
        position=fields.optional_position("position"),
        last_started=_last_started(fields),
        identity=fields.identity(),
    )


def _last_started(fields: Fields) -> Epoch | None:
    """Read an optional field that only a leaving client sends."""
    told = fields.body.get(_LAST_STARTED)
    return None if told is None else fields.epoch(_LAST_STARTED)


def read_tick(fields: Fields) -> Tick:
    """Read the driver's tick; only a driver's first tick has more than the generation."""
    said = _FIRST_TICK & fields.body.keys()
    fields.known(_TICK | said)
    return Tick(
        fields.integer("generation", 1),
        fields.integer("control_end") if "control_end" in said else 0,
        "input_lost" in said and fields.boolean("input_lost"),
        fields.text("secret", SECRET) if "secret" in said else None,
    )
