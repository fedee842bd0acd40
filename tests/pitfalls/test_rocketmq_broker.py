"""What the model's broker knows, tells and locks, as RocketMQ's does."""

from fairlead_proof.pitfalls.rocketmq.broker import Broker
from fairlead_proof.pitfalls.rocketmq.queue_locks import QueueLocks
from fairlead_proof.pitfalls.rocketmq.times import RELEASE_4_9

from fairlead.core.model import MessageQueue

Q = MessageQueue("orders", "broker-a", 0)


def _broker() -> tuple[Broker, list[str]]:
    told: list[str] = []
    return Broker("broker-a", RELEASE_4_9, lambda _, process: told.append(process)), told


def test_every_connection_has_a_place() -> None:
    """The list is in the order of connections, with doubles; a group without any is none."""
    broker, _ = _broker()
    assert broker.client_ids is None
    for process, client_id in (("x", "c2"), ("y", "c1"), ("z", "c1")):
        broker.heartbeat(process, client_id, 0)
    assert broker.client_ids == ["c2", "c1", "c1"]


def test_a_new_connection_is_told_to_all_and_a_known_one_to_nobody() -> None:
    """The second heartbeat of a connection notifies nobody."""
    broker, told = _broker()
    broker.heartbeat("x", "c1", 0)
    broker.heartbeat("y", "c2", 1)
    assert told == ["x", "x", "y"]
    broker.heartbeat("y", "c2", 2)
    assert told == ["x", "x", "y"]


def test_the_scan_tells_nobody() -> None:
    """The broker forgets a connection after 120 s of silence; it announces a close."""
    broker, told = _broker()
    broker.heartbeat("x", "c1", 0)
    broker.heartbeat("y", "c2", 100_000)
    told.clear()
    broker.scan(120_000)
    assert broker.client_ids == ["c1", "c2"]
    broker.scan(120_001)
    assert (broker.client_ids, told) == (["c2"], [])
    broker.heartbeat("x", "c1", 130_000)
    told.clear()
    broker.close("x")
    assert told == ["y"]


def test_locks_are_for_60_s_and_taken_over_after() -> None:
    """A lock is its holder's until it was not renewed for longer than 60 s."""
    locks = QueueLocks(RELEASE_4_9.lock_ms)
    assert locks.lock(Q, "c1", 0)
    assert locks.lock(Q, "c1", 10_000)
    assert not locks.lock(Q, "c2", 70_000)
    assert locks.lock(Q, "c2", 70_001)
    assert not locks.lock(Q, "c1", 70_002)


def test_only_the_holder_unlocks() -> None:
    """A lock that another client gives back stays where it is."""
    locks = QueueLocks(RELEASE_4_9.lock_ms)
    assert locks.lock(Q, "c1", 0)
    locks.unlock(Q, "c2")
    assert not locks.lock(Q, "c2", 1)
    locks.unlock(Q, "c1")
    assert locks.lock(Q, "c2", 2)
