"""The `state` of a thin client: all that another gateway needs to go on, sealed.

A client gets it with every answer and sends it back with the next poll. It is authenticated with a
key that all gateways behind one address share, so a client can neither make one nor change one;
it hides nothing. Numbers stand in a short JSON document, compressed if it is long: 200 queues take
about 4 KiB.
"""

import base64
import binascii
import hashlib
import hmac
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
from fairlead_client.model import DataPlane, Epoch, Position, Process, Queue, Subscription
from fairlead_client.session.saved_session import (
    SavedQueue,
    SavedRelease,
    SavedSession,
    SavedStanding,
)
from fairlead_client.session.states import Standing

from fairlead.gateway.member_profile import MemberProfile

__all__ = ["SEQUENCES", "STATE_BYTES_MAX", "ClientState", "StateError", "StateSeal"]

STATE_BYTES_MAX: Final = 131_072
"""The longest `state` that a gateway reads: of about 7,000 queues. A body has room for that, and
for the words of about 1,300 works."""

SEQUENCES: Final = 4
"""The records of one poll that have a sequence: a heartbeat, a leave, and a leave written again."""

_VERSION: Final = b"3"
_VERSION_SHORT: Final = b"4"
_PLAIN_BYTES_SHORT: Final = 1_024
"""A document that is not longer is not compressed: of ten queues it has 550 bytes."""
_MAC_BYTES: Final = 16
_PLAIN_BYTES_MAX: Final = 1_048_576
_LEVEL: Final = 1
"""A higher level saves a tenth of the bytes and takes three times as long."""


class StateError(Exception):
    """A `state` that no gateway of this key has made, or that is of another version."""


@dataclass(frozen=True, slots=True)
class ClientState:
    """What a `state` says.

    Attributes:
        profile: what the client said when it joined.
        subscriptions: what it reads.
        lease_ms: its lease.
        issued: the sequence of the poll whose answer carried it; 0: the join's.
        saved: its session.
        told: the works whose start it knows, once it has the answer with this state.
    """

    profile: MemberProfile
    subscriptions: tuple[Subscription, ...]
    lease_ms: int
    issued: int
    saved: SavedSession
    told: frozenset[tuple[Queue, Epoch]]

    @property
    def is_confirmed(self) -> bool:
        """Whether the records of the newest poll were in the log when the state was written."""
        return self.saved.sequence // SEQUENCES <= self.issued


class StateSeal:
    """Writes and reads states under one key.

    Args:
        keys: the secret keys; the first one seals, and all are accepted.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = [hashlib.sha256(b"fairlead gateway state\0" + key).digest() for key in keys]

    def seal(self, state: ClientState) -> str:
        """Return the text of a state."""
        plain = orjson.dumps(_document(state), default=list)
        if len(plain) > _PLAIN_BYTES_SHORT:
            body = _VERSION + zlib.compress(plain, _LEVEL)
        else:
            body = _VERSION_SHORT + plain
        mac = _mac(self._keys[0], body)
        return base64.urlsafe_b64encode(mac + body).decode().rstrip("=")

    def open(self, text: str) -> ClientState:
        """Return the state of a text.

        Raises:
            StateError: it is not one of ours.
        """
        if len(text) > STATE_BYTES_MAX:
            raise StateError("it is too long")
        try:
            sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            raise StateError("it is not what an answer said") from None
        mac, body = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
        if not any(hmac.compare_digest(mac, _mac(key, body)) for key in self._keys):
            raise StateError("no gateway with this key has made it, or it was changed")
        if body[:1] not in (_VERSION, _VERSION_SHORT):
            raise StateError("it is of another version of the gateway")
        try:
            plain = body[1:]
            if body[:1] == _VERSION:
                plain = zlib.decompressobj().decompress(plain, _PLAIN_BYTES_MAX)
            return _state(orjson.loads(plain))
        except (ValueError, TypeError, KeyError, IndexError, zlib.error):
            raise StateError("it is of another version of the gateway") from None


def _mac(key: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=key, digest_size=_MAC_BYTES).digest()


class _Names:
    """Numbers the texts that occur often."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        return -1 if text is None else self.texts.setdefault(text, len(self.texts))


def _document(state: ClientState) -> list[Any]:
    saved, names = state.saved, _Names()
    queues = [
        [
            *_place(names, each.queue),
            *each.started,
            each.works | ((each.queue, each.started) in state.told) << 1,
            *each.position,
            names.number(each.identity),
            names.number(each.successor),
            each.draining_since_ms or 0,
        ]
        for each in saved.queues
    ]
    releases = [
        [
            *_place(names, each.queue),
            *each.epoch,
            each.position,
            names.number(each.identity),
            names.number(each.successor),
        ]
        for each in saved.releases
    ]
    return [
        _profile_row(state.profile),
        [
            [each.topic, each.expression, each.expression_type, each.tags, each.sub_version]
            for each in state.subscriptions
        ],
        [state.lease_ms, state.issued],
        [getattr(saved, name) for name in _SESSION],
        queues,
        releases,
        list(names.texts),
        *_standing_row(state),
    ]


def _standing_row(state: ClientState) -> list[list[Any]]:
    """Return what only those have that say where they read: other states have nothing of it."""
    profile, standing = state.profile, state.saved.standing
    if profile.data_plane is None:
        return []
    told = [standing.now, standing.since, standing.floor, standing.freeze, standing.is_loose]
    return [[*profile.data_plane, profile.follows, *told]]


def _place(names: _Names, queue: Queue) -> tuple[int, int, int]:
    return names.number(queue.topic), names.number(queue.broker_name), queue.queue_id


def _profile_row(profile: MemberProfile) -> list[Any]:
    process = profile.process
    return [process.start_ms, process.uuid, *(getattr(profile, name) for name in _PROFILE)]


_SESSION: Final = (
    *("incarnation", "sequence", "generation", "claimed", "applied"),
    *("leaving", "left"),
)
_PROFILE: Final = (
    *("principal", "group", "client_id", "joins", "consume_from", "consume_timestamp_ms"),
    *("capacity", "zone", "ordered", "consume_type", "language", "version", "address"),
)


def _state(document: list[Any]) -> ClientState:
    who, topics, (lease_ms, issued), session, queues, releases, names, *standing_rows = document
    texts = [*names, None]
    saved_queues = tuple(_saved_queue(texts, row) for row in queues)
    told = (
        (each.queue, each.started)
        for each, row in zip(saved_queues, queues, strict=True)
        if row[5] & 2
    )
    values = dict(zip(_SESSION, session, strict=True))
    applied = values.pop("applied")
    saved = SavedSession(
        **values,
        applied=None if applied is None else Epoch(*applied),
        queues=saved_queues,
        releases=tuple(_saved_release(texts, row) for row in releases),
    )
    plane = follows = None
    if standing_rows:
        kind, member, follows, *standing = standing_rows[0]
        plane = DataPlane(kind, member)
        saved = replace(saved, standing=_saved_standing(*standing))
    start_ms, uuid, *rest = who
    profile = MemberProfile(
        process=Process(start_ms, uuid),
        data_plane=plane,
        follows=follows,
        **dict(zip(_PROFILE, rest, strict=True)),
    )
    subscriptions = tuple(
        Subscription(topic, expression, kind, tuple(tags), version)
        for topic, expression, kind, tags, version in topics
    )
    return ClientState(profile, subscriptions, lease_ms, issued, saved, frozenset(told))


def _saved_standing(
    now: str, since: list[int], floor: list[int], freeze: list[int] | None, is_loose: object
) -> SavedStanding:
    asked = None if freeze is None else Epoch(*freeze)
    return SavedStanding(Standing(now), Epoch(*since), Epoch(*floor), asked, is_loose is True)


def _saved_queue(texts: list[str | None], row: list[int]) -> SavedQueue:
    topic, broker, number, generation, decision, flags, reset, offset, *rest = row
    identity, successor, since_ms = rest
    return SavedQueue(
        _queue(texts, topic, broker, number),
        Epoch(generation, decision),
        bool(flags & 1),
        Position(reset, offset),
        texts[identity],
        texts[successor],
        since_ms or None,
    )


def _saved_release(texts: list[str | None], row: list[Any]) -> SavedRelease:
    topic, broker, number, generation, decision, position, identity, successor = row
    return SavedRelease(
        _queue(texts, topic, broker, number),
        Epoch(generation, decision),
        None if position is None else Position(*position),
        texts[identity],
        texts[successor],
    )


def _queue(texts: list[str | None], topic: int, broker: int, number: int) -> Queue:
    return Queue(texts[topic] or "", texts[broker] or "", number)
