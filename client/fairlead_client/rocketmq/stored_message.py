"""Messages as a broker stores and sends them (ADR 0230; MessageDecoder#decode).

    size 4 | magic 4 | body CRC 4 | queue id 4 | flag 4 | queue offset 8 | commit log offset 8
    | system flag 4 | born 8 | born host 8 or 20 | stored 8 | store host 8 or 20 | reconsumed 4
    | prepared transaction offset 8 | body 4 + n | topic 1 + n | properties 2 + n

All numbers are big endian. In version 2 the topic's length has 2 bytes.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Final, TypeVar

from fairlead_client.errors import FairleadClientError
from fairlead_client.rocketmq.message_body import decompressed
from fairlead_client.rocketmq.message_properties import KEYS, UNIQUE_KEY, read_properties

__all__ = ["StoredMessage", "StoredMessageError", "stored_messages"]

_MAGIC_1: Final = 0xDAA320A7
_MAGIC_2: Final = 0xDAA320AB
_BORN_HOST_V6: Final = 0x10
_STORE_HOST_V6: Final = 0x20
_BATCH_WITHIN: Final = 0xC0
"""INNER_BATCH_FLAG and NEED_UNWRAP_FLAG: one stored message holds a whole batch."""
_HEAD: Final = struct.Struct(">IIIiiqqiq")
_TAIL_V4: Final = struct.Struct(">8sq8siqI")
_TAIL_V6: Final = struct.Struct(">20sq20siqI")
_TAIL_BORN_V6: Final = struct.Struct(">20sq8siqI")
_TAIL_STORE_V6: Final = struct.Struct(">8sq20siqI")
_TAILS: Final = {
    0: _TAIL_V4,
    _BORN_HOST_V6: _TAIL_BORN_V6,
    _STORE_HOST_V6: _TAIL_STORE_V6,
    _BORN_HOST_V6 | _STORE_HOST_V6: _TAIL_V6,
}
_ADDRESSES_V6: Final = _BORN_HOST_V6 | _STORE_HOST_V6
_CRC_MASK: Final = 0x7FFFFFFF
"""UtilAll.crc32 drops the sign."""
RECONSUME_TIME: Final = "RECONSUME_TIME"


class StoredMessageError(FairleadClientError):
    """What a broker sent is no stored message, or its body is not what was stored."""


class StoredMessage:
    """A message, whose body and properties are read at their first use.

    Attributes:
        offset: its offset in its queue.
        queue_id: its queue.
        flag: the application's own flag.
        commit_log_offset: where the broker stores it; a message is sent back by it.
        sys_flag: how it is compressed, and more (MessageSysFlag).
        timestamp: when it was created, in ms since 1970 (bornTimestamp).
        stored_ms: when the broker stored it, in ms since 1970.
        reconsume_times: how often it came back to its group.
    """

    __slots__ = (
        "_body", "_born_host", "_headers", "_properties", "_properties_bytes", "_store_host",
        "_topic", "_value", "commit_log_offset", "flag", "offset", "queue_id", "reconsume_times",
        "stored_ms", "sys_flag", "timestamp",
    )  # fmt: skip

    def __init__(self, data: memoryview) -> None:
        """Read one message.

        Args:
            data: the message, exactly.

        Raises:
            StoredMessageError: it is none, or its CRC is wrong.
        """
        try:
            self._read(data)
        except struct.error:
            raise StoredMessageError("a stored message is cut off") from None
        self._properties: dict[str, str] | None = None
        self._headers: tuple[tuple[str, bytes], ...] | None = None
        self._value: bytes | None = None

    def _read(self, data: memoryview) -> None:
        self.sys_flag: int
        self.reconsume_times: int
        magic: int
        (
            _, magic, crc, self.queue_id, self.flag, self.offset, self.commit_log_offset,
            self.sys_flag, self.timestamp,
        ) = _HEAD.unpack_from(data)  # fmt: skip
        if magic not in (_MAGIC_1, _MAGIC_2):
            raise StoredMessageError(f"a stored message begins with the unknown {magic:#010x}")
        tail = _TAILS[self.sys_flag & _ADDRESSES_V6]
        (
            self._born_host, self.stored_ms, self._store_host, self.reconsume_times, _, length,
        ) = tail.unpack_from(data, _HEAD.size)  # fmt: skip
        body_at = _HEAD.size + tail.size
        at = body_at + length
        self._body = data[body_at:at]
        if magic == _MAGIC_1:
            (topic_length,) = struct.unpack_from(">B", data, at)
            at += 1
        else:
            (topic_length,) = struct.unpack_from(">H", data, at)
            at += 2
        self._topic = data[at : at + topic_length]
        at += topic_length
        (properties_length,) = struct.unpack_from(">h", data, at)
        self._properties_bytes = data[at + 2 :]
        if len(self._properties_bytes) != max(properties_length, 0):
            raise StoredMessageError("the lengths within a stored message do not fit")
        if zlib.crc32(self._body) & _CRC_MASK != crc:
            raise StoredMessageError(
                f"the body of the message at offset {self.offset} is not what was stored (CRC)"
            )

    def __repr__(self) -> str:
        """Return where it is."""
        return f"<message {self.topic}/{self.queue_id}@{self.offset}>"

    @property
    def topic(self) -> str:
        """The topic that stores it."""
        return str(self._topic, "utf-8", "replace")

    @property
    def properties(self) -> dict[str, str]:
        """Its properties, of RocketMQ and of the application."""
        if self._properties is None:
            self._properties = read_properties(self._properties_bytes)
        return self._properties

    @property
    def key(self) -> bytes | None:
        """Its keys, with a space between them; None: it has none."""
        keys = self.properties.get(KEYS)
        return None if keys is None else keys.encode()

    @property
    def value(self) -> bytes:
        """Its body, decompressed.

        Raises:
            BodyError: the body cannot be decompressed.
        """
        if self._value is None:
            self._value = decompressed(self._body, self.sys_flag)
        return self._value

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Its properties as headers; RECONSUME_TIME says how often it came back, if it did."""
        if self._headers is None:
            properties = self.properties
            if self.reconsume_times:
                properties = {**properties, RECONSUME_TIME: str(self.reconsume_times)}
            self._headers = tuple((name, value.encode()) for name, value in properties.items())
        return self._headers

    @property
    def message_id(self) -> str:
        """The id that its producer gave it, else the one of its place (getMsgId)."""
        return self.properties.get(UNIQUE_KEY) or self.offset_message_id

    @property
    def offset_message_id(self) -> str:
        """The id of its place: the broker's address and the offset there (createMessageId)."""
        place = self.commit_log_offset & 0xFFFFFFFFFFFFFFFF
        return bytes(self._store_host).hex().upper() + f"{place:016X}"

    @property
    def born_host(self) -> str:
        """The producer's address, as host:port."""
        return _address(self._born_host)

    @property
    def store_host(self) -> str:
        """The address of the broker that stored it, as host:port."""
        return _address(self._store_host)

    @property
    def is_batch(self) -> bool:
        """Whether it holds a whole batch, which this client does not unwrap."""
        return self.sys_flag & _BATCH_WITHIN == _BATCH_WITHIN


_Kind = TypeVar("_Kind", bound=StoredMessage)


def stored_messages(data: memoryview, kind: Callable[[memoryview], _Kind]) -> Iterator[_Kind]:
    """Yield the messages of a pull's body, in order, as this kind of StoredMessage.

    Raises:
        StoredMessageError: the bytes are none, or a body is broken.
    """
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if size < _HEAD.size or at + size > len(data):
            raise StoredMessageError("a stored message is longer than what was sent")
        yield kind(data[at : at + size])
        at += size


def _address(host: bytes) -> str:
    address = ip_address(host[:-4])
    port = int.from_bytes(host[-4:])
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"  # noqa: PLR2004
