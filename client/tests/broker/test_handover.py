"""Clients on a real broker, with an engine whose every decision the test makes."""

import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import Client, ClientClosedError, ClientStartedError, Queue
from fairlead_client.model import Epoch, Position
from fairlead_client.transport.partitioner import partition_of
from kafka import KafkaAdminClient

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

WAIT_SECONDS = 30
BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)


class App:
    """An application that notes its callbacks and gives the answers that a test wants."""

    def __init__(
        self,
        engine: "ScriptedEngine",
        client_id: str,
        topic: str,
        transport: "Transport | None" = None,
        **settings: Any,
    ) -> None:
        self.assigned: SimpleQueue[tuple[Queue, int, Epoch | None]] = SimpleQueue()
        self.revoked: SimpleQueue[Queue] = SimpleQueue()
        self.final: int | None = None
        self.may_stop = Event()
        self.may_stop.set()
        place = {"bootstrap": engine.bootstrap, "prefix": engine.prefix, **settings}
        self.client = Client(
            group=engine.group,
            topics=[topic],
            client_id=client_id,
            on_assigned=self._on_assigned,
            on_revoked=self._on_revoked,
            **(place if transport is None else transport.settings(**settings)),
        )

    def _on_assigned(self, queue: Queue, offset: int) -> None:
        self.assigned.put((queue, offset, self.client.still_mine(queue)))

    def _on_revoked(self, queue: Queue) -> int | None:
        self.revoked.put(queue)
        assert self.may_stop.wait(WAIT_SECONDS)
        return self.final


@pytest.fixture
def app(
    engine: "ScriptedEngine", transport: "Transport", data_topic: str
) -> Iterator[Callable[..., App]]:
    """Make started applications that are closed after the test."""
    made: list[App] = []

    def make(client_id: str, **settings: Any) -> App:
        one = App(engine, client_id, data_topic, transport, **settings)
        made.append(one)
        one.client.start()
        return one

    yield make
    for one in made:
        one.may_stop.set()
        one.client.close(5_000)


def test_a_started_client_heartbeats_and_owns_nothing(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """A client that started heartbeats, has acknowledged the generation, and owns nothing."""
    client = app("a").client
    assert (client.state, client.assigned) == ("running", {})
    beat = engine.heartbeat("a")
    assert (beat["generation"], beat["sequence"], beat["digest"]) == (1, 1, "0" * 16)
    claims = engine.await_record("claims")
    assert (claims["generation"], claims["queues"]) == (1, [])
    with pytest.raises(ClientStartedError):
        client.start()


@BOTH
def test_a_queue_is_handed_over_at_its_final_offset(
    engine: "ScriptedEngine",
    app: Callable[..., App],
    data_topic: str,
    committed: Callable[..., Any],
) -> None:
    """A queue goes from one client to the other at the final offset, without the engine's help."""
    queue = Queue(data_topic, "main", 0)
    first, second = app("a"), app("b")
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    engine.grant(beats[0], queue, 1, Position(0, 3))
    assert first.assigned.get(timeout=WAIT_SECONDS) == (queue, 3, (1, 1))
    # The successor knows before the holder: its gate holds.
    engine.grant(beats[1], queue, 2, Position(0, 3), after=((beats[0], 1),))
    assert first.client.processed(queue, 5)
    first.final = 7
    engine.revoke(beats[0], queue, 1, record=2)
    assert second.assigned.get(timeout=WAIT_SECONDS) == (queue, 7, (1, 2))
    assert first.client.still_mine(queue) is None
    assert not first.client.processed(queue, 9)
    assert engine.release(queue, 1)["position"] == [0, 7]
    assert committed(engine.group, data_topic, 0) == (7, '{"v":1,"reset":0}')


def test_groups_in_one_process(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """Clients of two groups under one id know nothing of each other: each has its own queues."""
    bills = type(engine)(engine.bootstrap, engine.prefix, "bills")
    bills.generation = engine.generation
    queue = Queue(data_topic, "main", 0)
    # Both follow one partition, and read each other's records there.
    partitions = KafkaAdminClient(bootstrap_servers=engine.bootstrap)
    (told,) = partitions.describe_topics([f"{engine.prefix}assignments"])
    partitions.close()
    shared = next(
        name
        for name in map(str, range(1_000))
        if len({partition_of(of + name, len(told["partitions"])) for of in ("orders", "bills")}) < 2
    )
    one, other = app(shared), App(bills, shared, data_topic)
    with other.client:
        # One partition may have the records of both.
        first = engine.await_record("heartbeat", lambda record: record["group"] == engine.group)
        second = bills.await_record("heartbeat", lambda record: record["group"] == bills.group)
        bills.grant(second, queue, 1, Position(0, 4))
        assert other.assigned.get(timeout=WAIT_SECONDS) == (queue, 4, (1, 1))
        engine.grant(first, queue, 1, Position(0, 9))
        assert one.assigned.get(timeout=WAIT_SECONDS) == (queue, 9, (1, 1))
        engine.revoke(first, queue, 1, record=2)
        assert engine.release(queue, 1)["position"] == [0, 9]
        one.client.close()
        assert (other.client.state, other.client.assigned) == ("running", {queue: (1, 1)})
        assert other.revoked.empty()
        assert other.assigned.empty()
    bills.close()


@pytest.mark.parametrize("named", [True, False])
def test_handed_to_whom_it_may_concern(
    engine: "ScriptedEngine",
    app: Callable[..., App],
    data_topic: str,
    handed: Callable[[str], dict[str, Any]],
    *,
    named: bool,
) -> None:
    """The release is copied to the successor that the drop named, or else to the group."""
    queue = Queue(data_topic, "main", 0)
    first, second = app("a"), app("b")
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    engine.grant(beats[0], queue, 1)
    first.assigned.get(timeout=WAIT_SECONDS)
    engine.revoke(beats[0], queue, 1, record=2, successor="b" if named else None)
    assert handed("b" if named else "") == engine.release(queue, 1)
    engine.grant(beats[1], queue, 2, after=((beats[0], 1),))
    assert second.assigned.get(timeout=WAIT_SECONDS) == (queue, 0, (1, 2))


@BOTH
def test_a_slow_callback_keeps_its_queue_and_heartbeats(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """While the application stops a queue it still owns it, and heartbeats go on."""
    queue = Queue(data_topic, "main", 0)
    one = app("a", lease_ms=3_000, heartbeat_ms=500)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1)
    one.assigned.get(timeout=WAIT_SECONDS)
    one.may_stop.clear()
    engine.revoke(beat, queue, 1, record=2)
    assert one.revoked.get(timeout=WAIT_SECONDS) == queue
    late = engine.await_record(
        "heartbeat", lambda record: record["sequence"] > beat["sequence"] + 8
    )
    assert late["incarnation"] == beat["incarnation"]
    assert one.client.still_mine(queue) == (1, 1)
    one.may_stop.set()
    assert engine.release(queue, 1)["position"] == [0, 0]


@BOTH
def test_a_hanging_application_loses_its_queue_at_the_drain_deadline(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """After the drain deadline a hanging application's queue is released without it."""
    queue = Queue(data_topic, "main", 0)
    one = app("a", drain_deadline_ms=300)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1)
    one.assigned.get(timeout=WAIT_SECONDS)
    one.client.processed(queue, 4)
    one.may_stop.clear()
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 4]
    assert one.client.still_mine(queue) is None
    assert not one.client.processed(queue, 5)
    assert one.client.counts["forced_releases"] == 1


@BOTH
def test_a_closed_client_has_released_and_left_for_good(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """A closed client has stopped, released and left; it cannot be started again."""
    queue = Queue(data_topic, "main", 0)
    one = app("a")
    engine.grant(engine.heartbeat("a"), queue, 1)
    one.assigned.get(timeout=WAIT_SECONDS)
    one.final = 11
    one.client.close()
    assert (one.client.state, one.client.assigned) == ("closed", {})
    assert engine.release(queue, 1)["position"] == [0, 11]
    leave = engine.await_record("leave")
    # Heartbeats may follow it, until the release is appended.
    before = engine.read[: engine.read.index(leave)]
    assert leave["sequence"] > max(
        record["sequence"] for record in before if record["kind"] == "heartbeat"
    )
    assert one.client.wait(0)
    with pytest.raises(ClientClosedError):
        one.client.start()
    one.client.close()


@BOTH
def test_a_new_generation_is_acknowledged_at_once(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """A new driver's claim is acknowledged at once, with what the client works on."""
    queue = Queue(data_topic, "main", 0)
    one = app("a")
    engine.grant(engine.heartbeat("a"), queue, 1)
    one.assigned.get(timeout=WAIT_SECONDS)
    one.client.processed(queue, 6)
    engine.claim()
    claims = engine.await_record("claims", lambda record: record["generation"] == 2)
    assert claims["queues"] == [
        {"queue": list(queue), "epoch": [1, 1], "position": [0, 6], "state": "running"}
    ]
    assert one.client.still_mine(queue) == (1, 1)


@BOTH
def test_progress_reaches_the_engine_and_the_commits(
    engine: "ScriptedEngine",
    app: Callable[..., App],
    data_topic: str,
    committed: Callable[..., Any],
) -> None:
    """What is processed reaches the engine and Kafka's offsets of the group."""
    queue = Queue(data_topic, "main", 1)
    one = app("a", progress_ms=100, commit_ms=200)
    engine.grant(engine.heartbeat("a"), queue, 1, Position(4, 2))
    one.assigned.get(timeout=WAIT_SECONDS)
    # Committed before the first delivery, because it follows an operator's reset.
    assert committed(engine.group, data_topic, 1) == (2, '{"v":1,"reset":4}')
    one.client.processed(queue, 8, end=11)
    told = engine.await_record("progress", lambda record: record["queues"][0]["position"] == [4, 8])
    assert told["queues"][0]["end"] == 11
    # While the client lives, not only when it gives the queue up.
    deadline = time.monotonic() + WAIT_SECONDS
    while committed(engine.group, data_topic, 1)[0] != 8:
        assert time.monotonic() < deadline
    engine.await_record("heartbeat", lambda record: record["sequence"] > 2)
    one.client.close()
    assert committed(engine.group, data_topic, 1) == (8, '{"v":1,"reset":4}')


def _delete_handovers(engine: "ScriptedEngine") -> None:
    admin = KafkaAdminClient(bootstrap_servers=engine.bootstrap)
    topic = f"{engine.prefix}handovers"
    admin.delete_topics([topic])
    deadline = time.monotonic() + WAIT_SECONDS
    while topic in admin.list_topics():
        assert time.monotonic() < deadline
    admin.close()


def _await_sequence(engine: "ScriptedEngine", least: int) -> None:
    engine.await_record("heartbeat", lambda read: read["sequence"] > least)


def test_no_handovers_hold_nobody_up(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """The topic of handovers is deleted: every release reaches the engine, the lease goes on."""
    one = app("a", lease_ms=3_000, heartbeat_ms=500, commit_offsets=False)
    beat = engine.heartbeat("a")
    queues = [Queue(data_topic, "main", number) for number in range(20)]
    for number, queue in enumerate(queues, 1):
        engine.grant(beat, queue, number)
        one.assigned.get(timeout=WAIT_SECONDS)
    _delete_handovers(engine)
    # The second half when the client's producer has found out.
    for part in (slice(0, 10), slice(10, 20)):
        numbered = list(enumerate(queues, 1))[part]
        for number, queue in numbered:
            engine.revoke(beat, queue, number, record=30 + number, successor="b")
        for number, queue in numbered:
            assert engine.release(queue, number)["incarnation"] == beat["incarnation"]
        newest = max(read["sequence"] for read in engine.read if read["kind"] == "heartbeat")
        _await_sequence(engine, newest + 8)
    assert one.client.state == "running"
    assert "leases_lost" not in one.client.counts
    assert engine.read[-1]["incarnation"] == beat["incarnation"]


def test_without_handovers_the_engine_tells(
    engine: "ScriptedEngine", app: Callable[..., App], data_topic: str
) -> None:
    """Without their topic clients start, hand over to nobody, begin when the engine says so."""
    _delete_handovers(engine)
    queue = Queue(data_topic, "main", 0)
    first, second = app("a"), app("b")
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    engine.grant(beats[0], queue, 1)
    first.assigned.get(timeout=WAIT_SECONDS)
    engine.grant(beats[1], queue, 2, after=((beats[0], 1),))
    engine.revoke(beats[0], queue, 1, record=2, successor="b")
    assert engine.release(queue, 1)["position"] == [0, 0]
    assert second.assigned.empty()
    engine.grant(beats[1], queue, 2)
    assert second.assigned.get(timeout=WAIT_SECONDS) == (queue, 0, (1, 2))
