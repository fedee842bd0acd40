"""The kinds of each topic, and the key and partition that each kind requires.

The two tables at the end list them; null values have their own table.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fairlead.core.outputs import Request
from fairlead.core.records import (
    BridgeSign,
    Claims,
    Generation,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Record,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    Tick,
    TopicAbsent,
)
from fairlead.core.standby_records import Former, MembersLook
from fairlead.wire.bridge_records import (
    read_absent,
    read_generation,
    read_offsets,
    read_request,
    read_route,
    read_sign,
)
from fairlead.wire.control_records import read_removed_rule, read_reset, read_rule
from fairlead.wire.errors import WireError
from fairlead.wire.fields import Fields
from fairlead.wire.limits import WireLimits
from fairlead.wire.member_records import (
    read_claims,
    read_heartbeat,
    read_leave,
    read_progress,
    read_release,
    read_tick,
)
from fairlead.wire.placement import (
    check_bridge_key,
    check_key,
    check_members_key,
    check_no_key,
    check_partition,
    key_mismatch,
    read_members_key,
    read_offsets_key,
    read_text_key,
)
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason
from fairlead.wire.standby_records import read_former, read_members
from fairlead.wire.texts import ROUTED_TOPIC

__all__ = ["KINDS", "NULLS", "Reader"]

Reader = Callable[[Fields, RawRecord, WireLimits], Any]


def _of_group(
    read: Callable[[Fields], Heartbeat | Leave | Progress | Claims | Former | Release],
) -> Reader:
    """Return a reader that also requires the group's key and partition."""

    def place(fields: Fields, raw: RawRecord, limits: WireLimits) -> Record:
        record = read(fields)
        check_key(raw.key, record.group, "group, as it stands in the value")
        check_partition(record.group, raw, limits.shards)
        return record

    return place


def _of_control(read: Callable[[Fields, bytes | None], RuleSet | Reset]) -> Reader:
    """Return a reader that passes the key on and requires the group's partition."""

    def place(fields: Fields, raw: RawRecord, limits: WireLimits) -> Record:
        record = read(fields, raw.key)
        check_partition(record.group, raw, limits.shards)
        return record

    return place


def _tick(fields: Fields, raw: RawRecord, _limits: WireLimits) -> Tick:
    tick = read_tick(fields)
    check_no_key(raw.key)
    return tick


def _route(fields: Fields, raw: RawRecord, _limits: WireLimits) -> RouteChanged:
    changed = read_route(fields)
    check_key(raw.key, changed.topic, "topic, as it stands in the value")
    return changed


def _offsets(fields: Fields, raw: RawRecord, _limits: WireLimits) -> OffsetsKnown:
    known = read_offsets(fields)
    if read_offsets_key(raw.key) != (known.topic, known.group):
        raise key_mismatch("of topic and group as they stand in the value")
    return known


def _absent(fields: Fields, raw: RawRecord, _limits: WireLimits) -> TopicAbsent:
    absent = read_absent(fields)
    if read_offsets_key(raw.key) != (absent.topic, absent.group):
        raise key_mismatch("of topic and group as they stand in the value")
    return absent


def _members(fields: Fields, raw: RawRecord, _limits: WireLimits) -> MembersLook:
    look = read_members(fields)
    check_members_key(raw.key, look.cluster, look.group)
    return look


def _sign(fields: Fields, raw: RawRecord, _limits: WireLimits) -> BridgeSign:
    sign = read_sign(fields)
    check_bridge_key(raw.key, sign.cluster)
    return sign


def _generation(fields: Fields, raw: RawRecord, _limits: WireLimits) -> Generation:
    generation = read_generation(fields)
    check_key(raw.key, generation.driver, "driver, as it stands in the value")
    return generation


def _request(fields: Fields, raw: RawRecord, _limits: WireLimits) -> Request:
    request = read_request(fields)
    check_key(raw.key, request.group, "group, as it stands in the value")
    return request


def _null_refused(_raw: RawRecord, _limits: WireLimits) -> Record:
    raise WireError(Reason.NULL_VALUE, None, "the value is null", "send a record")


def _null_rule(raw: RawRecord, limits: WireLimits) -> RuleSet:
    removed = read_removed_rule(raw.key)
    check_partition(removed.group, raw, limits.shards)
    return removed


def _null_route(raw: RawRecord, _limits: WireLimits) -> RouteChanged:
    return RouteChanged(read_text_key(raw.key, ROUTED_TOPIC, "of the topic's name"), None)


def _null_offsets(raw: RawRecord, _limits: WireLimits) -> OffsetsKnown | MembersLook:
    named = read_members_key(raw.key)
    if named is not None:
        cluster, group = named
        return MembersLook(group, cluster, "", 0, complete=False, brokers=(), at_ms=0)
    topic, group = read_offsets_key(raw.key)
    return OffsetsKnown(group, topic, "", ())


KINDS: Mapping[str, Mapping[str, Reader]] = {
    "heartbeats": {
        "heartbeat": _of_group(read_heartbeat),
        "leave": _of_group(read_leave),
        "progress": _of_group(read_progress),
        "claims": _of_group(read_claims),
        "former": _of_group(read_former),
        "tick": _tick,
    },
    "releases": {"release": _of_group(read_release)},
    "control": {"rule": _of_control(read_rule), "reset": _of_control(read_reset)},
    "routes": {"route": _route},
    "offsets": {"offsets": _offsets, "absent": _absent, "bridge": _sign, "members": _members},
    "generations": {"generation": _generation},
    "requests": {"request": _request},
}
"""Topic suffix -> kind -> its reader."""

NULLS: Mapping[str, Callable[[RawRecord, WireLimits], Record]] = {
    "heartbeats": _null_refused,
    "releases": _null_refused,
    "control": _null_rule,
    "routes": _null_route,
    "offsets": _null_offsets,
    "generations": _null_refused,
    "requests": _null_refused,
}
"""Topic suffix -> the reader of a null value."""
