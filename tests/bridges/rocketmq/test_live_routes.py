"""A real topic appears, grows and vanishes in the looks at a real name server."""

import itertools
import uuid

import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.route_look import look_at_routes
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from tests.kit.awaiting import await_seen

pytestmark = pytest.mark.broker

_DELETE_IN_BROKER, _DELETE_IN_NAME_SERVER = 215, 216
"""RequestCode.DELETE_TOPIC_IN_BROKER and DELETE_TOPIC_IN_NAMESRV."""


def test_a_topic_appears_grows_and_vanishes(rocketmq_4: EmbeddedRocketMQ) -> None:
    """Growth keeps the life, and the topic made again under the name has another one."""
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    broker = rocketmq_4.address("broker-a")
    servers = addresses_of(rocketmq_4.namesrv)
    turns, lives = itertools.count(), itertools.count(1)
    book = RocketMQRouteBook("main", confirm_ms=1, new_life=lambda: f"life-{next(lives)}")
    with Connections(ConnectionSettings(call_s=20)) as connections:
        names = NameServers(connections, servers, 20)

        def make(queues: int) -> None:
            fields = {
                "topic": topic,
                "defaultTopic": "TBW102",
                "readQueueNums": str(queues),
                "writeQueueNums": str(queues),
                "perm": "6",
                "topicFilterType": "SINGLE_TAG",
                "topicSysFlag": "0",
                "order": "false",
            }
            connections.call(broker, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields))

        def find() -> Finding:
            look = look_at_routes(topic, names.routes((topic,))[topic], len(servers), "main")
            found = book.find(look, now_ms=next(turns))
            if found.publish is not None:
                book.note(found.publish)
            return found

        def becomes(verdict: Verdict) -> Finding:
            return await_seen(
                find, lambda found: found.verdict is verdict, what=f"the verdict {verdict}"
            )

        assert find().verdict is Verdict.ABSENT
        make(2)
        new = becomes(Verdict.NEW).route
        assert new is not None
        assert (new.identity, new.brokers[0].read_queue_nums) == ("life-1", 2)
        assert new.brokers[0].addresses == {"0": broker}
        make(4)
        grown = becomes(Verdict.CHANGED).route
        assert grown is not None
        assert (grown.identity, grown.brokers[0].read_queue_nums) == ("life-1", 4)
        connections.call(broker, Command(_DELETE_IN_BROKER, {"topic": topic}))
        for server in servers:
            connections.call(server, Command(_DELETE_IN_NAME_SERVER, {"topic": topic}))
        becomes(Verdict.DELETED)
        make(2)
        again = becomes(Verdict.NEW).route
        assert again is not None
        assert again.identity == "life-2"
