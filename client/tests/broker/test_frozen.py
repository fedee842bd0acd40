"""A process that stands still: what it does after SIGCONT, by the length of its sleep in leases."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from fairlead_client import Client, Queue
from fairlead_client.model import Position

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)

WAIT_SECONDS = 30
LEASE_MS = 2_000

PROGRAM = """if True:
    import json, time
    from fairlead_client import Consumer

    with Consumer(**{place!r}) as consumer:
        for message in consumer:
            epoch = consumer.still_mine(message.queue)
            print(json.dumps([message.offset, message.epoch, epoch]), flush=True)
            time.sleep(0.1)
"""


class Frozen:
    """A consumer in a process of its own, which says each message before it works on it."""

    def __init__(self, transport: "Transport", topic: str) -> None:
        times = {"lease_ms": LEASE_MS, "heartbeat_ms": 500, "progress_ms": 50, "commit_ms": 100}
        named = {"group": "orders", "topics": [topic], "client_id": "frozen"}
        program = PROGRAM.format(place=transport.settings(**named, **times))
        self._process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        self._said: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(orjson.loads(line))

    def next(self) -> list[Any]:
        """Return the next message: its offset, its epoch, and what still_mine answered."""
        said: list[Any] = self._said.get(timeout=WAIT_SECONDS)
        return said

    def stand_still(self) -> list[list[Any]]:
        """Stop the process, and return all that it had said before."""
        self._process.send_signal(signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(self._process.pid, os.WUNTRACED)[1])
        said = []
        while True:
            try:
                said.append(self._said.get(timeout=0.2))
            except Empty:
                return said

    def go_on(self) -> None:
        """Let the process run."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate(timeout=WAIT_SECONDS)


@pytest.fixture
def gateway_settings() -> dict[str, Any]:
    """The same times, decided by the gateway."""
    return {"gateway__lease_ms": LEASE_MS, "gateway__poll_ms": 500}


@pytest.fixture
def frozen(engine: "ScriptedEngine", transport: "Transport", data_topic: str) -> Iterator[Frozen]:
    """A process that works on queue 0 of the topic, under epoch (1, 1)."""
    process = Frozen(transport, data_topic)
    try:
        engine.grant(engine.heartbeat("frozen"), Queue(data_topic, "main", 0), 1)
        for offset in range(3):
            assert process.next() == [offset, [1, 1], [1, 1]]
        yield process
    finally:
        process.end()


@pytest.fixture
def successor(engine: "ScriptedEngine", data_topic: str) -> Iterator[Callable[[], Client]]:
    """Make a client that can take a queue over."""
    made: list[Client] = []

    def make() -> Client:
        one = Client(
            bootstrap=engine.bootstrap,
            prefix=engine.prefix,
            group=engine.group,
            topics=[data_topic],
            client_id="b",
            on_assigned=lambda _queue, _offset: None,
            on_revoked=lambda _queue: None,
        )
        one.start()
        made.append(one)
        return one

    yield make
    for one in made:
        one.close(5_000)


@BOTH
def test_a_sleep_of_half_a_lease_ends_nothing(engine: "ScriptedEngine", frozen: Frozen) -> None:
    """A process that slept for less than its lease goes on where it was, in the same life."""
    before = [2, *(offset for offset, _, _ in frozen.stand_still())]
    time.sleep(LEASE_MS / 1_000 / 2 - 0.2)
    frozen.go_on()
    for offset in range(before[-1] + 1, before[-1] + 4):
        assert frozen.next() == [offset, [1, 1], [1, 1]]
    beats = [record for record in engine.read if record["kind"] == "heartbeat"]
    assert len({beat["incarnation"] for beat in beats}) == 1


@BOTH
@pytest.mark.parametrize("leases", [1.5, pytest.param(3.0, marks=pytest.mark.slow)])
def test_longer_than_the_lease(
    engine: "ScriptedEngine",
    frozen: Frozen,
    successor: Callable[[], Client],
    data_topic: str,
    leases: float,
) -> None:
    """One that slept for longer takes nothing more of its old queue, which another has by then."""
    queue = Queue(data_topic, "main", 0)
    slept_from = time.monotonic()
    handed_out = 3 + len(frozen.stand_still())
    beat = engine.heartbeat("frozen")
    other = successor()
    time.sleep(max(0.0, LEASE_MS / 1_000 * leases - (time.monotonic() - slept_from)))
    engine.grant(engine.heartbeat("b"), queue, 2, Position(0, 10))
    engine.applied("b", 2)
    assert other.still_mine(queue) == (1, 2)
    frozen.go_on()
    again = engine.await_record(
        "heartbeat",
        lambda record: (
            record["client_id"] == "frozen" and record["incarnation"] != beat["incarnation"]
        ),
    )
    assert again["digest"] == "0" * 16
    engine.grant(again, Queue(data_topic, "main", 1), 3)
    said = [frozen.next()]
    while said[-1][1] == [1, 1]:
        said.append(frozen.next())
    assert said[-1] == [0, [1, 3], [1, 3]]
    # What may still be said is the message that was handed out when it stopped; it is denied.
    late = said[:-1]
    assert len(late) <= 1
    assert all(mine is None for _, _, mine in late)
    assert other.still_mine(queue) == (1, 2)
    # Its last word of the old life, if it was written, is no further than what it was given.
    for record in engine.read:
        if record["kind"] == "release" and record["incarnation"] == beat["incarnation"]:
            assert record["position"][1] <= handed_out
