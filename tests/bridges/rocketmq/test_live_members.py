"""The bridge tells whom brokers of both lines list in a group, as they come and go."""

from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.core.outputs import Request
from fairlead.core.standby_records import BrokerMembers
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import route_request
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_heartbeat import join_group
from tests.kit.rocketmq_operator import RocketMQOperator

_BROKERS = ("broker-a", "broker-b")


def test_members_come_and_go(
    ledger: Ledger, bootstrap: str, either: RocketMQOperator, topic: str
) -> None:
    """Each change is a look of its own, and all are of one row."""
    group = f"{topic}-readers"
    either.make(topic, 1, _BROKERS)
    address = either.cluster.address("broker-a")
    bridge = rocketmq_bridge(either.cluster, bootstrap, ledger.names.prefix)

    def listed() -> list[tuple[str, ...]]:
        return [each.members for each in ledger.members[-1].brokers] if ledger.members else []

    with running(bridge), Connections(ConnectionSettings()) as first:
        ledger.ask(route_request(group, topic))
        ledger.await_that(lambda: ledger.routes)
        ledger.ask(Request(group, "members", topic, None, None))
        ledger.await_that(lambda: listed() == [(), ()])
        join_group(first, address, "10.0.0.4@77", group, topic)
        ledger.await_that(lambda: listed() == [("10.0.0.4@77",), ()])
        with Connections(ConnectionSettings()) as second:
            join_group(second, address, "10.0.0.7@41", group, topic)
            ledger.await_that(lambda: listed() == [("10.0.0.4@77", "10.0.0.7@41"), ()])
        # A broker forgets a client whose connection has ended.
        ledger.await_that(lambda: listed() == [("10.0.0.4@77",), ()])
        number = len(ledger.members)
        ledger.await_that(lambda: len(ledger.members) > number)
    looks = ledger.members
    assert all(each.complete for each in looks)
    assert len({each.bridge for each in looks}) == 1
    assert [each.look for each in looks] == sorted({each.look for each in looks})
    assert looks[-1].brokers == (
        BrokerMembers("broker-a", ("10.0.0.4@77",)),
        BrokerMembers("broker-b", ()),
    )
