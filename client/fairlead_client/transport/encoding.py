"""Writes a client's records as bytes (protocol §3.1-3.6)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from fairlead_client.model import Progress, Subscription
from fairlead_client.session.actions import (
    Claim,
    SendClaims,
    SendHeartbeat,
    SendLeave,
    SendProgress,
    SendRelease,
)
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.settings.client_settings import Settings

RECORD_BYTES_MAX: Final = 60_000
"""The longest record of the heartbeats topic: 64 KiB less some room for key and framing."""
TAG_LENGTH_MAX: Final = 255
PARTS_DIGITS: Final = 64
"""Room for the fields `part` and `parts`."""


def _dumps(value: object) -> bytes:
    """Return JSON; `default` writes queues, epochs and positions, which are named tuples."""
    return orjson.dumps(value, default=tuple)


class Encoder:
    """Writes the records of one client.

    Args:
        settings: the client's settings.
        identity: the client's identity.
        version: the version of this library.
    """

    def __init__(self, settings: Settings, identity: ClientIdentity, version: str) -> None:
        self._settings = settings
        self._identity = identity
        self._version = version

    def heartbeat(self, action: SendHeartbeat) -> bytes:
        """Return a heartbeat."""
        settings, identity = self._settings, self._identity
        return _dumps(
            {
                **self._head("heartbeat", action.incarnation),
                "process": {
                    "start_ms": identity.process.start_ms,
                    "uuid": identity.process.uuid,
                    "incarnations": action.incarnations,
                },
                "sequence": action.sequence,
                "generation": action.generation,
                "lease_ms": settings.lease_ms,
                "consume_type": settings.consume_type,
                "message_model": settings.message_model,
                "consume_from": settings.consume_from,
                "consume_timestamp_ms": settings.begins_at_ms(identity.process.start_ms),
                "ordered": settings.ordered,
                "language": "python",
                "version": self._version,
                "address": identity.address,
                "zone": settings.zone,
                "capacity": settings.capacity,
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
            }
        )

    def leave(self, action: SendLeave) -> bytes:
        """Return a leave."""
        head = self._head("leave", action.incarnation)
        return _dumps({**head, "sequence": action.sequence, "last_started": action.last_started})

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
        room = RECORD_BYTES_MAX - len(_dumps(head))
        return [
            _dumps({**head, "queues": [orjson.Fragment(entry) for entry in entries]})
            for entries in _cut((_progress(entry) for entry in action.entries), room)
        ]

    def claims(self, action: SendClaims) -> list[bytes]:
        """Return the parts of the claims; at least one, because an empty set acknowledges too."""
        head = {**self._head("claims", action.incarnation), "generation": action.generation}
        room = RECORD_BYTES_MAX - len(_dumps(head)) - PARTS_DIGITS
        sets = list(_cut((_claim(claim) for claim in action.claims), room)) or [[]]
        return [
            _dumps(
                {
                    **head,
                    "part": part,
                    "parts": len(sets),
                    "queues": [orjson.Fragment(entry) for entry in entries],
                }
            )
            for part, entries in enumerate(sets)
        ]

    def _head(self, kind: str, incarnation: str) -> dict[str, Any]:
        return {
            "v": 1,
            "kind": kind,
            "group": self._settings.group,
            "client_id": self._identity.client_id,
            "incarnation": incarnation,
        }


def _progress(entry: Progress) -> bytes:
    made = {"queue": entry.queue, "epoch": entry.epoch, "position": entry.position}
    end = {} if entry.end is None else {"end": entry.end}
    idle = {} if entry.idle_ms is None else {"idle_ms": entry.idle_ms}
    return _dumps(made | end | _identity(entry.identity) | idle)


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
