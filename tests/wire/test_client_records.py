"""What the client library writes the engine reads, and what the engine writes the client reads."""

from dataclasses import replace
from typing import Any

import pytest
from fairlead_client.model import Epoch, Position, Process, Progress, Queue, Subscription
from fairlead_client.session.actions import (
    Claim,
    SendClaims,
    SendHeartbeat,
    SendLeave,
    SendProgress,
    SendRelease,
)
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.records import Assignment, Notice
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.decoding import decode_assignment, decode_key
from fairlead_client.transport.encoding import Encoder, describe
from fairlead_client.transport.partitioner import partition_of

from fairlead.core import records as core
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames
from tests.kit.wire_outputs import ASSIGNMENT, NOTICE
from tests.kit.wire_records import LIMITS, raw

INCARNATION = "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"
PROCESS = Process(1780999990000, "0f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d02")
QUEUE, EPOCH, POSITION = Queue("orders", "main", 2), Epoch(3, 39), Position(0, 9120)
MEMBER = MemberKey("10.0.0.7@4121#1", INCARNATION)
"""The values of the client are the engine's in all but name."""


def _encoder(**settings: Any) -> Encoder:
    chosen = Settings(bootstrap="b:1", group="orders", topics=["orders"], **settings)
    return Encoder(describe(chosen, ClientIdentity(MEMBER.client_id, PROCESS, "10.0.0.7"), "0.1.0"))


def _decoded(value: bytes, topic: str = "heartbeats") -> Any:
    """Return what the engine reads; nothing in it may be unknown."""
    ignored: dict[str, int] = {}
    record = decode(topic, raw(topic, value), LIMITS, ignored)
    assert ignored == {}
    return record


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"zone": "zone-a", "capacity": 3, "ordered": True},
        {"consume_from": "timestamp", "consume_timestamp_ms": 1780999000000},
        {"lease_ms": 600_000},
    ],
)
def test_a_heartbeat_is_read_whole(settings: dict[str, Any]) -> None:
    """A heartbeat is read with all that its client's settings say."""
    action = SendHeartbeat(
        INCARNATION, 2, 17, 0, (Subscription("orders", tags=("a",), sub_version=5),), None, "0" * 16
    )
    beat = _decoded(_encoder(**settings).heartbeat(action))
    assert isinstance(beat, core.Heartbeat)
    assert (beat.group, beat.member) == ("orders", MEMBER)
    assert (beat.process.start_ms, beat.process.uuid) == (PROCESS.start_ms, PROCESS.uuid)
    assert (beat.incarnations, beat.sequence, beat.generation, beat.applied) == (2, 17, 0, None)
    assert [(entry.topic, entry.tags) for entry in beat.subscriptions] == [("orders", ("a",))]
    for name, value in settings.items():
        assert getattr(beat.profile, name) == value


def test_a_heartbeat_that_asks_for_a_decision() -> None:
    """It says so; no other says anything of it."""
    action = SendHeartbeat(INCARNATION, 2, 17, 0, (Subscription("orders"),), None, "0" * 16)
    assert b"decide" not in _encoder().heartbeat(action)
    assert _decoded(_encoder().heartbeat(replace(action, decide=True))).decide is True


def test_work_records_are_read_as_meant() -> None:
    """Progress, claims, release and leave are read as they were meant."""
    encoder, queue = _encoder(), MessageQueue(*QUEUE)
    [progress] = encoder.progress(SendProgress(INCARNATION, (Progress(QUEUE, EPOCH, POSITION),)))
    entry = core.QueueProgress(queue, EPOCH, POSITION)  # type: ignore[arg-type]
    assert _decoded(progress) == core.Progress("orders", MEMBER, (entry,))
    told = Progress(QUEUE, EPOCH, POSITION, 9_200, idle_ms=121_000)
    [progress] = encoder.progress(SendProgress(INCARNATION, (told,)))
    assert _decoded(progress).queues[0].end == 9_200
    assert _decoded(progress).queues[0].idle_ms == 121_000
    claim = Claim(QUEUE, EPOCH, POSITION, "final")
    [claims] = encoder.claims(SendClaims(INCARNATION, 4, (claim,)))
    expected = core.Claim(queue, EPOCH, POSITION, running=False)  # type: ignore[arg-type]
    assert _decoded(claims) == core.Claims("orders", MEMBER, 4, 0, 1, (expected,))
    for position in (POSITION, None):
        release = encoder.release(SendRelease(INCARNATION, QUEUE, EPOCH, position))
        released = core.Release("orders", MEMBER, queue, EPOCH, position)  # type: ignore[arg-type]
        assert _decoded(release, "releases") == released
    leaving = SendRelease(INCARNATION, QUEUE, EPOCH, POSITION, EPOCH)
    assert _decoded(encoder.release(leaving), "releases").last_started == EPOCH
    leave = encoder.leave(SendLeave(INCARNATION, 18, EPOCH))
    assert _decoded(leave) == core.Leave("orders", MEMBER, 18, EPOCH)  # type: ignore[arg-type]


def test_records_of_many_queues_are_accepted() -> None:
    """Progress and claims of thousands of queues come in records that the engine takes."""
    queues = [Queue("t" * 249, "b" * 249, number) for number in range(1_000)]
    claims = tuple(Claim(queue, EPOCH, POSITION, "running") for queue in queues)
    parts = [_decoded(part) for part in _encoder().claims(SendClaims(INCARNATION, 4, claims))]
    assert [part.part for part in parts] == list(range(parts[0].parts))
    assert [claim.queue.queue_id for part in parts for claim in part.queues] == list(range(1_000))
    made = tuple(Progress(queue, EPOCH, POSITION) for queue in queues)
    records = [_decoded(one) for one in _encoder().progress(SendProgress(INCARNATION, made))]
    assert [entry.queue.queue_id for one in records for entry in one.queues] == list(range(1_000))


def test_assignments_and_notices_are_read_whole() -> None:
    """An assignment and a notice are found by their key and partition, and read whole."""
    for output, kind in ((ASSIGNMENT, Assignment), (NOTICE, Notice)):
        [record] = encode(output, TopicNames(), Partitions(4, 64))
        assert record.value is not None
        assert record.key is not None
        assert record.partition == partition_of("orders" + MEMBER.client_id, 64)
        assert decode_key(record.key) == ("orders", MEMBER.client_id)
        told = decode_assignment(record.value)
        assert isinstance(told, kind)
        assert (told.client_id, told.incarnation, told.generation) == (*MEMBER, 3)
        if isinstance(told, Assignment):
            assert [entry.state for entry in told.assigned] == ["held", "draining", "gated"]
            [add] = told.add
            assert (add.queue, add.epoch, add.position) == (QUEUE, (3, 41), POSITION)
