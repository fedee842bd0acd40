"""The heartbeat of a consumer of RocketMQ, sent by hand: brokers then list a member."""

import orjson
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections

__all__ = ["join_group"]

_WAIT_S = 20


def join_group(
    connections: Connections, address: str, client_id: str, group: str, topic: str
) -> None:
    """Be a member of a group at one broker, as long as the connection lasts (HeartbeatData)."""
    subscription = {"topic": topic, "subString": "*", "tagsSet": [], "codeSet": [], "subVersion": 1}
    consumer = {
        "groupName": group,
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "subscriptionDataSet": [subscription],
        "unitMode": False,
    }
    beat = {"clientID": client_id, "producerDataSet": [], "consumerDataSet": [consumer]}
    connections.call(address, Command(RequestCode.HEART_BEAT, body=orjson.dumps(beat)), _WAIT_S)
