"""Stored messages: both versions and both kinds of address are read, and broken ones refused."""

import sys
import zlib

import pytest
from fairlead_client.rocketmq import message_body
from fairlead_client.rocketmq.message_body import BodyError, compressed
from fairlead_client.rocketmq.message_properties import (
    PropertyError,
    properties_bytes,
    read_properties,
)
from fairlead_client.rocketmq.stored_message import (
    StoredMessage,
    StoredMessageError,
    stored_messages,
)
from hypothesis import given
from hypothesis import strategies as some

from tests.kit.stored_messages import VERSION_1, VERSION_2, stored

TEXTS = some.text(some.characters(exclude_characters="\x01\x02", codec="utf-8"), min_size=1)


@given(
    body=some.binary(max_size=300),
    topic=some.text("abc%|-", min_size=1, max_size=250),
    properties=some.dictionaries(TEXTS, TEXTS, max_size=4),
    offset=some.integers(0, 2**50),
    host=some.sampled_from(["10.0.0.7", "::1", "2001:db8::7"]),
    magic=some.sampled_from([VERSION_1, VERSION_2]),
)
def test_what_is_stored_is_read(
    *, body: bytes, topic: str, properties: dict[str, str], offset: int, host: str, magic: int
) -> None:
    """Every part of a message comes out as it was stored, in both versions."""
    data = stored(offset, body, topic=topic, properties=properties, host=host, magic=magic)
    (message,) = stored_messages(memoryview(data), StoredMessage)
    assert (message.offset, message.value, message.topic) == (offset, body, topic)
    assert message.properties == properties
    assert message.commit_log_offset == 1_000 * offset
    assert message.store_host == (f"[{host}]:10911" if ":" in host else f"{host}:10911")
    assert dict(message.headers) == {name: value.encode() for name, value in properties.items()}


@given(data=some.binary(max_size=200), cut=some.integers(0, 200), flip=some.integers(0, 10_000))
def test_broken_bytes_are_refused(data: bytes, cut: int, flip: int) -> None:
    """Bytes that are cut or changed give a message or an error of ours, and nothing else."""
    whole = bytearray(stored(7, data, properties={"TAGS": "a"}))
    whole[flip % len(whole)] ^= 0xFF
    for broken in (bytes(whole), bytes(whole[: len(whole) - cut]), data):
        try:
            for message in stored_messages(memoryview(broken), StoredMessage):
                _ = message.headers, message.message_id, message.born_host, message.topic
        except StoredMessageError:
            continue


def test_a_changed_body_is_noticed() -> None:
    """A body that is not what was stored is refused by its CRC."""
    data = stored(7, b"paid").replace(b"paid", b"void")
    with pytest.raises(StoredMessageError, match="offset 7 is not what was stored"):
        list(stored_messages(memoryview(data), StoredMessage))


def test_several_messages_in_one_body() -> None:
    """The messages of a pull come out in their order."""
    data = b"".join(stored(number, b"%d" % number) for number in range(32))
    assert [each.value for each in stored_messages(memoryview(data), StoredMessage)] == [
        b"%d" % number for number in range(32)
    ]


def test_the_names_of_a_message() -> None:
    """The producer's id comes first, else the one of the place; keys and reconsume times too."""
    plain = StoredMessage(memoryview(stored(3)))
    assert plain.message_id == plain.offset_message_id == "0A00000700002A9F" + f"{3_000:016X}"
    assert plain.key is None
    properties = {"UNIQ_KEY": "AB", "KEYS": "k1 k2"}
    named = StoredMessage(memoryview(stored(3, properties=properties, reconsume_times=2)))
    assert (named.message_id, named.key) == ("AB", b"k1 k2")
    assert ("RECONSUME_TIME", b"2") in named.headers


def test_a_compressed_body() -> None:
    """The flag of the older lines, and that of RocketMQ 5, both mean zlib."""
    small = compressed(b"x" * 9_000)
    assert len(small) < 100
    for flag in (0x1, 0x301):
        message = StoredMessage(memoryview(stored(1, small, sys_flag=flag)))
        assert message.value == b"x" * 9_000
    broken = StoredMessage(memoryview(stored(1, b"no zlib", sys_flag=1)))
    with pytest.raises(BodyError, match="zlib body is broken"):
        _ = broken.value
    unknown = StoredMessage(memoryview(stored(1, zlib.compress(b"x"), sys_flag=0x701)))
    with pytest.raises(BodyError, match="unknown way 7"):
        _ = unknown.value


def test_a_body_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes may become gigabytes; whoever pulls them lives on."""
    monkeypatch.setattr(message_body, "BODY_BYTES_MAX", 9_000)
    for length, is_taken in ((9_000, True), (9_001, False)):
        message = StoredMessage(memoryview(stored(1, compressed(b"x" * length), sys_flag=1)))
        if is_taken:
            assert len(message.value) == length
        else:
            with pytest.raises(BodyError, match="more than 9,000 bytes"):
                _ = message.value
    cut = StoredMessage(memoryview(stored(1, compressed(b"x" * 9_000)[:-4], sys_flag=1)))
    with pytest.raises(BodyError, match="cut off"):
        _ = cut.value


@pytest.mark.parametrize(
    "name, module, flag", [("lz4", "lz4", 0x101), ("zstd", "zstandard", 0x201)]
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, flag: int
) -> None:
    """A body that needs another package says which extra brings it."""
    monkeypatch.setitem(sys.modules, module, None)
    message = StoredMessage(memoryview(stored(1, b"?", sys_flag=flag)))
    with pytest.raises(BodyError, match=rf"pip install 'fairlead-client\[{name}\]'"):
        _ = message.value


def test_properties_that_cannot_be_sent() -> None:
    """A separator within, a missing name and too many bytes are refused by name."""
    for wrong, word in (
        ({"a": "\x01"}, "a"),
        ({"": "b"}, "no name"),
        ({"a": "b" * 40_000}, "bytes"),
    ):
        with pytest.raises(PropertyError, match=word):
            properties_bytes(wrong)
    assert read_properties(b"a\x01b\x02junk\x02\x01c\x02d\x01\x02a\x01e\x02") == {"a": "e"}
