"""Consumers while a broker is away: what it stores comes later, or from its slave at once."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from fairlead_client import Queue, Subscription
from fairlead_client.errors import FairleadClientError
from fairlead_client.model import Epoch, Position, Progress
from fairlead_client.rocketmq.queue_offsets import RocketMQOffsetStore
from fairlead_client.rocketmq.rocketmq_source import RocketMQSource
from fairlead_client.settings.client_settings import Settings

from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import RocketMQTopic

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.slow, pytest.mark.broker, pytest.mark.timeout(480)]
WAIT = 60.0
COUNT = 100


@pytest.fixture(params=["4.9.7", "5.3.3"])
def replicated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["EmbeddedRocketMQ"]:
    """A master and its slave."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ, ServerExtras

    slave = ServerExtras({"brokerName": "broker-a", "brokerId": "1", "brokerRole": "SLAVE"})
    cluster = EmbeddedRocketMQ(
        tmp_path,
        version=request.param,
        brokers=2,
        # Without it a slave of 5.x refuses every pull.
        properties={"slaveReadEnable": "true"},
        extras={"broker-b": slave},
    )
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


class Reader:
    """A source and a store of one group on one queue, and all that has come so far."""

    def __init__(self, topic: RocketMQTopic, queue: Queue) -> None:
        settings = Settings(
            bootstrap="unused:1",
            group="readers",
            topics=[Subscription(topic.name)],
            data_plane="rocketmq",
            namesrv=topic.namesrv,
            # A long poll of a frozen broker would wait for its end.
            rocketmq={"suspend_ms": 1_000},
        )
        self._source = RocketMQSource(settings)
        self._source.connect()
        self._source.follow([queue])
        self._store = RocketMQOffsetStore(settings.rocketmq_settings, "readers")
        self._queue = queue
        self.found: list[bytes | None] = []
        self.errors: list[str] = []

    def read_to(self, count: int) -> None:
        """Read until so many messages have come."""
        deadline = monotonic() + WAIT
        at = len(self.found)
        while at < count:
            assert monotonic() < deadline, f"it stands still at {at}: {self.errors[-1:]}"
            result = self._source.pull({self._queue: at}, 200).get(self._queue)
            if result is None:
                continue
            if result.error is not None:
                self.errors.append(str(result.error))
                continue
            self.found += [each.value for each in result.records]
            at = result.next_offset

    def look_for_an_error(self) -> str | None:
        """Pull once; return what is wrong with the queue, or None."""
        at = len(self.found)
        result = self._source.pull({self._queue: at}, 200).get(self._queue)
        assert result is None or not result.records
        return None if result is None or result.error is None else str(result.error)

    def commit(self) -> None:
        """Commit the position behind what has come."""
        progress = Progress(self._queue, Epoch(1, 1), Position(0, len(self.found)))
        self._store.commit({self._queue: progress}, 3_000)

    def close(self) -> None:
        """Close the connections."""
        self._source.close()
        self._store.close()


def test_a_slave_is_read_while_its_master_is_away(replicated: "EmbeddedRocketMQ") -> None:
    """A killed master's messages come from its slave, commits wait, and nothing is missed."""
    topic = RocketMQTopic(replicated, "orders", brokers=["broker-a"])
    queue = topic.queues[0]
    wanted = [b"%d" % number for number in range(COUNT)]
    topic.send(queue, wanted[:50])
    reader = Reader(topic, queue)
    reader.read_to(30)
    reader.commit()
    topic.send(queue, wanted[50:])
    slave = replicated.address("broker-b")
    await_seen(lambda: topic.stored(queue, COUNT - 1, slave), what="all at the slave")
    replicated.kill("broker-a")
    reader.read_to(COUNT)
    assert reader.found == wanted
    with pytest.raises(FairleadClientError):
        reader.commit()
    replicated.restart("broker-a")
    group = topic.offsets("readers")

    def committed() -> int | None:
        try:
            reader.commit()
            found: int | None = group.committed(queue)
        except FairleadClientError:
            return None
        return found

    await_seen(committed, lambda at: at == COUNT, what="a commit at the master")
    topic.send(queue, [b"later"])
    reader.read_to(COUNT + 1)
    reader.close()
    topic.close()


@pytest.fixture(params=["4.9.7", "5.3.3"])
def alone(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["EmbeddedRocketMQ"]:
    """One broker without a slave."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

    cluster = EmbeddedRocketMQ(tmp_path, version=request.param)
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


def test_a_broker_dies_and_a_name_server_restarts(alone: "EmbeddedRocketMQ") -> None:
    """The queue stands still, says why, and goes on where it stood; the commit is still there."""
    topic = RocketMQTopic(alone, "orders")
    queue = topic.queues[0]
    wanted = [b"%d" % number for number in range(COUNT)]
    topic.send(queue, wanted[:50])
    reader = Reader(topic, queue)
    reader.read_to(50)
    reader.commit()
    group = topic.offsets("readers")
    assert group.committed(queue) == 50
    # A broker writes its offsets to its disk every 5 s, and when it stops in order.
    alone.halt("broker-a")
    error = await_seen(reader.look_for_an_error, what="an error of the queue")
    assert alone.address("broker-a") in str(error)
    alone.restart("broker-a")
    assert group.committed(queue) == 50
    alone.restart("namesrv-1")
    alone.pause("broker-a")
    reader.look_for_an_error()
    alone.resume("broker-a")
    topic.send(queue, wanted[50:])
    reader.read_to(COUNT)
    assert reader.found == wanted
    reader.commit()
    assert group.committed(queue) == COUNT
    reader.close()
    topic.close()
