"""Every kind of record that a client of the domain can write, broken in every way we know of.

A seed gives the same records again. The valid ones are the examples of the protocol page, so a kind
that the page learns is broken here too.
"""

import gzip
import json
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import orjson

__all__ = ["KINDS", "MUTATIONS", "Broken", "broken_records"]

_PAGE: Final = Path(__file__).parents[2] / "docs" / "protocol.md"
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "heartbeat": ("heartbeats",),
    "leave": ("heartbeats",),
    "progress": ("heartbeats",),
    "claims": ("heartbeats",),
    "former": ("heartbeats",),
    "tick": ("heartbeats",),
    "release": ("releases", "handovers"),
    "route": ("routes",),
    "offsets": ("offsets",),
    "absent": ("offsets",),
    "bridge": ("offsets",),
    "members": ("offsets",),
    "request": ("requests",),
    "rule": ("control",),
    "reset": ("control",),
}
"""Kind -> the topics that it belongs on."""

INT64: Final = 2**63 - 1
_NUMBERS: Final = (0, -1, 1, 2**31, 10**9, 1_000_000, INT64, INT64 + 1, -(2**63) - 1, 1.5, True)
_TEXTS: Final[tuple[Any, ...]] = (
    "", " ", "\x00", "a\nb", "\x1b[2J", "a\u202eb", "\u2028", "é", "../../etc/passwd",
    "${jndi:ldap://x}", "__proto__", "x" * 300, "%RETRY%fuzzed", "__consumer_offsets", None, [],
)  # fmt: skip
_WRONG: Final[tuple[Any, ...]] = (None, "5", 5, True, [], {}, [[]], "x" * 5_000)


class Broken(NamedTuple):
    """A record to write: where, under which key, and how it was made."""

    suffix: str
    group: str
    key: bytes | None
    value: bytes | None
    made: str


Mutation = Callable[[Random, dict[str, Any], "Members"], bytes | None]
Members = list[tuple[str, str]]
"""Client id and incarnation of members that live."""


def examples() -> dict[str, dict[str, Any]]:
    """Return a record of each kind, as the protocol page shows it."""
    found: dict[str, dict[str, Any]] = {}
    for block in re.findall(r"```json\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL):
        try:
            body = orjson.loads(block)
        except orjson.JSONDecodeError:
            continue
        if isinstance(body, dict) and body.get("kind") in KINDS:
            found.setdefault(body["kind"], body)
    assert found.keys() == KINDS.keys(), KINDS.keys() - found.keys()
    return found


def _whole(_: Random, body: dict[str, Any], __: Members) -> bytes:
    return orjson.dumps(body)


def _truncated(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    value = orjson.dumps(body)
    return value[: rng.randrange(len(value))]


def _twice(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    name = rng.choice(sorted(body))
    same = orjson.dumps({name: rng.choice([body[name], 7])})
    return orjson.dumps(body)[:-1] + b"," + same[1:]


def _missing(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    del body[rng.choice(sorted(body))]
    return orjson.dumps(body)


def _retyped(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    _put(rng, body, lambda _: True, _WRONG)
    return orjson.dumps(body)


def _numbered(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    _put(rng, body, lambda old: type(old) is int, _NUMBERS)
    return _big(body)


def _worded(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    _put(rng, body, lambda old: isinstance(old, str), _TEXTS)
    return orjson.dumps(body)


def _epoch(rng: Random, body: dict[str, Any], members: Members) -> bytes:
    generation = rng.choice([0, 1, 2, 3, 1_000_000, INT64])
    number = rng.choice([0, 1, 5, 10**9, INT64])

    def change(old: Any) -> Any:
        if isinstance(old, dict):
            return {
                name: [generation, number]
                if name in {"epoch", "applied", "last_started"}
                else generation
                if name == "generation"
                else change(each)
                for name, each in old.items()
            }
        return [change(each) for each in old] if isinstance(old, list) else old

    return _other(rng, change(body), members)


def _other(rng: Random, body: dict[str, Any], members: Members) -> bytes:
    if members and "client_id" in body:
        body["client_id"], body["incarnation"] = rng.choice(members)
    return orjson.dumps(body)


def _rival(rng: Random, body: dict[str, Any], members: Members) -> bytes:
    """Write in the name of a member, of another life of it."""
    if members and "client_id" in body:
        body["client_id"] = rng.choice(members)[0]
    return orjson.dumps(body)


def _reversed(rng: Random, body: dict[str, Any], _: Members) -> bytes:
    value = orjson.dumps(body)
    return rng.choice(
        [
            b"", b"null", b"3", b"[]", b"{}", b"NaN", value + b"x", value + value,
            value[:-1] + b",}",
            value.replace(b'"', b"'"), b"/**/" + value, b"\xef\xbb\xbf" + value,
            value.decode().encode("utf-16"), value + b"\xff", b"\xc0\xaf" + value,
            gzip.compress(value), pickle.dumps(body), b"[" * 100_000, b'{"a":' * 50_000,
            value[:-1] + b',"x":"\\ud800"}', value[:-1] + b',"x":1e400}', value[:-1] + b',"x":-0}',
            value[:-1] + b',"x":' + b"9" * 4_301 + b"}", value[:-1] + b',"x":-Infinity}',
            value.replace(b'"v":1', b'"v":2'), value.replace(b'"v":1', b'"v":"1"'),
            value.replace(b'"kind":"', b'"kind":"x'), value.replace(b"e", "\u0435".encode()),
            value[:-1] + b',"more":{"a":[1,2]}}', b"x" * 300_000,
        ]
    )  # fmt: skip


def _null(_: Random, __: dict[str, Any], ___: Members) -> None:
    return None


MUTATIONS: Final[Mapping[str, Mutation]] = {
    "whole": _whole,
    "truncated": _truncated,
    "a field twice": _twice,
    "a field missing": _missing,
    "wrong type": _retyped,
    "extreme number": _numbered,
    "extreme text": _worded,
    "other epoch": _epoch,
    "another's identity": _other,
    "another life": _rival,
    "shape or bytes": _reversed,
    "null": _null,
}


def _big(body: dict[str, Any]) -> bytes:
    return _json(body)


def _put(
    rng: Random, body: dict[str, Any], fits: Callable[[Any], bool], values: tuple[Any, ...]
) -> None:
    places = [(box, name) for box, name in _places(body) if fits(box[name])]
    if places:
        box, name = rng.choice(places)
        box[name] = rng.choice(values)


def _places(box: Any) -> Iterator[tuple[Any, Any]]:
    names = list(box) if isinstance(box, dict) else range(len(box))
    for name in names:
        yield box, name
        if isinstance(box[name], dict | list):
            yield from _places(box[name])


def broken_records(
    seed: int, rounds: int, group: str, topic: str, members: Members
) -> Iterator[Broken]:
    """Yield each kind through each mutation, so many times; the order is drawn as well.

    ``topic`` is that of routes and offsets: nobody works on it.
    """
    rng = Random(seed)
    wanted = [(kind, name) for kind in KINDS for name in MUTATIONS] * rounds
    rng.shuffle(wanted)
    known = examples()
    for kind, name in wanted:
        body = orjson.loads(orjson.dumps(known[kind]))
        if "group" in body:
            body["group"] = group
        if "topic" in body:
            body["topic"] = topic
        suffix = rng.choice(KINDS[kind])
        value = MUTATIONS[name](rng, body, members)
        key: bytes | None = _key_of(kind, group, topic, body)
        if rng.random() < 0.05:
            key = rng.choice([None, b"", b"\xff", group.encode() + b"x", b"k" * 3_000])
        yield Broken(suffix, group, key, value, f"{kind}: {name}")


def _key_of(kind: str, group: str, topic: str, body: Mapping[str, Any]) -> bytes | None:
    queue = body.get("queue") or ["orders", "main", 0]
    keys: dict[str, Any] = {
        "tick": None,
        "route": topic,
        "offsets": [topic, group],
        "absent": [topic, group],
        "bridge": [body.get("cluster", "main")],
        "members": [body.get("cluster", "main"), "members", group],
        "rule": [group, body.get("rule", "pause")],
        "reset": [group, "reset", *(queue if isinstance(queue, list) else ["a", "b", 0])],
    }
    key = keys.get(kind, group)
    return key if key is None else key.encode() if isinstance(key, str) else _json(key)


def _json(key: Any) -> bytes:
    """Return a key as JSON, also with numbers that orjson refuses to write."""
    return json.dumps(key, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")
