"""Looks at an interval, on a thread of their own."""

import contextlib
from collections.abc import Iterator

from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.native.cluster_look import NativeReader
from fairlead.native.native_poller import NativePoller
from fairlead.native.native_sources import NativeSource
from fairlead.native.native_view import NativeView
from fairlead.native.rocketmq_groups import RocketmqGroups
from fairlead.rocketmq.name_servers import NameServers
from tests.kit.awaiting import await_seen
from tests.kit.remoting_server import serving
from tests.native.scripted_cluster import ScriptedCluster


def test_a_cluster_that_refuses_is_looked_at_again() -> None:
    """What was seen before stays meanwhile, with the reason."""
    cluster = ScriptedCluster()

    @contextlib.contextmanager
    def reading() -> Iterator[NativeReader]:
        with Connections(ConnectionSettings(connect_s=0.5)) as connections:
            servers = NameServers(connections, (cluster.address,), timeout_s=0.5)
            yield RocketmqGroups(connections, servers, answer_s=0.5, client_s=0.1, sparing=True)

    view = NativeView([("rocketmq", "somewhere")])
    poller = NativePoller(
        view, [NativeSource("rocketmq", "somewhere", reading)], lambda _: True, interval_ms=20
    )
    with serving(cluster.serve) as address, contextlib.ExitStack() as ending:
        cluster.address = address
        poller.start()
        ending.callback(poller.stop)
        await_seen(view.groups, bool, what="the group")
        cluster.login = Credentials("nobody", "has this one")
        (away,) = await_seen(view.sources, lambda seen: bool(seen[0].trouble), what="the trouble")
        assert "no name server answers" in away.trouble
        assert "no such login" in away.trouble
        assert [each.observed.look.group for each in view.groups()] == ["g"]
        cluster.login = None
        await_seen(view.sources, lambda seen: not seen[0].trouble, what="the cluster is back")
