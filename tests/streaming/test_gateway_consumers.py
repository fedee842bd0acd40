"""The real job and bridge: consumers of gateways and of Fairlead's topics share one group."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fairlead_client import Consumer, Message

from fairlead.broker.ports import free_ports
from tests.kit.awaiting import await_seen, child_process, ended
from tests.kit.gateway_server import gateway_serving
from tests.kit.http_caller import Asking
from tests.kit.live_system import BridgedSystem, bridged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

QUEUES, MESSAGES = 4, 30
LEASE_MS, POLL_MS = 4_000, 1_000
BEYOND = 10**9

PROGRAM = """if True:
    from fairlead_client import Consumer

    with Consumer(**{place!r}) as consumer:
        for message in consumer:
            print(message.partition, message.offset, flush=True)
"""


class Place(NamedTuple):
    """The system, and two gateways with one key."""

    system: BridgedSystem
    gateways: list[str]
    serve: Callable[[int], Any]

    def client(self, group: str, *, direct: bool = False) -> dict[str, Any]:
        """Return the settings of a client of a group."""
        given = {**self.system.client, "group": group, "progress_ms": 100}
        if direct:
            return {**given, "lease_ms": LEASE_MS, "heartbeat_ms": POLL_MS}
        del given["prefix"]
        return {**given, "gateway": self.gateways}


@pytest.fixture(scope="module")
def place(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    """One run of job, bridge and gateways for all tests here."""
    folder = tmp_path_factory.mktemp("job")
    key = folder / "key"
    key.write_bytes(os.urandom(32).hex().encode())
    times = {"gateway__lease_ms": LEASE_MS, "gateway__poll_ms": POLL_MS}
    with ExitStack() as stack:
        system = stack.enter_context(
            bridged(spark_of_the_run, kafka.bootstrap, folder, queues=QUEUES, messages=MESSAGES)
        )
        prefix = system.settings.kafka.topic_prefix

        def serve(port: int) -> Any:
            return gateway_serving(
                kafka.bootstrap, prefix, port=port, gateway__key_file=str(key), **times
            )

        gateways = [stack.enter_context(serve(port)) for port in free_ports(2)]
        yield Place(system, gateways, serve)


class Worker:
    """A consumer on a thread, and what it was given."""

    def __init__(self, **settings: Any) -> None:
        self.consumer = Consumer(**settings)
        self.seen: SimpleQueue[tuple[int, int]] = SimpleQueue()
        self._thread = Thread(target=self._work)

    def _work(self) -> None:
        with self.consumer:
            for message in self.consumer:
                self._note(message)

    def _note(self, message: Message) -> None:
        self.seen.put((message.partition, message.offset))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Leave, and wait for the end."""
        self.consumer.stop()
        ended(self._thread)

    def await_queues(self, count: int) -> set[int]:
        """Wait until it owns so many queues; return their numbers."""
        owned = await_seen(
            lambda: self.consumer.assigned, lambda mine: len(mine) == count, what=f"{count} queues"
        )
        return {queue.queue_id for queue in owned}


@contextmanager
def working(**settings: Any) -> Iterator[Worker]:
    """Run a worker while the context is open."""
    worker = Worker(**settings)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()


def taken(*workers: Worker) -> Counter[tuple[int, int]]:
    """Return how often each message was handed out."""
    return Counter(
        worker.seen.get_nowait() for worker in workers for _ in range(worker.seen.qsize())
    )


@pytest.mark.slow  # the demo hands over between both kinds
def test_handed_over_between_both_kinds(place: Place) -> None:
    """Queues go to and fro between a direct client and one of a gateway, each message once."""
    group = "both-kinds"
    with working(**place.client(group, direct=True), client_id="a") as first:
        first.await_queues(QUEUES)
        with working(**place.client(group), client_id="b") as second:
            assert first.await_queues(2) | second.await_queues(2) == set(range(QUEUES))
            first.stop()
            second.await_queues(QUEUES)
            with working(**place.client(group, direct=True), client_id="c") as third:
                assert second.await_queues(2) | third.await_queues(2) == set(range(QUEUES))
                for partition in range(QUEUES):
                    place.system.write(partition, 5)
                everything = QUEUES * (MESSAGES + 5)
                found: Counter[tuple[int, int]] = Counter()

                def all_seen() -> int:
                    found.update(taken(first, second, third))
                    return found.total()

                await_seen(all_seen, lambda count: count >= everything, what="every message")
    assert set(found.values()) == {1}
    assert place.system.broken() == []


@pytest.mark.slow  # the demo and the examples kill clients of gateways too
def test_a_killed_client_is_replaced_after_its_lease(place: Place) -> None:
    """Kill -9 of a client of a gateway: its queues go on at its last progress, none is left out."""
    group = "killed"
    program = PROGRAM.format(place={**place.client(group), "client_id": "a"})
    command = [sys.executable, "-u", "-c", program]
    at_most = {}
    with child_process(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(20):
            partition, offset = map(int, process.stdout.readline().split())
            at_most[partition] = offset
        process.send_signal(signal.SIGKILL)
        said = process.communicate(timeout=60)[0]
    # The kill may have cut the last line off.
    for line in said.splitlines(keepends=True)[: said.count("\n")]:
        partition, offset = map(int, line.split())
        at_most[partition] = offset
    place.system.write(0, 1)
    with working(**place.client(group), client_id="b") as successor:
        successor.await_queues(QUEUES)
        begun: dict[int, int] = {}

        def has_begun() -> bool:
            for partition, offset in taken(successor):
                begun[partition] = min(begun.get(partition, offset), offset)
            return 0 in begun

        await_seen(has_begun, what="message for the successor")
    for partition, offset in begun.items():
        assert offset <= at_most.get(partition, -1) + 1
    assert place.system.broken() == []


def test_a_gateway_goes_and_no_queue_moves(place: Place) -> None:
    """The gateway of a client stops: the client goes on with the other one, under its epochs."""
    (port,) = free_ports(1)
    with ExitStack() as first:
        url = first.enter_context(place.serve(port))
        settings = {**place.client("outlives"), "gateway": [url, *place.gateways]}
        with working(**settings, client_id="a") as worker:
            worker.await_queues(QUEUES)
            before = dict(worker.consumer.assigned)
            first.close()
            place.system.write(0, 1)
            # Longer than a lease: only answers of the other gateway keep the queues.
            thread = worker.consumer._thread  # noqa: SLF001 - the end of the lease
            assert thread is not None
            until_ms = thread.ownership.until_ms
            await_seen(
                lambda: thread.ownership.until_ms,
                lambda now_ms: now_ms > until_ms + LEASE_MS,
                what="renewed lease",
            )
            assert dict(worker.consumer.assigned) == before
            assert "leases_lost" not in worker.consumer.counts


def test_an_invented_position_moves_nobody_past_the_end(place: Place) -> None:
    """Attack C1: a client says 10**9 of its own queues and leaves: the next one misses nothing."""
    group, ask = "beyond", Asking(int(place.gateways[0].rpartition(":")[2]))
    topics = [{"topic": place.system.topic}]
    body = {"client_id": "liar", "topics": topics, "consume_from": "first_offset"}
    joined = ask("POST", f"/v1/groups/{group}/members", body).document
    path, said = f"/v1/sessions/{joined['session']}", {"state": joined["state"], "sequence": 0}
    works: dict[str, dict[str, Any]] = {}

    def polled(**words: Any) -> dict[str, Any]:
        said["sequence"] += 1
        working = [*works.values()]
        asked = {**said, "wait_ms": POLL_MS, "working": working, **words}
        answer: dict[str, Any] = ask("POST", f"{path}/poll", asked).document
        said["state"] = answer["state"]
        for start in answer["start"]:
            name = {key: start[key] for key in ("queue", "epoch")}
            works[str(start["queue"])] = {**name, "position": BEYOND, "end": BEYOND}
        return answer

    await_seen(lambda: polled() and len(works), QUEUES.__eq__, what="every queue", pause=0)
    polled()
    answer = polled(leaving=True)
    assert len(answer["stop"]) == QUEUES
    stopped = [*works.values()]
    ended = ask("DELETE", path, {**said, "sequence": said["sequence"] + 1, "stopped": stopped})
    assert ended.status == 204
    with working(**place.client(group), client_id="b") as successor:
        successor.await_queues(QUEUES)
        place.system.write(0, 1)
        message = await_seen(lambda: taken(successor), lambda found: found, what="message")
        assert all(offset < BEYOND for _, offset in message)
    assert place.system.broken() == []
