"""Frames: what is written is read again, however it is cut; what is none is refused."""

import json
import struct

import pytest
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.frame import FrameError, FrameReader, command_of, frame_of
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
COMMANDS = st.builds(
    Command,
    st.integers(min_value=0, max_value=2**15 - 1),
    st.dictionaries(TEXTS, TEXTS, max_size=4),
    st.binary(max_size=40),
    st.integers(min_value=0, max_value=2**31 - 1),
    st.integers(min_value=0, max_value=3),
    st.none() | st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
    st.integers(min_value=0, max_value=13),
    st.integers(min_value=0, max_value=2**15 - 1),
)


def _bytes(command: Command, *, binary: bool) -> bytes:
    return b"".join(map(bytes, frame_of(command, binary=binary)))


@given(commands=st.lists(COMMANDS, max_size=4), binary=st.booleans(), cut=st.integers(1, 60))
def test_what_is_written_is_read_again(commands: list[Command], cut: int, *, binary: bool) -> None:
    """Commands arrive as they were sent, in order, whatever pieces the network makes of them."""
    stream = b"".join(_bytes(each, binary=binary) for each in commands)
    reader, found = FrameReader(), []
    for begin in range(0, len(stream), cut):
        found += list(reader.feed(stream[begin : begin + cut]))
    assert [(*_told(each), bytes(each.body)) for each in found] == [
        (*_told(each), bytes(each.body)) for each in commands
    ]


def _told(command: Command) -> tuple[object, ...]:
    return (
        *(command.code, dict(command.fields), command.opaque, command.flag, command.remark),
        *(command.language, command.version),
    )


def test_a_header_is_laid_out_as_netty_reads_it() -> None:
    """The bytes of one request, as RemotingCommand#encode lays them out."""
    whole = _bytes(Command(105, {"topic": "T"}, b"xy", opaque=7), binary=False)
    length, mark = struct.unpack_from(">iI", whole)
    assert length == len(whole) - 4
    assert mark >> 24 == 0
    header = json.loads(whole[8 : 8 + (mark & 0xFFFFFF)])
    assert header == {
        "code": 105,
        "language": "OTHER",
        "version": 479,
        "opaque": 7,
        "flag": 0,
        "serializeTypeCurrentRPC": "JSON",
        "extFields": {"topic": "T"},
    }
    assert whole.endswith(b"xy")


def test_a_binary_header_is_laid_out_as_rocketmq_reads_it() -> None:
    """The bytes of one response, as RocketMQSerializable lays them out."""
    command = Command(17, {"a": "bc"}, opaque=7, flag=1, remark="no", language=0, version=399)
    whole = _bytes(command, binary=True)
    assert whole[8:].hex() == (
        "001100018f0000000700000001000000026e6f00000009000161000000026263"
    )  # fmt: skip


@given(data=st.binary(max_size=60))
def test_bytes_of_chance_are_refused_in_one_way(data: bytes) -> None:
    """Whatever comes, it is a command or a FrameError, and nothing else is raised."""
    for kind in (b"\0", b"\1"):
        header = kind + len(data).to_bytes(3) + data
        try:
            command_of(memoryview(header))
        except FrameError:
            continue


@pytest.mark.parametrize("length", [0, 3, 16 * 1024 * 1024 + 1, -1])
def test_no_length_makes_it_wait_for_ever(length: int) -> None:
    """A length that no server sends ends the reading, before memory is used for it."""
    with pytest.raises(FrameError):
        list(FrameReader().feed(struct.pack(">i", length)))


def test_fields_that_are_no_texts_are_read_as_texts() -> None:
    """Servers of other makers write numbers there."""
    header = b'{"code":0,"extFields":{"offset":12,"flag":true,"none":null}}'
    command = command_of(memoryview(len(header).to_bytes(4) + header))
    assert command.fields == {"offset": "12", "flag": "true"}
