"""Reads an ordered topic's configuration, such as `broker-a:8;broker-b:4`.

It follows MQClientInstance#topicRouteData2TopicPublishInfo, with Java's String#split, which drops
empty parts at the end, and Integer#parseInt, which allows a sign and any script's digits.
"""

import unicodedata
from typing import Final

from fairlead_client.errors import RouteError

_FIELD: Final = "orderTopicConf"
_REMEDY: Final = 'write it as "broker:queues;broker:queues"'
_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 2**31 - 1
_LAST_OF_ONE_UNIT: Final = "\uffff"


def read_order_topic_conf(text: str) -> list[tuple[str, int]]:
    """Return each named broker with its number of queues, in the written order, with duplicates.

    A negative number counts as 0. Text after a second colon is ignored.

    Raises:
        RouteError: a part has no number (`order_topic_conf_incomplete`; RocketMQ throws
            ArrayIndexOutOfBoundsException), or no Java int (`order_topic_conf_number`;
            NumberFormatException). The first wrong part decides.
    """
    counts = []
    for part in _split(text, ";"):
        items = _split(part, ":")
        if len(items) < 2:  # noqa: PLR2004 - a broker and its number
            raise RouteError(
                _FIELD, f"{part!r} has no number", _REMEDY, code="order_topic_conf_incomplete"
            )
        number = _parse_int(items[1])
        if number is None:
            raise RouteError(
                _FIELD, f"{items[1]!r} is no number", _REMEDY, code="order_topic_conf_number"
            )
        counts.append((items[0], number))
    return counts


def _split(text: str, separator: str) -> list[str]:
    parts = text.split(separator)
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _parse_int(text: str) -> int | None:
    """Return the number; None where Java's Integer#parseInt throws."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    number = 0
    for digit in digits:
        # Java reads 16-bit units, so it knows no digits beyond the basic plane.
        value = None if digit > _LAST_OF_ONE_UNIT else unicodedata.decimal(digit, None)
        if value is None or number > _INT_MAX:
            return None
        number = number * 10 + value
    number = -number if text[:1] == "-" else number
    return number if digits and _INT_MIN <= number <= _INT_MAX else None
