"""One group's state to bytes and back, in two pieces: the body and the liveness.

The same state gives the same bytes, in whatever order its mappings were filled: everything is
written sorted. The body is JSON of plain arrays, under a version and a checksum; each version
keeps its decoder. ``recomputed_ms`` and the liveness of members, which move without anything else
moving, stand in the liveness piece.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from fairlead.codec.absence import plain_awaited, plain_settling, read_awaited, read_settling
from fairlead.codec.envelope import seal, unseal
from fairlead.codec.errors import CodecError
from fairlead.codec.handover import (
    plain_barrier,
    plain_claims,
    plain_queue,
    read_barrier,
    read_claims,
    read_queue,
)
from fairlead.codec.liveness import decode_liveness, encode_liveness
from fairlead.codec.measure import plain_measure, read_measure
from fairlead.codec.member import plain_member, plain_tombstone, read_member, read_tombstone
from fairlead.codec.route import plain_route, read_route
from fairlead.codec.tables import keys_of, plain_queues, queues_of, read_queues
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.outputs import Failure
from fairlead.core.state import GroupState, PendingRequest, Trait

__all__ = ["BODY_VERSION", "decode_group", "encode_group", "same_body"]

BODY_VERSION = 7
_UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError)


def encode_group(state: GroupState) -> tuple[bytes, bytes]:
    """Return (body, liveness) of a group; CodecError if the state cannot be written."""
    what = f"the state of group {state.group}"
    try:
        plain = _plain(state)
        body = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, *_UNREADABLE) as error:
        raise CodecError(what, f"it cannot be written ({error!r})") from error
    return seal(BODY_VERSION, body), encode_liveness(state)


def decode_group(body: bytes, liveness: bytes, group: str) -> GroupState:
    """Return the state of a group; CodecError if the bytes are damaged or of another version."""
    what = f"the state of group {group}"
    version, payload = unseal(body, what)
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise CodecError(what, f"version {version} is unknown, known are {sorted(_DECODERS)}")
    try:
        state = decoder(orjson.loads(payload))
    except (orjson.JSONDecodeError, *_UNREADABLE) as error:
        raise CodecError(what, f"its body cannot be read ({error!r})") from error
    if state.group != group:
        raise CodecError(what, f"the bytes are those of group {state.group}")
    return decode_liveness(liveness, state)


def same_body(before: GroupState, after: GroupState) -> bool:
    """Whether two states of a group have the same body. Cheap where nothing was touched."""
    moving = {"liveness": after.liveness, "recomputed_ms": after.recomputed_ms}
    return before is not after and replace(before, **moving) == after  # type: ignore[arg-type]


def _plain(state: GroupState) -> dict[str, Any]:
    keys, queues = keys_of(state), queues_of(state)
    key_rows: Mapping[MemberKey, int] = {key: row for row, key in enumerate(keys)}
    queue_rows = {queue: row for row, queue in enumerate(queues)}
    clients = sorted(set(state.targets.values()))
    client_rows = {client: row for row, client in enumerate(clients)}
    return {
        "group": state.group,
        "created_ms": state.created_ms,
        "epoch": [*state.epoch],
        "empty_since_ms": state.empty_since_ms,
        "allocated_by": state.allocated_by,
        "keys": [[*key] for key in keys],
        "queues": plain_queues(queues),
        "clients": clients,
        "members": [
            plain_member(state.members[key], key_rows[key]) for key in sorted(state.members)
        ],
        "tombstones": [
            plain_tombstone(stone, key_rows[key]) for key, stone in sorted(state.tombstones.items())
        ],
        "routes": [plain_route(state.routes[topic]) for topic in sorted(state.routes)],
        "states": [
            plain_queue(queue_rows[queue], state.queues[queue], key_rows)
            for queue in sorted(state.queues)
        ],
        "targets": [
            [queue_rows[queue], client_rows[client]]
            for queue, client in sorted(state.targets.items())
        ],
        "failures": [
            [topic, failure.code, failure.message]
            for topic, failure in sorted(state.failures.items())
        ],
        "rules": state.rules,
        "claims": [
            plain_claims(key_rows[key], claims, queue_rows)
            for key, claims in sorted(state.claims.items())
        ],
        "barrier": plain_barrier(state.barrier, key_rows, queue_rows),
        "requests": [
            [what, topic, request.asked_ms, request.times, request.unanswered]
            for (what, topic), request in sorted(state.requests.items())
        ],
        "measures": [
            plain_measure(queue_rows[queue], measure)
            for queue, measure in sorted(state.measures.items())
        ],
        "weights": [[queue_rows[queue], weight] for queue, weight in sorted(state.weights.items())],
        "late_topics": [*state.late_topics],
        "awaited": [
            plain_awaited(awaited, key_rows[awaited.member.key])
            for _, awaited in sorted(state.awaited.items())
        ],
        "settling": plain_settling(state.settling),
        "established": [[*trait, [*value]] for trait, value in sorted(state.established.items())],
        "growing_since_ms": state.growing_since_ms,
        "remade": [*state.remade],
        "absent": [[topic, [*clusters]] for topic, clusters in sorted(state.absent.items())],
    }


def _read_1(plain: dict[str, Any]) -> GroupState:
    return _read(plain, read_queues(plain["queues"]))


def _read_2(plain: dict[str, Any]) -> GroupState:
    """Read what version 1 has, and what queues were measured to weigh."""
    queues = read_queues(plain["queues"])
    state = _read(plain, queues)
    state.measures = {queues[row[0]]: read_measure(row) for row in plain["measures"]}
    state.weights = {queues[row]: weight for row, weight in plain["weights"]}
    return state


def _read_3(plain: dict[str, Any]) -> GroupState:
    """Read what version 2 has, what a recovery leaves behind, who is waited for, what settles.

    Version 4 differs in the rows alone, which may say of which life of a topic something is.
    """
    state = _read_2(plain)
    state.late_topics = tuple(plain["late_topics"])
    keys = [MemberKey(*key) for key in plain["keys"]]
    awaited = [read_awaited(row, keys) for row in plain["awaited"]]
    state.awaited = {each.member.key.client_id: each for each in awaited}
    state.settling = read_settling(plain["settling"])
    return state


def _read_5(plain: dict[str, Any]) -> GroupState:
    """Read what version 4 has, the values that the group keeps, and what a route has brought."""
    state = _read_3(plain)
    state.established = {
        Trait(name, topic): tuple(value) for name, topic, value in plain["established"]
    }
    state.growing_since_ms = plain["growing_since_ms"]
    return state


def _read_6(plain: dict[str, Any]) -> GroupState:
    """Read what version 5 has, which queues are new in a known life, which topics were remade."""
    state = _read_5(plain)
    state.remade = tuple(plain["remade"])
    return state


def _read_7(plain: dict[str, Any]) -> GroupState:
    """Read what version 6 has, and which clusters lack a topic; rows say what has no answer."""
    state = _read_6(plain)
    state.absent = {topic: tuple(clusters) for topic, clusters in plain["absent"]}
    return state


def _read(plain: dict[str, Any], queues: list[MessageQueue]) -> GroupState:
    keys = [MemberKey(*key) for key in plain["keys"]]
    clients = plain["clients"]
    members = [read_member(row, keys) for row in plain["members"]]
    routes = [read_route(row) for row in plain["routes"]]
    generation, number = plain["epoch"]
    # Versions before 6 do not say which topics were made anew: each may have been. Those before 7
    # do not say since when a request has no answer.
    return GroupState(
        group=plain["group"],
        created_ms=plain["created_ms"],
        generation=generation,
        number=number,
        members={member.key: member for member in members},
        tombstones={keys[row[0]]: read_tombstone(row) for row in plain["tombstones"]},
        routes={route.topic: route for route in routes},
        queues={queues[row[0]]: read_queue(row, keys) for row in plain["states"]},
        targets={queues[queue]: clients[client] for queue, client in plain["targets"]},
        failures={
            topic: Failure(topic, code, message) for topic, code, message in plain["failures"]
        },
        rules=plain["rules"],
        claims={keys[row[0]]: read_claims(row, queues) for row in plain["claims"]},
        barrier=read_barrier(plain["barrier"], keys, queues),
        requests={
            (what, topic): PendingRequest(asked_ms, times, *later)
            for what, topic, asked_ms, times, *later in plain["requests"]
        },
        empty_since_ms=plain["empty_since_ms"],
        allocated_by=plain["allocated_by"],
        remade=tuple(sorted(route.topic for route in routes)),
    )


_DECODERS: Mapping[int, Callable[[dict[str, Any]], GroupState]] = {
    1: _read_1,
    2: _read_2,
    3: _read_3,
    4: _read_3,
    5: _read_5,
    6: _read_6,
    7: _read_7,
}
