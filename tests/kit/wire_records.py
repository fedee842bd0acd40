"""Raw records for the tests: an example's bytes in their right place, or in a wrong one."""

from typing import Any

import orjson

from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from tests.kit.protocol_page import examples

SHARDS = 4
LIMITS = WireLimits(shards=SHARDS)

TOPIC_OF = {
    "heartbeat": "heartbeats",
    "leave": "heartbeats",
    "progress": "heartbeats",
    "claims": "heartbeats",
    "former": "heartbeats",
    "tick": "heartbeats",
    "release": "releases",
    "rule": "control",
    "reset": "control",
    "route": "routes",
    "offsets": "offsets",
    "absent": "offsets",
    "bridge": "offsets",
    "members": "offsets",
    "generation": "generations",
}
"""Kind -> the topic that the engine reads it from."""

EXAMPLES = examples()


def example(kind: str, **changes: Any) -> dict[str, Any]:
    """Return a fresh copy of the page's example, some of its fields replaced."""
    body: dict[str, Any] = orjson.loads(orjson.dumps(EXAMPLES[kind]))
    return body | changes


def key_of(body: dict[str, Any]) -> bytes | None:
    """Return the key that the protocol asks of this body, as far as its fields can be read."""
    kind = body.get("kind")
    if kind == "tick":
        return None
    if kind == "rule":
        value = body["value"]
        if body["rule"] in ("drain", "capacity") and value:
            return orjson.dumps([body["group"], body["rule"], value["client_id"]])
        if body["rule"] in ("pin", "ban", "weight") and value:
            return orjson.dumps([body["group"], body["rule"], *value["queue"]])
        return orjson.dumps([body["group"], body["rule"]])
    if kind == "reset":
        return orjson.dumps([body["group"], "reset", *body["queue"]])
    if kind in ("offsets", "absent"):
        return orjson.dumps([body["topic"], body["group"]])
    if kind in ("bridge", "members"):
        of_group = ["members", body["group"]] if kind == "members" else []
        return orjson.dumps([body["cluster"], *of_group])
    name = {"route": "topic", "generation": "driver"}.get(str(kind), "group")
    text = body.get(name)
    return text.encode("utf-8", "replace") if isinstance(text, str) else b"orders"


def raw(
    topic: str, value: bytes | None, key: bytes | None = b"orders", group: str = "orders"
) -> RawRecord:
    """Return a record of these bytes in the partition of the group."""
    partition = partition_of_group(group, SHARDS)
    return RawRecord(f"fairlead.{topic}", partition, 88124, 1781000000000, True, key, value)  # noqa: FBT003


def raw_of(body: dict[str, Any]) -> RawRecord:
    """Return a record of this body in its right place."""
    group = body.get("group")
    try:
        partition = partition_of_group(group if isinstance(group, str) else "orders", SHARDS)
    except UnicodeEncodeError:
        partition = 0
    topic = TOPIC_OF.get(str(body.get("kind")), "heartbeats")
    placed = raw(topic, orjson.dumps(body), key_of(body))
    return placed._replace(partition=partition)


def refusal(topic: str, record: RawRecord) -> WireError | None:
    """Return the error by which a record is refused, None if it is accepted."""
    try:
        decode(topic, record, LIMITS)
    except WireError as error:
        return error
    return None
