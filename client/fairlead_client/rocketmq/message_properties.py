"""The properties of a message as RocketMQ stores and sends them (MessageDecoder)."""

from collections.abc import Iterable, Mapping
from typing import Final

from fairlead_client.produce.outgoing import MessageError

__all__ = [
    "DELAY",
    "KEYS",
    "TAGS",
    "UNIQUE_KEY",
    "WAIT",
    "PropertyError",
    "properties_bytes",
    "read_properties",
]

KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
UNIQUE_KEY: Final = "UNIQ_KEY"
"""The id that the producer gives a message (PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)."""

WAIT: Final = "WAIT"
"""Whether the broker answers only after it has stored the message (waitStoreMsgOK)."""
DELAY: Final = "DELAY"
"""The delay level."""

_NAME_END: Final = "\x01"
_PAIR_END: Final = "\x02"
_BYTES_MAX: Final = 32_767
"""The length is a signed short (MessageExtEncoder)."""


class PropertyError(MessageError):
    """A message cannot carry a property; `field` is its name."""


def properties_bytes(properties: Mapping[str, str] | Iterable[tuple[str, str]]) -> bytes:
    r"""Return properties as bytes (messageProperties2String).

    Raises:
        PropertyError: a name or a value has one of the two separators, or all are too long.

    >>> properties_bytes({"TAGS": "paid"})
    b'TAGS\x01paid\x02'
    """
    pairs = properties.items() if isinstance(properties, Mapping) else properties
    parts = []
    for name, value in pairs:
        if not name:
            raise PropertyError("headers", "a header has no name", "name it")
        if any(mark in text for mark in (_NAME_END, _PAIR_END) for text in (name, value)):
            problem = "has U+0001 or U+0002, which end RocketMQ's properties"
            raise PropertyError(name, problem, "leave these characters out")
        parts.append(f"{name}{_NAME_END}{value}{_PAIR_END}")
    data = "".join(parts).encode()
    if len(data) > _BYTES_MAX:
        problem = f"key, tag and headers have {len(data):,} bytes, RocketMQ takes {_BYTES_MAX:,}"
        raise PropertyError("headers", problem, "send less, or put it into the body")
    return data


def read_properties(data: bytes | memoryview) -> dict[str, str]:
    """Return the properties (string2messageProperties).

    What is no pair is left out. Of two properties with one name the last one counts.
    """
    found = {}
    for pair in str(data, "utf-8", "replace").split(_PAIR_END):
        name, separator, value = pair.partition(_NAME_END)
        if separator and name and value:
            found[name] = value
    return found
