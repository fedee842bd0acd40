"""Routes from name servers that the test leads."""

import pytest
from fairlead_client.errors import RouteError
from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from tests.kit.remoting_server import response, serving


def _broken(command: Command) -> list[Command]:
    return [response(command, b'{"queueDatas":7}')]


def _works(command: Command) -> list[Command]:
    return [response(command, b'{"queueDatas":[],"brokerDatas":[]}')]


def _knows_nothing(command: Command) -> list[Command]:
    return [response(command, code=ResponseCode.TOPIC_NOT_EXIST)]


def test_a_broken_name_server_is_passed_over() -> None:
    """Another one has the route; and one that cannot be read proves no absence."""
    with serving(_broken) as broken, serving(_works) as works, serving(_knows_nothing) as none:
        for namesrv in (f"{broken};{works}", f"{broken};{none};{works}"):
            brokers = Brokers(rocketmq_settings(namesrv, {}))
            assert brokers.route("orders") is not None
            brokers.close()
        for namesrv in (broken, f"{broken};{none}", f"{none};{broken}"):
            brokers = Brokers(rocketmq_settings(namesrv, {}))
            with pytest.raises(RouteError):
                brokers.route("orders")
            brokers.close()
