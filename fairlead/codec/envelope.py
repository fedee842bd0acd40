"""Bytes with a version in front and a checksum, so that damage and foreign versions are refused.

Layout: one byte version, four bytes CRC-32 (little-endian) of the version and the payload, the
payload. The checksum finds damage; it is no protection against intent.
"""

from struct import Struct
from zlib import crc32

from fairlead.codec.errors import CodecError

__all__ = ["seal", "unseal"]

_HEAD = Struct("<BI")


def seal(version: int, payload: bytes) -> bytes:
    """Return the payload under a version and a checksum."""
    return _HEAD.pack(version, crc32(payload, version)) + payload


def unseal(sealed: bytes, what: str) -> tuple[int, bytes]:
    """Return (version, payload); CodecError naming ``what`` if the bytes are damaged."""
    if len(sealed) < _HEAD.size:
        raise CodecError(what, f"{len(sealed)} bytes are too few to be a whole record")
    version, checksum = _HEAD.unpack_from(sealed)
    payload = sealed[_HEAD.size :]
    if crc32(payload, version) != checksum:
        raise CodecError(what, "the checksum differs, the bytes are damaged")
    return version, payload
