"""Asks the name servers, through the remoting protocol, which brokers are in service."""

from typing import Any

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
    table = _broker_table(address)
    return None if table is None else frozenset(map(str, table))


def _broker_table(address: str) -> dict[str, Any] | None:
    try:
        connection = Connection(address, _SETTINGS)
    except RemotingError:
        return None
    try:
        answer = connection.call(Command(RequestCode.GET_BROKER_CLUSTER_INFO))
        return dict(read_fastjson(answer.body)["brokerAddrTable"])
    except (RemotingError, DialectError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def in_service(plan: ClusterPlan, server: ServerState) -> bool:
    """Tell whether a server answers, and a broker is known to every name server that runs."""
    if not server.is_running:
        return False
    if server.role == "name_server":
        return _broker_table(server.address) is not None
    seen = [_broker_table(each.address) for each in plan.name_servers if each.is_running]
    known = bool(seen) and all(server.address in _addresses(each or {}) for each in seen)
    return known and is_listening(server.port)


def _addresses(table: dict[str, Any]) -> set[str]:
    return {str(at) for broker in table.values() for at in broker["brokerAddrs"].values()}
