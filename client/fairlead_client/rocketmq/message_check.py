"""What RocketMQ takes of a message, checked before the first attempt (Validators, MessageConst)."""

import re
from typing import Final

from fairlead_client.produce.outgoing import MessageError, OutgoingMessage
from fairlead_client.rocketmq.message_properties import (
    DELAY,
    KEYS,
    TAGS,
    UNIQUE_KEY,
    WAIT,
    properties_bytes,
)

__all__ = ["check_for_rocketmq", "properties_of"]

_TOPIC: Final = re.compile(r"[%|a-zA-Z0-9_-]{1,127}")
_OTHERWISE: Final = {KEYS: "give key=", TAGS: "give tag=", DELAY: "give delay_level="}
_RESERVED: Final = frozenset(
    {
        *("TRACE_ON", "MSG_REGION", KEYS, TAGS, WAIT, DELAY, "RETRY_TOPIC", "REAL_TOPIC"),
        *("REAL_QID", "TRAN_MSG", "PGROUP", "MIN_OFFSET", "MAX_OFFSET", "BUYER_ID"),
        *("ORIGIN_MESSAGE_ID", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG", "RECONSUME_TIME"),
        *(UNIQUE_KEY, "MAX_RECONSUME_TIMES", "CONSUME_START_TIME", "POP_CK", "POP_CK_OFFSET"),
        *("1ST_POP_TIME", "INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET", "INNER_NUM"),
        *("EXTEND_UNIQ_INFO", "CLUSTER", "INSTANCE_ID", "CORRELATION_ID", "TTL", "ARRIVE_TIME"),
        *("REPLY_TO_CLIENT", "PUSH_REPLY_TIME", "MSG_TYPE", "__STARTDELIVERTIME"),
    }
)
"""The properties that brokers give a meaning (MessageConst.STRING_HASH_SET).

Those of 5.x for a time of delivery (TIMER_DELIVER_MS, TIMER_DELAY_SEC, TIMER_DELAY_MS) and for the
sharding key of a proxy are an application's to set.
"""


def check_for_rocketmq(message: OutgoingMessage) -> None:
    """Check that RocketMQ can keep a message with all its parts.

    Raises:
        MessageError: its topic's name, its delay level, its key or a header is impossible there.
    """
    if not _TOPIC.fullmatch(message.topic):
        problem = f"{message.topic!r} is not a topic of RocketMQ"
        raise MessageError("topic", problem, "give 1-127 characters of A-Za-z0-9_%|-")
    level: object = message.delay_level
    if level is not None and (type(level) is not int or level < 1):
        remedy = "give 1 or more, such as 3 for 10 s, or leave it out"
        raise MessageError("delay_level", f"{level!r} is no delay level", remedy)
    names = set()
    for name, value in message.headers:
        if name in names:
            problem = f"{name} is there twice, and RocketMQ keeps one of a name"
            raise MessageError("headers", problem, "join the values, or take another name")
        names.add(name)
        if not value:
            problem = f"{name} has no value, and RocketMQ forgets such a property"
            raise MessageError("headers", problem, "leave it out, or give it a value")
        if name in _RESERVED:
            remedy = _OTHERWISE.get(name, "take another name")
            raise MessageError("headers", f"{name} is a property of RocketMQ's own", remedy)
    properties_bytes(properties_of(message))


def properties_of(message: OutgoingMessage) -> dict[str, str]:
    """Return the properties that keep a message's headers, tag, key and delay.

    Raises:
        MessageError: one of them is no UTF-8, as RocketMQ's properties are.
    """
    found = {}
    for name, value in message.headers:
        found[name] = _text("headers", value, f"the value of {name}")
    if message.key is not None:
        found[KEYS] = _text("key", message.key, "it")
    if message.tag is not None:
        found[TAGS] = message.tag
    if message.delay_level is not None:
        found[DELAY] = str(message.delay_level)
    return found


def _text(field: str, value: bytes, which: str) -> str:
    try:
        return value.decode()
    except (UnicodeDecodeError, AttributeError):
        remedy = "encode it as UTF-8, or put it into the body"
        raise MessageError(field, f"{which} is no UTF-8, as RocketMQ's are", remedy) from None
