"""A cluster of RocketMQ that a test leads by hand."""

import threading
from dataclasses import dataclass, field

from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command

from tests.kit.remoting_server import response

__all__ = ["CLIENTS", "ScriptedCluster"]

_KEY = '{"brokerName":"broker-a","queueId":%d,"topic":"orders"}'
CLIENTS = ("answers", "frozen", "silent", "unknown")


@dataclass
class ScriptedCluster:
    """A name server and a broker of 4.x in one: four consumers, a queue that was never committed.

    Attributes:
        address: where it is served; both servers say so.
        asked: the codes of all requests.
        login: who must have signed each request; None: nobody.
        other_broker: the address of a second broker; "": there is none.
        said: what the unknown client says of itself; "": the broker does not know it.
        queues: how many queues the topic has.
        deserted: whether the consumers are gone.
        mute: codes of requests that the login may not send.
    """

    address: str = ""
    asked: list[int] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)
    login: Credentials | None = None
    other_broker: str = ""
    said: str = ""
    queues: int = 2
    deserted: bool = False
    mute: tuple[int, ...] = ()

    def serve(self, asked: Command) -> list[Command]:
        """Answer a request."""
        with self.guard:
            self.asked.append(asked.code)
        if self.login is not None and self.login.signed(asked).fields != asked.fields:
            return [response(asked, code=ResponseCode.SYSTEM_ERROR, remark="no such login")]
        if asked.code in self.mute:
            return [response(asked, code=ResponseCode.NO_PERMISSION)]
        match asked.code:
            case RequestCode.GET_BROKER_CLUSTER_INFO:
                brokers = {"broker-a": self.address, "broker-b": self.other_broker}
                listed = ",".join(
                    f'"{name}":{{"brokerAddrs":{{0:"{at}"}}}}' for name, at in brokers.items() if at
                )
                body = (
                    f'{{"brokerAddrTable":{{{listed}}},'
                    '"clusterAddrTable":{"main":["broker-a","broker-b"]}}'
                )
            case RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG:
                body = '{"subscriptionGroupTable":{"g":{},"CID_RMQ_SYS_TRANS":{}}}'
            case RequestCode.GET_CONSUMER_CONNECTION_LIST if self.deserted:
                return [response(asked, code=ResponseCode.CONSUMER_NOT_ONLINE)]
            case RequestCode.GET_CONSUMER_CONNECTION_LIST:
                listed = ",".join(
                    f'{{"clientId":"{each}","clientAddr":"h:{number}"}}'
                    for number, each in enumerate(CLIENTS)
                )
                body = (
                    f'{{"connectionSet":[{listed}],"messageModel":"CLUSTERING",'
                    '"subscriptionTable":{"orders":{"topic":"orders","subString":"*"}}}'
                )
            case RequestCode.GET_ROUTEINFO_BY_TOPIC:
                body = (
                    '{"queueDatas":[{"brokerName":"broker-a","perm":4,'
                    f'"readQueueNums":{self.queues}}}],"brokerDatas":[]}}'
                )
            case RequestCode.GET_CONSUME_STATS:
                entry = '{"brokerOffset":9,"consumerOffset":0}'
                body = f'{{"offsetTable":{{{_KEY % 0}:{entry},{_KEY % 1}:{entry}}}}}'
            case RequestCode.GET_ALL_CONSUMER_OFFSET:
                body = '{"offsetTable":{"orders@g":{1:0}}}'
            case RequestCode.GET_CONSUMER_RUNNING_INFO:
                return self._running_info(asked)
            case _:
                return [response(asked, code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)]
        return [response(asked, body.encode())]

    def _running_info(self, asked: Command) -> list[Command]:
        match asked.fields["clientId"]:
            case "answers":
                table = f'{{"mqTable":{{{_KEY % 0}:{{"droped":true}},{_KEY % 1}:{{}}}}}}'
                return [response(asked, table.encode())]
            case "frozen":
                return [response(asked, code=ResponseCode.CONSUME_MSG_TIMEOUT)]
            case "silent":
                return []
            case "unknown" if self.said:
                return [response(asked, self.said.encode())]
        return [response(asked, code=ResponseCode.SYSTEM_ERROR, remark="not online")]
