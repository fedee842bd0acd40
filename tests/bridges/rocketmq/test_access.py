"""A cluster of RocketMQ that asks for a login: with one the bridge works, without it says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.connection import ConnectionSettings

from fairlead.bridges.rocketmq.bridge import RocketMQBridge, RocketMQBridgeTimes
from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Request
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from tests.kit.awaiting import await_seen
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.rocketmq_operator import RocketMQOperator

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_ADMIN, _BRIDGE = (
    Credentials("operator", "secret-of-operator"),
    Credentials("fairlead-bridge", "its-secret"),
)
_ACCOUNTS = """accounts:
- accessKey: operator
  secretKey: secret-of-operator
  admin: true
- accessKey: fairlead-bridge
  secretKey: its-secret
  admin: false
  defaultTopicPerm: DENY
  defaultGroupPerm: DENY
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRocketMQ]:
    """One broker of 4.9.7 with ACL 1.0."""
    folder: Path = tmp_path_factory.mktemp("rocketmq")
    accounts = folder / "broker-a" / "conf" / "plain_acl.yml"
    accounts.parent.mkdir(parents=True)
    accounts.write_text(_ACCOUNTS)
    cluster = EmbeddedRocketMQ(folder, version="4.9.7", properties={"aclEnable": "true"})
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


def _bridge(
    cluster: EmbeddedRocketMQ, bootstrap: str, prefix: str, login: Credentials | None
) -> RocketMQBridge:
    return RocketMQBridge(
        control_bootstrap=bootstrap,
        namesrv=cluster.namesrv,
        prefix=prefix,
        times=RocketMQBridgeTimes(poll_ms=200),
        connection=ConnectionSettings(credentials=login),
    )


def test_a_user_without_rights_to_topics_is_enough(
    ledger: Ledger, bootstrap: str, guarded: EmbeddedRocketMQ, topic: str
) -> None:
    """The bridge reads routes, bounds and commits; without a login the offsets wait."""
    queue = MessageQueue(topic, "broker-a", 0)
    operator = RocketMQOperator(guarded, ConnectionSettings(call_s=20, credentials=_ADMIN))
    operator.make(topic, 1, ["broker-a"])
    operator.send(queue, 3)
    operator.make_group("g", ["broker-a"])
    operator.commit("g", queue, 2)
    prefix = ledger.names.prefix
    request = Request("g", "offsets", topic, None, None)
    with (
        structlog.testing.capture_logs() as lines,
        running(_bridge(guarded, bootstrap, prefix, None)),
    ):
        ledger.ask(request)
        await_seen(
            lambda: [each for each in list(lines) if each["event"] == "request_put_off"],
            what="the offsets wait",
        )
    assert ledger.offsets == []
    with running(_bridge(guarded, bootstrap, prefix, _BRIDGE)):
        ledger.ask(request)
        ledger.await_that(lambda: ledger.offsets)
    operator.close()
    (entry,) = ledger.offsets[-1].queues
    assert (entry.max_offset, entry.committed) == (3, Position(0, 2))
