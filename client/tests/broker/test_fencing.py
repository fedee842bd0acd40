"""What a client does when the broker, or its own process, stands still longer than its lease."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import (
    Client,
    Consumer,
    ForkedClientError,
    NoticeError,
    Queue,
    StartFailedError,
)
from fairlead_client.model import Position

if TYPE_CHECKING:
    from tests.broker.conftest import Pausable, ScriptedEngine


WAIT_SECONDS = 30
SHORT = {"lease_ms": 2_000, "heartbeat_ms": 500}


@pytest.fixture
def client(engine: "ScriptedEngine", data_topic: str) -> Iterator[Callable[..., Client]]:
    """Make clients that are closed after the test."""
    made: list[Client] = []

    def make(**settings: Any) -> Client:
        one = Client(
            **{
                "bootstrap": engine.bootstrap,
                "prefix": engine.prefix,
                "group": engine.group,
                "topics": [data_topic],
                "client_id": "a",
                "on_assigned": lambda _queue, _offset: None,
                "on_revoked": lambda _queue: None,
                **settings,
            }
        )
        made.append(one)
        return one

    yield make
    for one in made:
        one.close(5_000)


def test_a_client_of_a_silent_broker_stops_and_comes_back_anew(
    kafka: "Pausable",
    engine: "ScriptedEngine",
    client: Callable[..., Client],
    data_topic: str,
) -> None:
    """While the broker is silent the client stops by itself; it comes back as a new incarnation."""
    assigned: SimpleQueue[float] = SimpleQueue()
    revoked: SimpleQueue[float] = SimpleQueue()
    one = client(
        on_assigned=lambda _queue, _offset: assigned.put(time.monotonic()),
        on_revoked=lambda _queue: revoked.put(time.monotonic()),
        **SHORT,
    )
    one.start()
    queue = Queue(data_topic, "main", 0)
    engine.grant(engine.heartbeat("a"), queue, 1, Position(0, 4))
    assigned.get(timeout=WAIT_SECONDS)
    assert one.still_mine(queue) is not None
    kafka.pause()
    try:
        paused_at = time.monotonic()
        stopped_at = revoked.get(timeout=WAIT_SECONDS)
        assert one.still_mine(queue) is None
        # The last heartbeat may have been acknowledged just before the pause.
        assert stopped_at - paused_at < 3.0
    finally:
        kafka.resume()
    beat = engine.heartbeat("a", incarnations=2)
    assert beat["digest"] == "0" * 16
    engine.grant(beat, queue, 2, Position(0, 4))
    assigned.get(timeout=WAIT_SECONDS)
    assert one.still_mine(queue) == (1, 2)


def test_a_client_told_that_it_lapsed_comes_back_anew(
    engine: "ScriptedEngine", client: Callable[..., Client], data_topic: str
) -> None:
    """A client that the engine took for dead stops, and comes back as a new incarnation."""
    revoked: SimpleQueue[Queue] = SimpleQueue()
    assigned: SimpleQueue[Queue] = SimpleQueue()
    one = client(on_assigned=lambda queue, _: assigned.put(queue), on_revoked=revoked.put)
    one.start()
    queue = Queue(data_topic, "main", 0)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1)
    assigned.get(timeout=WAIT_SECONDS)
    engine.notice(beat, "lapsed")
    assert revoked.get(timeout=WAIT_SECONDS) == queue
    again = engine.heartbeat("a", incarnations=2)
    assert again["incarnation"] != beat["incarnation"]
    # Stopped in an orderly way, so the old incarnation's release is true.
    assert engine.release(queue, 1)["incarnation"] == beat["incarnation"]


def test_a_notice_of_a_reject_is_the_last_error(
    engine: "ScriptedEngine", client: Callable[..., Client]
) -> None:
    """A notice of a rejected record is the client's last error, and it goes on."""
    one = client()
    one.start()
    beat = engine.heartbeat("a")
    engine.notice(beat, "rejected")
    engine.grant(beat, Queue("t", "main", 0), 1)
    engine.applied("a", 1)
    assert isinstance(one.last_error, NoticeError)
    assert one.last_error.code == "rejected"
    assert one.state == "running"


def test_a_client_whose_on_assigned_raises_leaves_with_the_error(
    engine: "ScriptedEngine", client: Callable[..., Client], data_topic: str
) -> None:
    """A client whose on_assigned raises leaves, with the error."""
    one = client(on_assigned=lambda _queue, _offset: 1 / 0)
    one.start()
    engine.grant(engine.heartbeat("a"), Queue(data_topic, "main", 0), 1)
    engine.await_record("leave")
    with pytest.raises(Exception, match=r"on_assigned\(.*ZeroDivisionError"):
        one.wait(WAIT_SECONDS * 1_000)


def test_malformed_records_are_skipped_and_the_next_ones_count(
    engine: "ScriptedEngine",
    client: Callable[..., Client],
    data_topic: str,
    write: Callable[..., None],
) -> None:
    """Records that cannot be read are passed over, and the next ones count."""
    assigned: SimpleQueue[Queue] = SimpleQueue()
    one = client(on_assigned=lambda queue, _: assigned.put(queue))
    one.start()
    beat = engine.heartbeat("a")
    key = f'["orders","a","{beat["incarnation"]}",0]'
    for value in (
        b"{",
        b"[]",
        b'{"v":2,"kind":"assignment"}',
        b'{"v":1,"kind":"assignment"}',
        None,
    ):
        write("assignments", "ordersa", key.encode(), value)
        write("handovers", "orders", b"orders", value)
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    assert assigned.get(timeout=WAIT_SECONDS) == queue
    assert one.counts["records_malformed"] >= 5


def test_a_start_without_the_engines_topics_fails_in_time(
    engine: "ScriptedEngine", client: Callable[..., Client]
) -> None:
    """A start without the engine's topics fails in time, and says what is missing."""
    del engine
    one = client(prefix="nowhere.", start_timeout_ms=4_000)
    with pytest.raises(StartFailedError, match=r"topic 'nowhere\.\w+' does not exist"):
        one.start()
    assert one.state == "closed"


@pytest.mark.parametrize("kind", [Client, Consumer])
def test_a_start_without_a_broker_fails_in_time_for_good(
    kind: type[Client] | type[Consumer], client: Callable[..., Client]
) -> None:
    """A start without a broker fails in time, and the client can never be started again."""
    del client
    settings: dict[str, Any] = {
        "bootstrap": "127.0.0.1:1",
        "group": "orders",
        "topics": ["orders"],
        "start_timeout_ms": 500,
        "lease_ms": 1_500,
        "heartbeat_ms": 500,
    }
    if kind is Client:
        settings |= {"on_assigned": lambda _queue, _offset: None, "on_revoked": lambda _queue: None}
    one = kind(**settings)
    with pytest.raises(StartFailedError):
        one.start()
    with pytest.raises(Exception, match="closed; create a new one"):
        one.start()
    one.close()


def test_a_start_waits_for_a_late_broker(
    kafka: "Pausable", engine: "ScriptedEngine", data_topic: str
) -> None:
    """A start goes on trying to connect until its own time is over, not that of one attempt."""
    one = Consumer(
        bootstrap=engine.bootstrap,
        prefix=engine.prefix,
        group=engine.group,
        topics=[data_topic],
        client_id="a",
        start_timeout_ms=WAIT_SECONDS * 1_000,
        lease_ms=SHORT["lease_ms"],
        heartbeat_ms=SHORT["heartbeat_ms"],
    )
    with ThreadPoolExecutor(1) as pool:
        kafka.pause()
        try:
            started = pool.submit(one.start)
            deadline = time.monotonic() + WAIT_SECONDS
            while one.last_error is None and not started.done():
                assert time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            kafka.resume()
        started.result(WAIT_SECONDS)
    engine.heartbeat("a")
    one.close()


def test_a_forked_child_owns_nothing_and_every_call_says_why(
    engine: "ScriptedEngine", client: Callable[..., Client], data_topic: str
) -> None:
    """In a forked child nothing is owned, and every call says why."""
    assigned: SimpleQueue[Queue] = SimpleQueue()
    one = client(on_assigned=lambda queue, _: assigned.put(queue))
    one.start()
    queue = Queue(data_topic, "main", 0)
    engine.grant(engine.heartbeat("a"), queue, 1)
    assigned.get(timeout=WAIT_SECONDS)
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        code = 1
        try:
            one.still_mine(queue)
        except ForkedClientError:
            code = 2 if one.assigned else 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert one.still_mine(queue) == (1, 1)


def test_a_killed_client_is_succeeded_after_its_lease(
    engine: "ScriptedEngine", client: Callable[..., Client], data_topic: str
) -> None:
    """A killed client releases nothing; the engine's grant after its lease lets another go on."""
    queue = Queue(data_topic, "main", 0)
    program = f"""if True:
        from fairlead_client import Consumer
        with Consumer(bootstrap={engine.bootstrap!r}, prefix={engine.prefix!r}, group="orders",
                      topics=[{data_topic!r}], client_id="killed", progress_ms=50) as consumer:
            for message in consumer:
                print(message.offset, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        beat = engine.heartbeat("killed")
        engine.grant(beat, queue, 1)
        known = engine.await_record(
            "progress", lambda record: record["queues"][0]["position"][1] > 0
        )
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=WAIT_SECONDS)
    assigned: SimpleQueue[int] = SimpleQueue()
    one = client(on_assigned=lambda _queue, offset: assigned.put(offset))
    one.start()
    successor = engine.heartbeat("a")
    position = Position(*known["queues"][0]["position"])
    engine.grant(successor, queue, 2, position, after=((beat, 1),))
    engine.applied("a", 2)
    assert one.still_mine(queue) is None
    engine.grant(successor, queue, 2, position)
    assert assigned.get(timeout=WAIT_SECONDS) == position.offset
