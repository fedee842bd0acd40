"""The records that a client writes, as bytes (protocol §3.1-3.6)."""

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
from fairlead_client.session.identity import Identity
from fairlead_client.settings.client_settings import Settings

RECORD_BYTES_MAX: Final = 60_000
"""Of a record on the heartbeats topic, whose limit is 64 KiB; the rest is for key and framing."""
TAG_LENGTH_MAX: Final = 255
PARTS_DIGITS: Final = 64
"""Room for what a part says besides its queues and the fixed fields: part and parts."""


def _dumps(value: object) -> bytes:
    """Return JSON; queues, epochs and positions are named tuples, which orjson leaves to us."""
    return orjson.dumps(value, default=tuple)


class Encoder:
    """Makes records of one client; every field that never changes is taken once.

    Args:
        settings: what the application chose.
        identity: who the client is.
        version: of this library.
    """

    def __init__(self, settings: Settings, identity: Identity, version: str) -> None:
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
        """Return a release; of a client that leaves it says so."""
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
        """Return progress, as many records as it takes: each entry stands alone."""
        head = self._head("progress", action.incarnation)
        room = RECORD_BYTES_MAX - len(_dumps(head))
        return [
            _dumps({**head, "queues": [orjson.Fragment(entry) for entry in entries]})
            for entries in _cut((_progress(entry) for entry in action.entries), room)
        ]

    def claims(self, action: SendClaims) -> list[bytes]:
        """Return the parts of the claims; at least one, an empty set is an acknowledgement too."""
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
    """Return of which life of its topic a position is, if the engine has said so."""
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
    """Yield the entries in runs that fit into a record, in order."""
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
    """Return what stands beside a committed offset (protocol §4.8).

    Which operator's reset it follows, and of which life of its topic it is.
    """
    return _dumps({"v": 1, "reset": entry.position.reset, **_identity(entry.identity)}).decode()


def _tags(subscription: Subscription) -> tuple[str, ...]:
    """Return the tags of a tag expression; one too long for a record is in the expression alone."""
    if subscription.tags or subscription.expression_type != "tag":
        return subscription.tags
    tags = subscription.wanted_tags
    return tags if all(len(tag) <= TAG_LENGTH_MAX for tag in tags) else ()
