"""Messages as a broker of RocketMQ stores them, made by hand for tests without one."""

import struct
import zlib
from ipaddress import ip_address

from fairlead_client.rocketmq.message_properties import properties_bytes

VERSION_1, VERSION_2 = 0xDAA320A7, 0xDAA320AB


def stored(
    offset: int = 0,
    body: bytes = b"x",
    *,
    topic: str = "orders",
    queue_id: int = 0,
    properties: dict[str, str] | None = None,
    sys_flag: int = 0,
    magic: int = VERSION_1,
    host: str = "10.0.0.7",
    port: int = 10_911,
    born_ms: int = 1_700_000_000_000,
    reconsume_times: int = 0,
) -> bytes:
    """Return one stored message; its commit log offset is 1,000 times its offset."""
    address = ip_address(host).packed + struct.pack(">I", port)
    sys_flag |= 0x30 if len(address) > 8 else 0
    head = struct.pack(">iiqqi", queue_id, 0, offset, 1_000 * offset, sys_flag)
    crc = zlib.crc32(body) & 0x7FFFFFFF
    times = struct.pack(">q", born_ms) + address + struct.pack(">q", born_ms + 1) + address
    name, more = topic.encode(), properties_bytes(properties or {})
    end = struct.pack(">iqI", reconsume_times, 0, len(body)) + body
    end += struct.pack(">B" if magic == VERSION_1 else ">H", len(name)) + name
    end += struct.pack(">h", len(more)) + more
    rest = struct.pack(">II", magic, crc) + head + times + end
    return struct.pack(">I", len(rest) + 4) + rest
