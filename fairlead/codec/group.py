"""One group's state to bytes and back, in two pieces: the body and the liveness.

The same state gives the same bytes, in whatever order its mappings were filled: everything is
written sorted. The body is JSON of plain arrays, under a version and a checksum. What moves while
nothing else does stands in the liveness piece: ``recomputed_ms`` and the members' liveness.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from fairlead.codec.absence import plain_awaited, plain_settling, read_awaited, read_settling
from fairlead.codec.envelope import seal, unseal
from fairlead.codec.errors import CodecError, UnwritableError
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
from fairlead.codec.standing import plain_standing, read_standing
from fairlead.codec.tables import keys_of, plain_queues, queues_of, read_queues
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Failure
from fairlead.core.state import GroupState, PendingRequest, Trait

__all__ = ["decode_group", "encode_group", "same_body"]

_UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError)


def encode_group(state: GroupState) -> tuple[bytes, bytes]:
    """Return (body, liveness) of a group; UnwritableError if that is impossible."""
    what = f"the state of group {state.group}"
    try:
        plain = _plain(state)
        body = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, *_UNREADABLE) as error:
        raise UnwritableError(what, f"it cannot be written ({error!r})") from error
    return seal(body), encode_liveness(state)


def decode_group(body: bytes, liveness: bytes, group: str) -> GroupState:
    """Return the state of a group; CodecError if the bytes are damaged or of another version."""
    what = f"the state of group {group}"
    payload = unseal(body, what)
    try:
        state = _read(orjson.loads(payload))
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
            [topic, each.code, each.message] for topic, each in sorted(state.failures.items())
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
        "standing": plain_standing(state.standing, key_rows),
    }


def _read(plain: dict[str, Any]) -> GroupState:
    queues = read_queues(plain["queues"])
    keys = [MemberKey(*key) for key in plain["keys"]]
    clients = plain["clients"]
    members = [read_member(row, keys) for row in plain["members"]]
    routes = [read_route(row) for row in plain["routes"]]
    awaited = [read_awaited(row, keys) for row in plain["awaited"]]
    generation, number = plain["epoch"]
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
            (what, topic): PendingRequest(asked_ms, times, unanswered)
            for what, topic, asked_ms, times, unanswered in plain["requests"]
        },
        empty_since_ms=plain["empty_since_ms"],
        allocated_by=plain["allocated_by"],
        measures={queues[row[0]]: read_measure(row) for row in plain["measures"]},
        weights={queues[row]: weight for row, weight in plain["weights"]},
        late_topics=tuple(plain["late_topics"]),
        awaited={each.member.key.client_id: each for each in awaited},
        settling=read_settling(plain["settling"]),
        established={
            Trait(name, topic): tuple(value) for name, topic, value in plain["established"]
        },
        growing_since_ms=plain["growing_since_ms"],
        remade=tuple(plain["remade"]),
        absent={topic: tuple(clusters) for topic, clusters in plain["absent"]},
        standing=read_standing(plain.get("standing"), keys),
    )
