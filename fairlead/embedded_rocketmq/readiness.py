"""Asks the name servers, through the remoting protocol, which brokers are in service."""

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection, ConnectionSettings
from fairlead_client.remoting.fastjson import DialectError, read_fastjson
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.broker.ports import is_listening
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState

__all__ = ["brokers_seen_by", "in_service"]

_SETTINGS = ConnectionSettings(connect_s=2, call_s=5)


def brokers_seen_by(address: str) -> frozenset[str] | None:
    """Return the names of the brokers that are registered at a name server; None: no answer."""
    try:
        connection = Connection(address, _SETTINGS)
    except RemotingError:
        return None
    try:
        answer = connection.call(Command(RequestCode.GET_BROKER_CLUSTER_INFO))
        table = read_fastjson(answer.body)["brokerAddrTable"]
    except (RemotingError, DialectError, KeyError, TypeError):
        return None
    finally:
        connection.close()
    return frozenset(map(str, table))


def in_service(plan: ClusterPlan, server: ServerState) -> bool:
    """Tell whether a server answers, and a broker is known to every name server that runs."""
    if not server.is_running:
        return False
    if server.role == "name_server":
        return brokers_seen_by(server.address) is not None
    seen = [brokers_seen_by(each.address) for each in plan.name_servers if each.is_running]
    known = bool(seen) and all(each is not None and server.name in each for each in seen)
    return known and is_listening(server.port)
