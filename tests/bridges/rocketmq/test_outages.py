"""Servers of RocketMQ die, freeze and come back: queues keep their owners, nobody has to act."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import structlog

from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from tests.kit.awaiting import await_seen
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_operator import RocketMQOperator

pytestmark = [pytest.mark.broker, pytest.mark.slow]


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRocketMQ]:
    """Two brokers and two name servers of 4.9.7, to break."""
    folder = tmp_path_factory.mktemp("rocketmq")
    cluster = EmbeddedRocketMQ(folder, version="4.9.7", brokers=2, name_servers=2)
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


@pytest.fixture
def mended(fragile: EmbeddedRocketMQ) -> Iterator[EmbeddedRocketMQ]:
    """The same, in service."""
    for server in fragile.servers:
        if not fragile.is_running(server):
            fragile.restart(server)
    yield fragile
    for server in fragile.servers:
        fragile.resume(server)


@pytest.fixture
def topic(topic: str, mended: EmbeddedRocketMQ) -> Iterator[str]:
    """A topic of one queue on broker-a: three messages, and the group g has read two."""
    operator = RocketMQOperator(mended)
    queue = MessageQueue(topic, "broker-a", 0)
    operator.make(topic, 1, ["broker-a"])
    operator.send(queue, 3)
    operator.make_group("g", ["broker-a"])
    operator.commit("g", queue, 2)
    yield topic
    operator.close()


def _lines(lines: Sequence[Mapping[str, Any]], event: str) -> list[Mapping[str, Any]]:
    return [each for each in list(lines) if each["event"] == event]


@pytest.mark.parametrize("breakage", ["kill", "pause"])
def test_a_broker_is_away_and_comes_back(
    ledger: Ledger, bootstrap: str, mended: EmbeddedRocketMQ, topic: str, breakage: str
) -> None:
    """Its topics keep queues and lives; others are answered meanwhile, it when it is back."""
    other = f"{topic}-other"
    operator = RocketMQOperator(mended)
    operator.make(other, 1, ["broker-b"])
    bridge = rocketmq_bridge(mended, bootstrap, ledger.names.prefix, topic, other)
    with structlog.testing.capture_logs() as lines, running(bridge):
        ledger.await_that(lambda: {each.topic for each in ledger.routes} == {topic, other})
        getattr(mended, breakage)("broker-a")
        if breakage == "pause":
            # Name servers forget a dead one at once, so that nobody may ask it any more.
            await_seen(lambda: _lines(lines, "server_silent"), what="the broker is left out")
        ledger.ask(Request("g", "offsets", topic, None, None))
        ledger.ask(Request("g", "offsets", other, None, None))
        ledger.await_that(lambda: [each.topic for each in ledger.offsets] == [other])
        looks = bridge.figures.looks
        ledger.await_that(lambda: bridge.figures.looks > looks + 5)
        assert bridge.figures.verdict().ready
        mended.restart("broker-a") if breakage == "kill" else mended.resume("broker-a")
        # A bridge gives a request up after half a minute, and the engine repeats it sooner.
        ledger.ask(Request("g", "offsets", topic, None, None))
        ledger.await_that(lambda: topic in [each.topic for each in ledger.offsets])
        if _lines(lines, "server_silent"):
            await_seen(lambda: _lines(lines, "server_answers"), what="the broker is asked again")
    operator.close()
    assert ledger.offsets[-1].queues[0].max_offset == 3
    assert len(ledger.routes) == 2


def test_a_name_server_is_away(
    ledger: Ledger, bootstrap: str, mended: EmbeddedRocketMQ, topic: str
) -> None:
    """The other one tells what is new; without any the bridge says so, and goes on by itself."""
    later = f"{topic}-later"
    operator = RocketMQOperator(mended)
    bridge = rocketmq_bridge(mended, bootstrap, ledger.names.prefix, topic, later)
    with structlog.testing.capture_logs() as lines, running(bridge):
        ledger.await_that(lambda: [each.topic for each in ledger.routes] == [topic])
        mended.pause("namesrv-1")
        await_seen(lambda: _lines(lines, "server_silent"), what="the name server is left out")
        operator.make(later, 1, ["broker-b"])
        ledger.await_that(lambda: [each.topic for each in ledger.routes] == [topic, later])
        mended.kill("namesrv-2")
        failed = bridge.figures.failed_looks
        ledger.await_that(lambda: bridge.figures.failed_looks > failed + 3)
        mended.resume("namesrv-1")
        mended.restart("namesrv-2")
        looks = bridge.figures.looks
        ledger.await_that(lambda: bridge.figures.looks > looks + 5)
        ledger.ask(Request("g", "offsets", topic, None, None))
        ledger.await_that(lambda: len(ledger.offsets) == 1)
    operator.close()
    assert len(ledger.routes) == 2
