"""Bytes with a version in front and a checksum, so that damage and foreign versions are refused.

Layout: one byte version, four bytes CRC-32 (little-endian) of the version and the payload, the
payload. The checksum finds damage; it is no protection against intent. There is one version of all
stored bytes: every change of form counts it up, and the engine refuses state of another version.
"""

from struct import Struct
from zlib import crc32

from fairlead.codec.errors import CodecError, UnknownVersionError

__all__ = ["STATE_VERSION", "seal", "unseal"]

STATE_VERSION = 1

_HEAD = Struct("<BI")


def seal(payload: bytes, version: int = STATE_VERSION) -> bytes:
    """Return the payload under a version and a checksum."""
    return _HEAD.pack(version, crc32(payload, version)) + payload


def unseal(sealed: bytes, what: str) -> bytes:
    """Return the payload.

    Raises:
        CodecError: the bytes are damaged; names ``what`` they are.
        UnknownVersionError: they are whole, and of another version.
    """
    if len(sealed) < _HEAD.size:
        raise CodecError(what, f"{len(sealed)} bytes are too few to be a whole record")
    version, checksum = _HEAD.unpack_from(sealed)
    payload = sealed[_HEAD.size :]
    if crc32(payload, version) != checksum:
        raise CodecError(what, "the checksum differs, the bytes are damaged")
    if version != STATE_VERSION:
        raise UnknownVersionError(what, version, STATE_VERSION)
    return payload
