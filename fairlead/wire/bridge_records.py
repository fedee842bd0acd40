"""Reads records of bridges (routes, offsets), requests to bridges, and a driver's claim.

Each reader returns the value of one record, or raises WireError.
"""

from collections.abc import Mapping

from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Request, What
from fairlead.core.records import (
    BridgeSign,
    BridgeState,
    DriverSettings,
    Generation,
    OffsetsKnown,
    QueueOffsets,
    RouteChanged,
    TopicAbsent,
)
from fairlead.wire.fields import Fields
from fairlead.wire.limits import REQUEST_QUEUES_MAX, ROUTE_QUEUES_MAX
from fairlead.wire.texts import (
    ADDRESS,
    BROKER_ID,
    BROKER_NAME,
    CLIENT_ID,
    GROUP,
    IDENTITY,
    LABEL,
    LONG_TEXT,
    ROUTED_TOPIC,
    SECRET,
    TOPIC,
    UUID,
)
from fairlead.wire.values import bad_value, duplicate, inconsistent

__all__ = [
    "read_absent",
    "read_driver_settings",
    "read_generation",
    "read_offsets",
    "read_request",
    "read_route",
    "read_sign",
]

PERM_MAX = 15

_ROUTE = frozenset(("v", "kind", "topic", "identity", "order_topic_conf", "brokers"))
_BROKER = frozenset(
    (
        *("broker_name", "cluster", "perm", "read_queue_nums", "write_queue_nums"),
        *("addresses", "leaders", "zones"),
    )
)
_OFFSETS = frozenset(("v", "kind", "group", "topic", "identity", "queues"))
_QUEUE_OFFSETS = frozenset(("queue", "min", "max", "committed", "for_time"))
_FOR_TIME = frozenset(("timestamp_ms", "offset"))
_ABSENT = frozenset(("v", "kind", "group", "topic", "cluster"))
_SIGN = frozenset(("v", "kind", "cluster", "bridge", "state", "every_ms"))
_STATES: tuple[BridgeState, ...] = ("running", "look_ups_fail", "stopped")
_EVERY_MS_MAX = 3_600_000
_REQUEST = frozenset(("v", "kind", "group", "what", "topic", "queues", "consume_timestamp_ms"))
_WHAT: Mapping[str, What] = {
    "route": "route",
    "offsets": "offsets",
    "retry": "retry",
    "forgotten": "forgotten",
    "members": "members",
    "unlock": "unlock",
}
_CONSUMER = "consumer"
_GENERATION = frozenset(("v", "kind", "driver", "started_ms", "version"))
_GENERATION_OPTIONAL = ("settings", "seals")
_SETTINGS = frozenset(
    (
        *("tick_ms", "auto_create", "evict_after_ms", "chain_cap", "strategies", "switch_ms"),
        *("groups_max", "new_groups_per_second", "heartbeat_bytes_per_second", "state_bytes"),
    )
)


def read_route(fields: Fields) -> RouteChanged:
    """Read the whole route of one topic; refuse repeated brokers and too many queues."""
    fields.known(_ROUTE)
    topic = fields.text("topic", ROUTED_TOPIC)
    brokers = tuple(_broker(entry) for entry in fields.entries("brokers", _BROKER))
    if len({broker.broker_name for broker in brokers}) != len(brokers):
        raise duplicate("brokers", "a broker name")
    if sum(broker.read_queue_nums for broker in brokers) > ROUTE_QUEUES_MAX:
        raise inconsistent(
            "brokers",
            f"the topic has more than {ROUTE_QUEUES_MAX} queues in all",
            "share the load over several topics",
        )
    route = Route(
        topic=topic,
        identity=fields.text("identity", IDENTITY),
        brokers=brokers,
        order_topic_conf=fields.optional_text("order_topic_conf", LONG_TEXT),
    )
    return RouteChanged(topic, route)


def _broker(fields: Fields) -> RouteBroker:
    read_queue_nums = fields.integer("read_queue_nums", 0, ROUTE_QUEUES_MAX)
    write_queue_nums = fields.integer("write_queue_nums", 0, ROUTE_QUEUES_MAX)
    queues = max(read_queue_nums, write_queue_nums)
    return RouteBroker(
        broker_name=fields.text("broker_name", BROKER_NAME),
        perm=fields.integer("perm", 0, PERM_MAX),
        read_queue_nums=read_queue_nums,
        write_queue_nums=write_queue_nums,
        cluster=fields.text("cluster", ADDRESS),
        addresses=_addresses(fields),
        leaders=_per_queue(fields, "leaders", queues),
        zones=_per_queue(fields, "zones", queues),
    )


def _addresses(fields: Fields) -> dict[str, str]:
    """Read broker id -> address, in numerical order of the ids."""
    addresses = fields.mapping("addresses")
    if not all(BROKER_ID.allows(name) for name in addresses.body):
        raise bad_value(fields.path("addresses"), f"{BROKER_ID.words} as names")
    return {name: addresses.text(name, ADDRESS) for name in sorted(addresses.body, key=int)}


def _per_queue(fields: Fields, name: str, queues: int) -> tuple[str | None, ...] | None:
    """Read an array with a label or null for each queue, or null instead of the array."""
    if fields.get(name, "an array or null") is None:
        return None
    labels = fields.texts_or_nulls(name, LABEL)
    if len(labels) != queues:
        raise inconsistent(
            fields.path(name),
            "it does not have one entry for each queue",
            "send as many entries as the greater of read_queue_nums and write_queue_nums, or null",
        )
    return labels


def read_offsets(fields: Fields) -> OffsetsKnown:
    """Read a bridge's offsets of one topic; refuse repeated queues and those of other topics."""
    fields.known(_OFFSETS)
    topic = fields.text("topic", TOPIC)
    queues = tuple(
        _queue_offsets(entry, topic) for entry in fields.entries("queues", _QUEUE_OFFSETS)
    )
    if len({entry.queue for entry in queues}) != len(queues):
        raise duplicate("queues", "a queue")
    return OffsetsKnown(
        group=fields.text("group", GROUP),
        topic=topic,
        identity=fields.text("identity", IDENTITY),
        queues=queues,
    )


def _queue_offsets(fields: Fields, topic: str) -> QueueOffsets:
    queue = fields.queue("queue")
    if queue.topic != topic:
        raise inconsistent(
            fields.path("queue"), "it belongs to another topic", "write one record for each topic"
        )
    min_offset = fields.integer("min")
    max_offset = fields.integer("max")
    if min_offset > max_offset:
        raise inconsistent(
            fields.path("min"),
            "it is above max",
            "send the first offset kept and the next offset to be written",
        )
    committed = fields.optional_position("committed")
    return QueueOffsets(queue, min_offset, max_offset, committed, _for_time(fields))


def _for_time(fields: Fields) -> tuple[int, int] | None:
    if fields.get("for_time", "an object or null") is None:
        return None
    answer = fields.object("for_time", _FOR_TIME)
    return (answer.time_ms("timestamp_ms"), answer.integer("offset"))


def read_absent(fields: Fields) -> TopicAbsent:
    """Read a bridge's answer that its cluster does not have the requested topic."""
    fields.known(_ABSENT)
    return TopicAbsent(
        group=fields.text("group", GROUP),
        topic=fields.text("topic", TOPIC),
        cluster=fields.text("cluster", BROKER_NAME),
    )


def read_sign(fields: Fields) -> BridgeSign:
    """Read a bridge's sign of life."""
    fields.known(_SIGN)
    said = fields.word("state", _STATES)
    return BridgeSign(
        cluster=fields.text("cluster", BROKER_NAME),
        bridge=fields.text("bridge", UUID),
        state=next(state for state in _STATES if state == said),
        every_ms=fields.integer("every_ms", 1, _EVERY_MS_MAX),
    )


def read_request(fields: Fields) -> Request:
    """Read a request to bridges, from the engine, a client or a producer."""
    fields.known(_REQUEST, (_CONSUMER,))
    what = _WHAT[fields.word("what", tuple(_WHAT))]
    is_named = what == "unlock" or _CONSUMER in fields.body
    queues = fields.body.get("queues")
    # Checked before the entries, so that nobody can keep bridges busy with huge requests.
    if type(queues) is list and len(queues) > REQUEST_QUEUES_MAX:
        raise inconsistent(
            "queues",
            f"there are more than {REQUEST_QUEUES_MAX}",
            "send null for all queues of the topic, or several records",
        )
    return Request(
        group=fields.text("group", GROUP),
        what=what,
        topic=fields.text("topic", TOPIC),
        queues=fields.optional_queues("queues"),
        consume_timestamp_ms=fields.optional_time_ms("consume_timestamp_ms"),
        consumer=fields.text(_CONSUMER, CLIENT_ID) if is_named else None,
    )


def read_generation(fields: Fields) -> Generation:
    """Read a driver's claim of a generation."""
    fields.known(_GENERATION, _GENERATION_OPTIONAL)
    return Generation(
        driver=fields.text("driver", UUID),
        started_ms=fields.time_ms("started_ms"),
        version=fields.text("version", LABEL),
        settings=_driver_settings(fields),
        seals=fields.texts("seals", SECRET) if "seals" in fields.body else (),
    )


def _driver_settings(fields: Fields) -> DriverSettings | None:
    return None if fields.body.get("settings") is None else read_driver_settings(fields)


def read_driver_settings(fields: Fields) -> DriverSettings:
    """Read the settings that a driver runs its shards with, from an object's ``settings``."""
    settings = fields.object("settings", _SETTINGS)
    return DriverSettings(
        tick_ms=settings.integer("tick_ms", 1),
        auto_create=settings.boolean("auto_create"),
        evict_after_ms=settings.integer("evict_after_ms", 1),
        chain_cap=settings.integer("chain_cap", 1),
        strategies=settings.texts("strategies", LABEL),
        switch_ms=_newer_setting(settings, "switch_ms"),
        groups_max=_newer_setting(settings, "groups_max"),
        new_groups_per_second=_newer_setting(settings, "new_groups_per_second"),
        heartbeat_bytes_per_second=_newer_setting(settings, "heartbeat_bytes_per_second"),
        state_bytes=_newer_setting(settings, "state_bytes"),
    )


def _newer_setting(settings: Fields, name: str) -> int:
    """Return a setting that earlier versions did not have; 0 if it is missing."""
    return settings.integer(name) if name in settings.body else 0
