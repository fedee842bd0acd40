"""A push consumer whose broker of RocketMQ is killed while it works, with the engine by hand."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer

from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import RocketMQTopic

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.slow, pytest.mark.timeout(480)]
WAIT = 60.0


@pytest.fixture(params=["5.3.3", "4.9.7"])
def fragile(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["EmbeddedRocketMQ"]:
    """A broker to be killed."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

    cluster = EmbeddedRocketMQ(tmp_path, version=request.param)
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


def test_it_goes_on_where_it_stood(
    engine: "ScriptedEngine", member: Callable[..., Any], fragile: "EmbeddedRocketMQ"
) -> None:
    """Each message is handled once; the client keeps its queue, says why it waits, and commits."""
    topic = RocketMQTopic(fragile, "orders")
    queue = topic.queues[0]
    handled: SimpleQueue[Message] = SimpleQueue()

    def listener(batch: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in batch:
            handled.put(message)
        return ConsumeResult.CONSUME_SUCCESS

    one = member(
        PushConsumer,
        "a",
        listener=listener,
        data_plane="rocketmq",
        namesrv=topic.namesrv,
        topics=[topic.name],
        commit_ms=500,
    )
    engine.grant(engine.heartbeat("a"), queue, 1)
    topic.send(queue, [b"before"] * 60)
    found = Counter(handled.get(timeout=WAIT).offset for _ in range(60))
    fragile.kill("broker-a")
    address = fragile.address("broker-a")
    await_seen(lambda: str(one.last_error), lambda said: address in said, what="the error")
    assert one.assigned == {queue: one.still_mine(queue)}
    fragile.restart("broker-a")
    topic.send(queue, [b"after"] * 60)
    found += Counter(handled.get(timeout=WAIT).offset for _ in range(60))
    assert found == Counter(range(120))
    group = topic.offsets(engine.group)
    await_seen(lambda: group.committed(queue), lambda at: at == 120, what="a commit of all")
    topic.close()
