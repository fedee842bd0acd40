"""Many groups in two binary columns, with an index, so that untouched groups stay undecoded.

Body column: what rarely changes. A head (JSON under a version and a checksum) with the index: for
each group, sorted, its name, the size of its body, the topics it reads and its phase; then the
bodies, each under its own version and checksum. Liveness column: what changes with each batch. A
head with the positions and counters of the shard and, in the order of the index, each group's due
clock and the size of its liveness; then the liveness pieces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from struct import Struct
from typing import Any, NamedTuple

import orjson

from fairlead.codec.envelope import STATE_VERSION, seal, unseal
from fairlead.codec.errors import CodecError, UnknownVersionError, UnwritableError
from fairlead.codec.intake import (
    Intake,
    ReleaseIntake,
    plain_intake,
    plain_releases,
    read_intake,
    read_releases,
)
from fairlead.codec.quarantine import Quarantine, plain_quarantine, read_quarantine
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Origin

__all__ = ["GroupSlot", "OpenShard", "ShardHeader", "close_shard", "open_shard"]

_SIZE = Struct("<I")
_BODY, _LIVENESS = "the body column of a shard", "the liveness column of a shard"


class GroupSlot(NamedTuple):
    """One group's place in a shard: its bytes, and what the shard needs without decoding them.

    ``topics`` are those whose routes concern it, sorted; ``phase`` is that of its newest decision.
    ``due_ms`` is the earliest clock at which it must be stepped even without a record. ``body`` is
    empty if a group in quarantine has no state yet.
    """

    group: str
    topics: tuple[str, ...]
    phase: str
    due_ms: int
    body: bytes
    liveness: bytes
    quarantine: Quarantine | None = None


@dataclass(frozen=True, slots=True)
class ShardHeader:
    """What a shard remembers apart from its groups and its clock.

    ``generation`` is that of the driver that ran it last, ``defaults`` the rules of all groups,
    ``marker`` the highest generation with a tick, ``positions`` topic -> partition -> next offset
    to read, ``step`` the number of cuts with a decision, ``newest_ms`` the newest append time.
    ``jumps`` counts jumps of a broker's clock between two ticks of one driver, ``jumps_told`` those
    that a decision has told, and ``jumps_open`` those since the newest tick, which count if the
    same driver ticks again. ``number_floor`` is the greatest decision number of a forgotten group:
    a new group counts on from there, so that no epoch of its name comes twice. ``marker_ms`` is the
    clock at the first tick of ``marker``; before that tick counts, control must be read up to
    ``control_end``. ``origin`` is the beginning of the state after a loss; ``recovering``: unknown
    clients may be working. ``intake`` and ``released`` are recent counts for the quotas.
    ``bridges`` has the newest sign of each cluster's bridge: (when, its state). ``group_bytes``: no
    group may grow beyond this, since the shard has reached its share of state; 0: it has not.
    """

    generation: int = 0
    defaults: Mapping[str, Any] = field(default_factory=dict)
    marker: int = 0
    positions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    step: int = 0
    newest_ms: int = 0
    jumps: int = 0
    jumps_told: int = 0
    jumps_open: int = 0
    number_floor: int = 0
    marker_ms: int = 0
    control_end: int = 0
    origin: Origin | None = None
    recovering: bool = False
    intake: Intake = field(default_factory=Intake)
    released: ReleaseIntake = field(default_factory=ReleaseIntake)
    bridges: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    group_bytes: int = 0


@dataclass(frozen=True, slots=True)
class OpenShard:
    """A stored shard with its index read: group name -> slot, sorted by name."""

    clock_ms: int
    append_ms: int
    header: ShardHeader
    slots: Mapping[str, GroupSlot]
    body: bytes


def open_shard(stored: StoredShard) -> OpenShard:
    """Read the heads of a stored shard; CodecError if they are damaged or of another version."""
    if stored.version != STATE_VERSION:
        raise UnknownVersionError("a shard", stored.version, STATE_VERSION)
    body_head, bodies = _split(stored.body, _BODY)
    alive_head, pieces = _split(stored.liveness, _LIVENESS)
    try:
        index = body_head["groups"]
        quarantined = body_head["quarantined"]
        body_slices = _slices(bodies, [size for _, size, _, _ in index], _BODY)
        alive_slices = _slices(pieces, alive_head["sizes"], _LIVENESS)
        slots = {
            group: GroupSlot(
                group,
                tuple(topics),
                phase,
                due_ms,
                body,
                alive,
                read_quarantine(quarantined[group]) if group in quarantined else None,
            )
            for (group, _, topics, phase), due_ms, body, alive in zip(
                index, alive_head["due"], body_slices, alive_slices, strict=True
            )
        }
        header = ShardHeader(
            body_head["generation"],
            body_head["defaults"],
            alive_head["marker"],
            _read_positions(alive_head["positions"]),
            alive_head["step"],
            alive_head["newest_ms"],
            alive_head["jumps"],
            alive_head["jumps_told"],
            alive_head["jumps_open"],
            alive_head["number_floor"],
            alive_head["marker_ms"],
            alive_head["control_end"],
            _read_origin(body_head["origin"]),
            body_head["recovering"],
            read_intake(alive_head["intake"]),
            read_releases(alive_head["released"]),
            {name: (at_ms, told) for name, at_ms, told in alive_head["bridges"]},
            alive_head["group_bytes"],
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CodecError("a shard", f"its two columns do not fit each other ({error!r})") from error
    return OpenShard(stored.clock_ms, stored.append_ms, header, slots, stored.body)


def close_shard(
    opened: OpenShard | None,
    clock: tuple[int, int],
    header: ShardHeader,
    changes: Mapping[str, GroupSlot | None],
) -> StoredShard:
    """Return the shard to be stored; UnwritableError if that is impossible.

    Args:
        opened: the shard as it was opened, None for a new one.
        clock: the shard's clock and the append time of the record that moved it last.
        header: the new header.
        changes: group name -> its new slot, None for a group that is forgotten.
    """
    before = opened.slots if opened is not None else {}
    merged = {**before, **changes}
    slots = [slot for group in sorted(merged) if (slot := merged[group]) is not None]
    if opened is not None and not _body_moved(opened, header, changes):
        body = opened.body
    else:
        body = _pack_body(header, slots)
    return StoredShard(STATE_VERSION, *clock, body, _pack_liveness(header, slots))


def _body_moved(
    opened: OpenShard, header: ShardHeader, changes: Mapping[str, GroupSlot | None]
) -> bool:
    old = opened.header
    if (old.generation, old.defaults) != (header.generation, header.defaults):
        return True
    if (old.origin, old.recovering) != (header.origin, header.recovering):
        return True
    return any(
        _standing(opened.slots.get(group)) != _standing(slot) for group, slot in changes.items()
    )


def _standing(slot: GroupSlot | None) -> tuple[object, ...] | None:
    return None if slot is None else (slot.body, slot.topics, slot.phase, slot.quarantine)


def _pack_body(header: ShardHeader, slots: Sequence[GroupSlot]) -> bytes:
    head = {
        "generation": header.generation,
        "defaults": header.defaults,
        "origin": _plain_origin(header.origin),
        "recovering": header.recovering,
        "groups": [[slot.group, len(slot.body), slot.topics, slot.phase] for slot in slots],
        "quarantined": {
            slot.group: plain_quarantine(slot.quarantine)
            for slot in slots
            if slot.quarantine is not None
        },
    }
    return _join(head, [slot.body for slot in slots], _BODY)


def _pack_liveness(header: ShardHeader, slots: Sequence[GroupSlot]) -> bytes:
    head = {
        "marker": header.marker,
        "marker_ms": header.marker_ms,
        "control_end": header.control_end,
        "positions": _plain_positions(header.positions),
        "step": header.step,
        "newest_ms": header.newest_ms,
        "jumps": header.jumps,
        "jumps_told": header.jumps_told,
        "jumps_open": header.jumps_open,
        "number_floor": header.number_floor,
        "due": [slot.due_ms for slot in slots],
        "sizes": [len(slot.liveness) for slot in slots],
        "intake": plain_intake(header.intake),
        "released": plain_releases(header.released),
        "bridges": [[name, *told] for name, told in sorted(header.bridges.items())],
        "group_bytes": header.group_bytes,
    }
    return _join(head, [slot.liveness for slot in slots], _LIVENESS)


def _plain_positions(positions: Mapping[str, Mapping[int, int]]) -> list[Any]:
    return [
        [topic, [list(entry) for entry in sorted(positions[topic].items())]]
        for topic in sorted(positions)
    ]


def _read_positions(plain: list[Any]) -> dict[str, dict[int, int]]:
    return {topic: dict(partitions) for topic, partitions in plain}


def _plain_origin(origin: Origin | None) -> list[Any] | None:
    return None if origin is None else [origin.generation, _plain_positions(origin.begin)]


def _read_origin(plain: list[Any] | None) -> Origin | None:
    return None if plain is None else Origin(plain[0], _read_positions(plain[1]))


def _join(head: dict[str, Any], pieces: list[bytes], what: str) -> bytes:
    try:
        sealed = seal(orjson.dumps(head, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError as error:
        raise UnwritableError(what, f"its head cannot be written ({error})") from error
    return b"".join([_SIZE.pack(len(sealed)), sealed, *pieces])


def _split(column: bytes, what: str) -> tuple[dict[str, Any], bytes]:
    if len(column) < _SIZE.size:
        raise CodecError(what, f"{len(column)} bytes are too few to be a whole column")
    (size,) = _SIZE.unpack_from(column)
    end = _SIZE.size + size
    try:
        head = orjson.loads(unseal(column[_SIZE.size : end], what))
    except orjson.JSONDecodeError as error:
        raise CodecError(what, f"its head cannot be read ({error})") from error
    if not isinstance(head, dict):
        raise CodecError(what, "its head is no object")
    return head, column[end:]


def _slices(data: bytes, sizes: list[int], what: str) -> list[bytes]:
    ends = list(accumulate(sizes))
    if (ends[-1] if ends else 0) != len(data):
        raise CodecError(what, f"{len(data)} bytes stand where the index promises others")
    return [data[end - size : end] for end, size in zip(ends, sizes, strict=True)]
