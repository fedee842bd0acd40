"""Checks that a record's key and partition match its content."""

from typing import Any

import orjson

from fairlead.core.records import ALL_GROUPS
from fairlead.wire.errors import WireError
from fairlead.wire.limits import KEY_BYTES_MAX, PARTS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason
from fairlead.wire.texts import BROKER_NAME, GROUP, TOPIC, TextRule

__all__ = [
    "check_bridge_key",
    "check_key",
    "check_members_key",
    "check_no_key",
    "check_partition",
    "key_mismatch",
    "null_key",
    "read_array_key",
    "read_members_key",
    "read_offsets_key",
    "read_text_key",
]


def check_key(key: bytes | None, text: str, words: str) -> None:
    """Refuse a key that is not exactly this text; ``words`` describe the right key."""
    if key is None:
        raise null_key(words)
    if key != text.encode():
        raise key_mismatch(words)


def check_no_key(key: bytes | None) -> None:
    """Refuse a key on a record that must have none."""
    if key is not None:
        raise key_mismatch("null")


def check_partition(group: str, raw: RawRecord, shards: int) -> None:
    """Refuse a record that is not in its group's partition."""
    if group == ALL_GROUPS or raw.partition == partition_of_group(group, shards):
        return
    raise WireError(
        Reason.WRONG_PARTITION,
        None,
        f"the record is in partition {raw.partition}, but its group has another one",
        f"write to partition (murmur2(group) & 0x7fffffff) mod {shards}",
    )


def read_text_key(key: bytes | None, rule: TextRule, words: str) -> str:
    """Return a key that consists of one text."""
    if key is None:
        raise null_key(words)
    text = key.decode("ascii", "replace")
    if not rule.allows(text):
        raise key_mismatch(words)
    return text


def read_array_key(key: bytes | None, words: str) -> list[Any]:
    """Return a key that is a JSON array, without white space and unnecessary escapes."""
    if key is None:
        raise null_key(words)
    if len(key) > KEY_BYTES_MAX:
        raise key_mismatch(words)
    try:
        parts = orjson.loads(key)
        same = orjson.dumps(parts) == key
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        raise key_mismatch(words) from None
    if not same or type(parts) is not list:
        raise key_mismatch(words)
    return parts


_OFFSETS_KEY = '["topic","group"] or ["topic","group",part], without white space'


def read_offsets_key(key: bytes | None) -> tuple[str, str]:
    """Return topic and group from the key of an offsets record."""
    match read_array_key(key, _OFFSETS_KEY):
        case [str(topic), str(group)]:
            part = 0
        case [str(topic), str(group), part] if type(part) is int:
            pass
        case _:
            raise key_mismatch(_OFFSETS_KEY)
    if not (TOPIC.allows(topic) and GROUP.allows(group) and 0 <= part < PARTS_MAX):
        raise key_mismatch(_OFFSETS_KEY)
    return topic, group


_BRIDGE_KEY = '["cluster"], without white space'


def check_bridge_key(key: bytes | None, cluster: str) -> None:
    """Check the key of a bridge's sign of life."""
    if read_array_key(key, _BRIDGE_KEY) != [cluster]:
        raise key_mismatch(_BRIDGE_KEY)


_MEMBERS_KEY = '["cluster","members","group"], without white space'


def check_members_key(key: bytes | None, cluster: str, group: str) -> None:
    """Check the key of a bridge's look at a group's members."""
    if read_array_key(key, _MEMBERS_KEY) != [cluster, "members", group]:
        raise key_mismatch(_MEMBERS_KEY)


def read_members_key(key: bytes | None) -> tuple[str, str] | None:
    """Return cluster and group from the key of a look at members; None: it is no such key."""
    match read_array_key(key, _OFFSETS_KEY):
        case [str(cluster), "members", str(group)] if BROKER_NAME.allows(cluster) and GROUP.allows(
            group
        ):
            return cluster, group
    return None


def null_key(words: str) -> WireError:
    """Return the error of a key that is null."""
    return WireError(Reason.NULL_KEY, None, "the key is null", f"send the key {words}")


def key_mismatch(words: str) -> WireError:
    """Return the error of a key that does not fit the record."""
    return WireError(
        Reason.KEY_MISMATCH,
        None,
        "this record must have another key",
        f"send the key {words}",
    )
