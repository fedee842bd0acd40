"""Writes a client's records as bytes (protocol §3.1-3.6)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead_client.model import DataPlane, Process, Progress, Queue, Subscription
from fairlead_client.session.actions import (
    Claim,
    SendClaims,
    SendFormer,
    SendHeartbeat,
    SendLeave,
    SendProgress,
    SendRelease,
)
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.states import Standing
from fairlead_client.settings.client_settings import Settings

RECORD_BYTES_MAX: Final = 60_000
"""The longest record of the heartbeats topic: 64 KiB less some room for key and framing."""
TAG_LENGTH_MAX: Final = 255
PARTS_DIGITS: Final = 64
"""Room for the fields `part` and `parts`."""


def _dumps(value: object) -> bytes:
    """Return JSON; `default` writes queues, epochs and positions, which are named tuples."""
    return orjson.dumps(value, default=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDescription:
    """What every heartbeat of a client says about it; the protocol explains the fields (§3.1)."""

    group: str
    client_id: str
    process: Process
    lease_ms: int
    consume_type: str
    message_model: str
    consume_from: str
    consume_timestamp_ms: int | None
    ordered: bool
    language: str
    version: str
    address: str
    zone: str | None
    capacity: int
    data_plane: DataPlane | None = None
    follows: str | None = None


def describe(settings: Settings, identity: ClientIdentity, version: str) -> ClientDescription:
    """Return the description of a client of this library."""
    return ClientDescription(
        group=settings.group,
        client_id=identity.client_id,
        process=identity.process,
        lease_ms=settings.lease_ms,
        consume_type=settings.consume_type,
        message_model=settings.message_model,
        consume_from=settings.consume_from,
        consume_timestamp_ms=settings.begins_at_ms(identity.process.start_ms),
        ordered=settings.ordered,
        language="python",
        version=version,
        address=identity.address,
        zone=settings.zone,
        capacity=settings.capacity,
    )


class Encoder:
    """Writes the records of one client.

    Args:
        client: what its heartbeats say about it.
    """

    def __init__(self, client: ClientDescription) -> None:
        self._client = client

    def heartbeat(self, action: SendHeartbeat, more: Mapping[str, Any] | None = None) -> bytes:
        """Return a heartbeat; `more` are further fields of it."""
        client = self._client
        return _dumps(
            {
                **self._head("heartbeat", action.incarnation),
                "process": {
                    "start_ms": client.process.start_ms,
                    "uuid": client.process.uuid,
                    "incarnations": action.incarnations,
                },
                "sequence": action.sequence,
                "generation": action.generation,
                "lease_ms": client.lease_ms,
                "consume_type": client.consume_type,
                "message_model": client.message_model,
                "consume_from": client.consume_from,
                "consume_timestamp_ms": client.consume_timestamp_ms,
                "ordered": client.ordered,
                "language": client.language,
                "version": client.version,
                "address": client.address,
                "zone": client.zone,
                "capacity": client.capacity,
                "subscriptions": [
                    {
                        "topic": subscription.topic,
                        "expression_type": subscription.expression_type,
                        "expression": subscription.expression,
                        "tags": _tags(subscription),
                        "sub_version": subscription.sub_version,
                    }
                    for subscription in action.subscriptions
                ],
                "applied": action.applied,
                "digest": action.digest,
                **({"decide": True} if action.decide else {}),
                **self._standby(action.standing),
                **(more or {}),
            }
        )

    def _standby(self, standing: Standing | None) -> dict[str, Any]:
        plane, follows = self._client.data_plane, self._client.follows
        made: dict[str, Any] = {}
        if plane is not None:
            made["data_plane"] = {"kind": plane.kind, "member": plane.member}
        if follows is not None and standing is not None:
            made["standby"] = {"follows": follows, "state": standing}
        return made

    def leave(self, action: SendLeave, more: Mapping[str, Any] | None = None) -> bytes:
        """Return a leave; `more` are further fields of it."""
        head = self._head("leave", action.incarnation)
        words = {"sequence": action.sequence, "last_started": action.last_started}
        return _dumps({**head, **words, **(more or {})})

    def release(self, action: SendRelease) -> bytes:
        """Return a release; with `last_started` if the client leaves."""
        release = {
            **self._head("release", action.incarnation),
            "queue": action.queue,
            "epoch": action.epoch,
            "position": action.position,
            **_identity(action.identity),
        }
        if action.last_started is not None:
            release["last_started"] = action.last_started
        return _dumps(release)

    def progress(self, action: SendProgress) -> list[bytes]:
        """Return progress, in as many records as necessary."""
        head = self._head("progress", action.incarnation)
        whole = _dumps({**head, "queues": [_progress(entry) for entry in action.entries]})
        if len(whole) <= RECORD_BYTES_MAX:
            return [whole]
        room = RECORD_BYTES_MAX - len(_dumps(head))
        return [
            _dumps({**head, "queues": [orjson.Fragment(entry) for entry in entries]})
            for entries in _cut((_dumps(_progress(entry)) for entry in action.entries), room)
        ]

    def claims(self, action: SendClaims) -> list[bytes]:
        """Return the parts of the claims; at least one, because an empty set acknowledges too."""
        head = {**self._head("claims", action.incarnation), "generation": action.generation}
        return self._parts(head, map(_claim, action.claims))

    def former(self, action: SendFormer) -> list[bytes]:
        """Return the parts of an answer to a freeze; one that holds nothing answers, too."""
        head = {**self._head("former", action.incarnation), "epoch": action.epoch}
        return self._parts(head, (_held(queue, offset) for queue, offset in action.queues))

    def _parts(self, head: Mapping[str, Any], entries: Iterable[bytes]) -> list[bytes]:
        room = RECORD_BYTES_MAX - len(_dumps(head)) - PARTS_DIGITS
        sets = list(_cut(entries, room)) or [[]]
        return [
            _dumps(
                {
                    **head,
                    "part": part,
                    "parts": len(sets),
                    "queues": [orjson.Fragment(entry) for entry in each],
                }
            )
            for part, each in enumerate(sets)
        ]

    def _head(self, kind: str, incarnation: str) -> dict[str, Any]:
        return {
            "v": 1,
            "kind": kind,
            "group": self._client.group,
            "client_id": self._client.client_id,
            "incarnation": incarnation,
        }


def _progress(entry: Progress) -> dict[str, Any]:
    made: dict[str, Any] = {
        "queue": entry.queue,
        "epoch": entry.epoch,
        "position": entry.position,
    }
    if entry.end is not None:
        made["end"] = entry.end
    if entry.identity is not None:
        made["identity"] = entry.identity
    if entry.idle_ms is not None:
        made["idle_ms"] = entry.idle_ms
    return made


def _identity(identity: str | None) -> dict[str, str]:
    """Return the field with the topic's identity of a position, if it is known."""
    return {} if identity is None else {"identity": identity}


def _claim(claim: Claim) -> bytes:
    return _dumps(
        {
            "queue": claim.queue,
            "epoch": claim.epoch,
            "position": claim.position,
            "state": claim.state,
            **_identity(claim.identity),
        }
    )


def _held(queue: Queue, offset: int | None) -> bytes:
    # The data plane's own offsets follow no reset and name no identity.
    return _dumps({"queue": queue, "position": None if offset is None else (0, offset)})


def _cut(entries: Iterable[bytes], room: int) -> Iterator[list[bytes]]:
    """Yield the entries in order, in lists that fit into a record."""
    run: list[bytes] = []
    size = 0
    for entry in entries:
        if run and size + len(entry) + 1 > room:
            yield run
            run, size = [], 0
        run.append(entry)
        size += len(entry) + 1
    if run:
        yield run


def commit_metadata(entry: Progress) -> str:
    """Return the metadata of a committed offset: its reset and its topic's identity (§4.8)."""
    return _dumps({"v": 1, "reset": entry.position.reset, **_identity(entry.identity)}).decode()


def _tags(subscription: Subscription) -> tuple[str, ...]:
    """Return the tags of a tag expression; none if one is too long for the field."""
    if subscription.tags or subscription.expression_type != "tag":
        return subscription.tags
    tags = subscription.wanted_tags
    return tags if all(len(tag) <= TAG_LENGTH_MAX for tag in tags) else ()
