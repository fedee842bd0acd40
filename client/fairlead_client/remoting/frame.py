"""The frames of commands: a length, a header in JSON or in RocketMQ's own form, and a body.

    total length 4 B, without itself | kind of header 1 B | header length 3 B | header | body

Both kinds are read. Requests are written with a header in JSON, which every server reads; a server
answers in the kind of the request (RemotingCommand#encode, #decode; RocketMQSerializable).
"""

import struct
from collections.abc import Iterator
from typing import Any, Final

import orjson

from fairlead_client.remoting.command import LANGUAGE_OTHER, Command

__all__ = ["FRAME_BYTES_MAX", "FrameError", "FrameReader", "frame_of"]

FRAME_BYTES_MAX: Final = 16 * 1024 * 1024
"""NettyEncoder and NettyDecoder take no longer ones, unless a property of Java says so."""

_LANGUAGES: Final = (
    *("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP"),
    *("OMS", "RUST", "NODE_JS"),
)
_JSON, _BINARY = 0, 1
_BINARY_HEAD: Final = struct.Struct(">hBhii")
_LENGTH_BYTES: Final = 4
_INT_MAX: Final = 2**31 - 1


class FrameError(ValueError):
    """Bytes that are no frame of a command."""


def frame_of(command: Command, *, binary: bool = False) -> list[bytes | memoryview]:
    """Return a command as bytes, the body apart; ``binary``: the header in RocketMQ's own form."""
    header = _binary_header(command) if binary else _json_header(command)
    kind = _BINARY if binary else _JSON
    length = _LENGTH_BYTES + len(header) + len(command.body)
    head = struct.pack(">iI", length, kind << 24 | len(header)) + header
    return [head, command.body] if len(command.body) else [head]


def _json_header(command: Command) -> bytes:
    document: dict[str, Any] = {
        "code": command.code,
        "language": _LANGUAGES[command.language],
        "version": command.version,
        "opaque": command.opaque,
        "flag": command.flag,
        "serializeTypeCurrentRPC": "JSON",
    }
    if command.remark is not None:
        document["remark"] = command.remark
    if command.fields:
        document["extFields"] = dict(command.fields)
    return orjson.dumps(document)


def _binary_header(command: Command) -> bytes:
    remark = (command.remark or "").encode()
    parts = []
    for name, value in command.fields.items():
        key, data = name.encode(), value.encode()
        parts += [struct.pack(">h", len(key)), key, struct.pack(">i", len(data)), data]
    fields = b"".join(parts)
    head = _BINARY_HEAD.pack(
        command.code, command.language, command.version, command.opaque, command.flag
    )
    lengths = struct.pack(">i", len(remark)), struct.pack(">i", len(fields))
    return b"".join((head, lengths[0], remark, lengths[1], fields))


class FrameReader:
    """Cuts a stream of bytes into commands.

    The bodies of commands are parts of the bytes that were fed; nobody copies them.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._have = 0
        self._want = _LENGTH_BYTES

    def feed(self, data: bytes) -> Iterator[Command]:
        """Yield the commands that these bytes complete.

        Raises:
            FrameError: the bytes are no frames; the stream cannot be read any further.
        """
        self._parts.append(data)
        self._have += len(data)
        if self._have < self._want:
            return
        whole = data if len(self._parts) == 1 else b"".join(self._parts)
        at = 0
        while self._have - at >= _LENGTH_BYTES:
            length = int.from_bytes(whole[at : at + _LENGTH_BYTES])
            if not _LENGTH_BYTES <= length <= FRAME_BYTES_MAX:
                raise FrameError(f"a frame has {length:,} bytes")
            if self._have - at - _LENGTH_BYTES < length:
                self._want = _LENGTH_BYTES + length
                break
            begin = at + _LENGTH_BYTES
            at = begin + length
            yield command_of(memoryview(whole)[begin:at])
        else:
            self._want = _LENGTH_BYTES
        rest = whole[at:]
        self._parts, self._have = [rest] if rest else [], len(rest)


def command_of(frame: memoryview) -> Command:
    """Return the command of a frame, without the frame's length.

    Raises:
        FrameError: it is none.
    """
    mark = int.from_bytes(frame[:_LENGTH_BYTES])
    kind, length = mark >> 24, mark & 0xFFFFFF
    end = _LENGTH_BYTES + length
    if end > len(frame):
        raise FrameError("a header is longer than its frame")
    header, body = frame[_LENGTH_BYTES:end], frame[end:]
    try:
        if kind == _JSON:
            return _of_json(header, body)
        if kind == _BINARY:
            return _of_binary(header, body)
    except (ValueError, TypeError, struct.error, RecursionError):
        raise FrameError("a header cannot be read") from None
    raise FrameError(f"a header is of the unknown kind {kind}")


def _of_json(header: memoryview, body: memoryview) -> Command:
    document = orjson.loads(header)
    fields = (document.get("extFields") or {}) if type(document) is dict else None
    if type(fields) is not dict:
        raise ValueError
    language = document.get("language")
    remark = document.get("remark")
    return Command(
        _number(document["code"]) if "code" in document else 0,
        {str(name): _text(value) for name, value in fields.items() if value is not None},
        body,
        _number(document.get("opaque", 0)),
        _number(document.get("flag", 0)),
        None if remark is None else _text(remark),
        _LANGUAGES.index(language) if language in _LANGUAGES else LANGUAGE_OTHER,
        _number(document.get("version", 0)),
    )


def _number(value: Any) -> int:
    if type(value) is not int or not -_INT_MAX - 1 <= value <= _INT_MAX:
        raise ValueError
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _of_binary(header: memoryview, body: memoryview) -> Command:
    code, language, version, opaque, flag = _BINARY_HEAD.unpack_from(header)
    remark, at = _piece(header, _BINARY_HEAD.size, ">i")
    fields_bytes, at = _piece(header, at, ">i")
    if at != len(header):
        raise ValueError
    fields, at = {}, 0
    while at < len(fields_bytes):
        name, at = _piece(fields_bytes, at, ">h")
        value, at = _piece(fields_bytes, at, ">i")
        fields[str(name, "utf-8")] = str(value, "utf-8")
    said = str(remark, "utf-8") if len(remark) else None
    known = language if language < len(_LANGUAGES) else LANGUAGE_OTHER
    return Command(code, fields, body, opaque, flag, said, known, version)


def _piece(data: memoryview, at: int, form: str) -> tuple[memoryview, int]:
    """Return the bytes behind a length, and where they end."""
    (length,) = struct.unpack_from(form, data, at)
    begin = at + struct.calcsize(form)
    end = begin + length
    if length < 0 or end > len(data):
        raise ValueError
    return data[begin:end], end
