"""Starts, ends and misuse of a client on a real broker; and the README's example, as it stands."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import (
    Client,
    ClientClosedError,
    Consumer,
    Queue,
    StartFailedError,
    UnlistedTransitionError,
)
from fairlead_client.model import Subscription
from fairlead_client.session import events
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)

WAIT_SECONDS = 30


class App:
    """An application of one client; it does what the test sets."""

    def __init__(self, engine: "ScriptedEngine", transport: "Transport", **settings: Any) -> None:
        self.calls: SimpleQueue[str] = SimpleQueue()
        self.when_assigned: Callable[[], None] = lambda: None
        self.may_stop = Event()
        self.may_stop.set()
        self.client = Client(
            **transport.settings(
                **{"group": engine.group, "topics": ["orders"], "client_id": "a", **settings}
            ),
            on_assigned=self._on_assigned,
            on_revoked=self._on_revoked,
        )

    def _on_assigned(self, _queue: Queue, _offset: int) -> None:
        self.when_assigned()
        self.calls.put("assigned")

    def _on_revoked(self, _queue: Queue) -> int | None:
        self.calls.put("revoked")
        assert self.may_stop.wait(WAIT_SECONDS)
        return None


@pytest.fixture
def app(engine: "ScriptedEngine", transport: "Transport") -> Iterator[Callable[..., App]]:
    """Make applications that are closed after the test."""
    made: list[App] = []

    def make(**settings: Any) -> App:
        made.append(App(engine, transport, **settings))
        return made[-1]

    yield make
    for one in made:
        one.may_stop.set()
        one.client.close(5_000)


QUEUE = Queue("orders", "main", 1)


@BOTH
def test_a_with_block_starts_leaves_and_closes(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """A with block starts, leaves and closes; wait() then says so."""
    with app().client as client:
        assert not client.wait(0)
        assert repr(client) == "<Client a of orders: running>"
    engine.await_record("leave")
    assert client.wait()


@BOTH
def test_a_changed_subscription_is_sent_at_once(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """A changed subscription is in a heartbeat at once; a closed client takes none."""
    client = app().client
    with pytest.raises(ClientClosedError):
        client.subscribe(["payments"])
    client.start()
    client.subscribe(["payments"])
    beat = engine.await_record(
        "heartbeat", lambda record: record["subscriptions"][0]["topic"] == "payments"
    )
    assert beat["subscriptions"][0]["sub_version"] > beat["process"]["start_ms"]
    # At most the one under way comes before it.
    assert [record for record in engine.read if record["kind"] == "heartbeat"].index(beat) <= 2


def test_subscribe_after_the_clock_was_set_back(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """A subscription is newer than the one before it, whatever the clock says."""
    client = app().client
    client.start()
    ahead = 9_000_000_000_000
    client.subscribe([Subscription("payments", sub_version=ahead), Subscription("orders")])
    client.subscribe(["payments"])
    beat = engine.await_record(
        "heartbeat",
        lambda record: all(entry["topic"] != "orders" for entry in record["subscriptions"]),
    )
    versions = {entry["topic"]: entry["sub_version"] for entry in beat["subscriptions"]}
    assert versions["payments"] == ahead + 1


@BOTH
def test_close_in_a_callback(engine: "ScriptedEngine", app: Callable[..., App]) -> None:
    """A callback may close the client: it returns at once, and the client leaves."""
    one = app()
    one.when_assigned = one.client.close
    one.client.start()
    engine.grant(engine.heartbeat("a"), QUEUE, 1)
    assert one.client.wait(WAIT_SECONDS * 1_000)
    assert [one.calls.get(), one.calls.get()] == ["assigned", "revoked"]
    engine.release(QUEUE, 1)
    engine.await_record("leave")


@BOTH
def test_close_gives_up_a_hanging_application(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """close() with a time limit ends without the release of an application that hangs."""
    one = app()
    one.client.start()
    engine.grant(engine.heartbeat("a"), QUEUE, 1)
    assert one.calls.get(timeout=WAIT_SECONDS) == "assigned"
    one.may_stop.clear()
    one.client.close(300)
    assert (one.client.state, one.client.still_mine(QUEUE)) == ("closed", None)
    assert not [record for record in engine.read if record["kind"] == "release"]


def test_a_bug_in_the_session_ends_the_client(
    engine: "ScriptedEngine", app: Callable[..., App]
) -> None:
    """A bug in the session ends the client: the application is stopped, and told what it was."""
    one = app()
    one.client.start()
    engine.grant(engine.heartbeat("a"), QUEUE, 1)
    assert one.calls.get(timeout=WAIT_SECONDS) == "assigned"
    assert one.client._thread is not None  # noqa: SLF001 - what cannot happen must be made to
    one.client._thread.report(events.Started("again", 1))  # noqa: SLF001
    assert one.calls.get(timeout=WAIT_SECONDS) == "revoked"
    with pytest.raises(UnlistedTransitionError):
        one.client.wait(WAIT_SECONDS * 1_000)
    assert isinstance(one.client.last_error, UnlistedTransitionError)


def test_a_start_without_the_heartbeat_topic_fails_in_time(
    bootstrap: str, topic_prefix: str, app: Callable[..., App]
) -> None:
    """Without a topic to heartbeat on the start fails in time, though the others are there."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    prefix = f"half-{topic_prefix}"
    admin.create_topics(
        [
            NewTopic(name=f"{prefix}{name}", num_partitions=1, replication_factor=1)
            for name in ("assignments", "handovers", "generations")
        ]
    )
    admin.close()
    one = app(prefix=prefix, start_timeout_ms=2_500)
    with pytest.raises(StartFailedError):
        one.client.start()
    assert one.client.last_error is not None
    with pytest.raises(ClientClosedError):
        one.client.start()


def test_failed_start_leaves_nothing(
    bootstrap: str, topic_prefix: str, app: Callable[..., App]
) -> None:
    """After a start that failed no thread and no connection of the client is left."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    prefix = f"mute-{topic_prefix}"
    admin.create_topics(
        [
            NewTopic(name=f"{prefix}{name}", num_partitions=1, replication_factor=1)
            for name in ("heartbeats", "releases", "handovers")
        ]
    )
    admin.close()
    one = app(prefix=prefix, client_id="left-over", start_timeout_ms=2_500)
    with pytest.raises(StartFailedError):
        one.client.start()
    deadline = time.monotonic() + WAIT_SECONDS
    while left := [thread.name for thread in enumerate_threads() if "left-over" in thread.name]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def test_consumer_before_its_start(engine: "ScriptedEngine") -> None:
    """A consumer that was not started hands out nothing, and says what to do."""
    consumer = Consumer(
        bootstrap=engine.bootstrap, prefix=engine.prefix, group="orders", topics=["orders"]
    )
    with pytest.raises(ClientClosedError, match="use `with`, or start"):
        consumer.poll(0)


class Reader:
    """What an application reads a queue with, in the README's example."""

    def __init__(self, queue: Queue, offset: int, processed: Callable[[Queue, int], bool]) -> None:
        assert processed(queue, offset + 2)
        self.offset = offset + 2

    def stop(self) -> int:
        """Finish the message in hand."""
        return self.offset + 1


def test_the_example_of_the_readme_runs_as_it_stands(engine: "ScriptedEngine") -> None:
    """The README's example with callbacks runs as it stands, but for the address, in 15 lines."""
    page = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    example = next(
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Client(" in block
    )
    lines = [line for line in example.splitlines() if line.strip()]
    assert len(lines) <= 15
    address = f'bootstrap="{engine.bootstrap}", prefix="{engine.prefix}", client_id="a"'
    example = example.replace('bootstrap="localhost:9092"', address)
    names: dict[str, Any] = {"Reader": Reader}
    thread = Thread(target=exec, args=(compile(example, "README.md", "exec"), names))
    thread.start()
    engine.grant(engine.heartbeat("a"), QUEUE, 1)
    engine.await_record("progress", lambda record: record["queues"][0]["position"] == [0, 2])
    names["client"].close()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()
    assert engine.release(QUEUE, 1)["position"] == [0, 3]
