"""The texts that the protocol allows: character sets, lengths and closed lists of words."""

import re
from collections.abc import Callable
from typing import NamedTuple

from fairlead.core.rules.single_rules import read_decimal

__all__ = [
    "ADDRESS",
    "BROKER_ID",
    "BROKER_NAME",
    "CLIENT_ID",
    "DECIMAL",
    "DEFAULT_TOPIC",
    "DIGEST",
    "EXPRESSION",
    "GROUP",
    "GROUP_OR_ALL",
    "IDENTITY",
    "LABEL",
    "LONG_TEXT",
    "NOTE",
    "RESERVED_TOPICS",
    "ROUTED_TOPIC",
    "SECRET",
    "STRATEGY_NAME",
    "TAG",
    "TOPIC",
    "UUID",
    "TextRule",
]


class TextRule(NamedTuple):
    """One kind of text: the test that the whole text must pass, and its description.

    Attributes:
        allows: the test.
        words: what the test allows, in words.
        pattern: a regular expression that every allowed text matches as a whole; "": none.
    """

    allows: Callable[[str], object]
    words: str
    pattern: str = ""


DEFAULT_TOPIC = "TBW102"
"""RocketMQ's name for the route that producers use for topics that do not exist yet
(TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC). Only the routes topic may have it."""

RESERVED_TOPICS = frozenset(
    (
        ".",
        "..",
        "__cluster_metadata",
        "__consumer_offsets",
        "__share_group_state",
        "__transaction_state",
        "OFFSET_MOVED_EVENT",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "SCHEDULE_TOPIC_XXXX",
        "SELF_TEST_TOPIC",
        DEFAULT_TOPIC,
        "TRANS_CHECK_MAX_TIME_TOPIC",
    )
)
"""Topics that the brokers reserve for themselves; no group can consume them."""


def _pattern(pattern: str, words: str) -> TextRule:
    return TextRule(re.compile(pattern).fullmatch, words, pattern)


_TOPIC = r"[A-Za-z0-9_%|.-]{1,249}"
_topic_characters = re.compile(_TOPIC).fullmatch


def _is_topic(text: str) -> bool:
    return _topic_characters(text) is not None and text not in RESERVED_TOPICS


# Without C0, DEL and C1, which could break lines or move the cursor of a terminal.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f]"

GROUP = _pattern(r"[A-Za-z0-9_%|.-]{1,120}", "1-120 characters of [A-Za-z0-9_%|.-]")
GROUP_OR_ALL = _pattern(
    r"[A-Za-z0-9_%|.-]{1,120}|\*", "1-120 characters of [A-Za-z0-9_%|.-], or * for every group"
)
TOPIC = TextRule(
    _is_topic, "1-249 characters of [A-Za-z0-9_%|.-], and no topic that brokers reserve", _TOPIC
)
ROUTED_TOPIC = TextRule(
    lambda text: _is_topic(text) or text == DEFAULT_TOPIC, f"{TOPIC.words}, or {DEFAULT_TOPIC}"
)
# No quote and no backslash, so that every JSON writer writes the same bytes in a key.
_NAME = r"[!#-\[\]-~]"
_NAME_WORDS = "printable ASCII characters without space, quote and backslash"

BROKER_NAME = _pattern(_NAME + "{1,249}", "1-249 " + _NAME_WORDS)
CLIENT_ID = _pattern(_NAME + "{1,255}", "1-255 " + _NAME_WORDS)
IDENTITY = _pattern(_NAME + "{1,255}", "1-255 " + _NAME_WORDS)
UUID = _pattern(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "a lower-case UUID of 36 characters",
)
DIGEST = _pattern(r"[0-9a-f]{16}", "16 lower-case hexadecimal digits")
SECRET = _pattern(r"[0-9a-f]{64}", "64 lower-case hexadecimal digits")
LABEL = _pattern(r"[ -~]{1,255}", "1-255 printable ASCII characters")
ADDRESS = _pattern(r"[ -~]{0,255}", "0-255 printable ASCII characters")
BROKER_ID = _pattern(r"0|[1-9][0-9]{0,18}", "a broker id in decimal digits")
DECIMAL = TextRule(
    lambda text: read_decimal(text) is not None,
    'digits as text, such as "2.5": at most nine before the point and six after it',
)
STRATEGY_NAME = _pattern(r"[A-Za-z0-9_.-]{1,120}", "1-120 characters of [A-Za-z0-9_.-]")
TAG = _pattern(_PLAIN + "{1,255}", "1-255 characters, no control characters")
NOTE = _pattern(_PLAIN + "{1,255}", "1-255 characters, no control characters")
EXPRESSION = _pattern(_PLAIN + "{0,4096}", "at most 4096 characters, no control characters")
LONG_TEXT = _pattern(_PLAIN + "{0,32768}", "at most 32768 characters, no control characters")
