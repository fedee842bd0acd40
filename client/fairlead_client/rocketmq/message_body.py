"""The compressed bodies of messages (CompressionType, CompressorFactory)."""

import zlib
from importlib import import_module
from typing import Any, Final

from fairlead_client.errors import FairleadClientError

__all__ = ["BODY_BYTES_MAX", "COMPRESSED", "BodyError", "compressed", "decompressed"]

COMPRESSED: Final = 0x1
"""MessageSysFlag.COMPRESSED_FLAG."""
_KIND: Final = 0x700
"""MessageSysFlag.COMPRESSION_TYPE_COMPARATOR."""
_LZ4, _ZSTD, _ZLIB, _OLD_ZLIB = 0x100, 0x200, 0x300, 0
_NAMES: Final = {_LZ4: "lz4", _ZSTD: "zstd", _ZLIB: "zlib", _OLD_ZLIB: "zlib"}
_MODULES: Final = {_LZ4: "lz4.frame", _ZSTD: "zstandard"}
BODY_BYTES_MAX: Final = 128 * 1024 * 1024
"""RocketMQ's own limit of a message is 4 MiB, unless its operators raise it."""
_LEVEL: Final = 5
"""The producer's compressLevel."""


class BodyError(FairleadClientError):
    """The body of a stored message cannot be read; the message says what to do."""


def compressed(body: bytes) -> bytes:
    """Return a body compressed as every line of RocketMQ reads it; its flag is COMPRESSED."""
    return zlib.compress(body, _LEVEL)


def decompressed(body: bytes | memoryview, sys_flag: int) -> bytes:
    """Return the body of a message with these flags.

    Raises:
        BodyError: the package for its compression is missing, the bytes are broken, or they are
            more than any message has.
    """
    if not sys_flag & COMPRESSED:
        return bytes(body)
    kind = sys_flag & _KIND
    if kind not in _NAMES:
        raise BodyError(
            f"the body is compressed in the unknown way {kind >> 8}; update this client"
        )
    try:
        if kind in (_ZLIB, _OLD_ZLIB):
            return _checked(_by_zlib(body))
        return _checked(_by_package(kind, body))
    except BodyError:
        raise
    except Exception as error:
        raise BodyError(f"the {_NAMES[kind]} body is broken: {error}") from error


def _checked(read: tuple[bytes, bool]) -> bytes:
    """Return a body; a few bytes that become gigabytes would end whoever pulls them."""
    found, is_whole = read
    if len(found) > BODY_BYTES_MAX:
        raise BodyError(f"the body has more than {BODY_BYTES_MAX:,} bytes")
    if not is_whole:
        raise ValueError("it is cut off")
    return found


def _by_zlib(body: bytes | memoryview) -> tuple[bytes, bool]:
    reader = zlib.decompressobj()
    return reader.decompress(body, BODY_BYTES_MAX + 1), reader.eof


def _by_package(kind: int, body: bytes | memoryview) -> tuple[bytes, bool]:
    """Return the content, up to a byte more than there may be, and whether it is whole."""
    name = _NAMES[kind]
    try:
        package: Any = import_module(_MODULES[kind])
    except ImportError:
        remedy = f"pip install 'fairlead-client[{name}]'"
        raise BodyError(f"the body is compressed by {name}; {remedy}") from None
    if kind == _LZ4:
        reader = package.LZ4FrameDecompressor()
        return bytes(reader.decompress(bytes(body), max_length=BODY_BYTES_MAX + 1)), reader.eof
    # A frame need not say how long its content is, so it is read as a stream.
    stream = package.ZstdDecompressor().stream_reader(bytes(body))
    return bytes(stream.read(BODY_BYTES_MAX + 1)), True
