"""The client's own JSON: strict, bounded, and of one mind with orjson about what is right."""

import json
import struct
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.kit.awaiting import child_process
from tools.java_client import JavaClient

pytestmark = pytest.mark.java

Read = Callable[[bytes], str]


@pytest.fixture(scope="module")
def read(java_client: JavaClient) -> Iterator[Read]:
    """Read a text in Java: `=` and what it is, or `!` and why it is refused."""
    pipe = subprocess.PIPE
    with child_process(java_client.command("JsonEcho"), stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        send, answers = process.stdin, process.stdout

        def ask(text: bytes) -> str:
            send.write(struct.pack(">i", len(text)) + text)
            send.flush()
            (length,) = struct.unpack(">i", answers.read(4))
            answer: bytes = answers.read(length)
            return answer.decode()

        yield ask
        send.close()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"{",
        b"[1,]",
        b"[1 2]",
        b'{"a":1,}',
        b'{"a" 1}',
        b"{a:1}",
        b"{'a':1}",
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":2}',
        b"[1]x",
        b"1 2",
        b"tru",
        b"nul",
        b"True",
        b"NaN",
        b"-",
        b"+1",
        b"01",
        b"-01",
        b"1.",
        b".5",
        b"1e",
        b"1e999",
        b"-1e999",
        b"0x10",
        b"9223372036854775808",
        b"-9223372036854775809",
        b"1" * 65,
        b"0." + b"1" * 80,
        b'"a',
        b'"\n"',
        b'"\x00"',
        b'"\\x"',
        b'"\\u12"',
        b'"\\u12g4"',
        '"\\u\uff10\uff10\uff10\uff11"'.encode(),
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'"\xed\xa0\x80"',
        b'"\xc0\xaf"',
        b'"\xff"',
        b"\xef\xbb\xbf1",
        b"[" * 33 + b"]" * 33,
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b"/**/1",
        b"[1]\x00",
        b"\xa01",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_hostile_text_is_refused(read: Read, text: bytes) -> None:
    """What is no JSON is refused, and so is what nests too deep or is too large; nothing breaks."""
    assert read(text).startswith("!")
    assert read(b'{"after":"it"}') == '={"after":"it"}'


@pytest.mark.parametrize(
    "text",
    [
        b"null",
        b" [ ] ",
        b"\t{\r\n}\n",
        b"-9223372036854775808",
        b"9223372036854775807",
        b"-0",
        b'"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
        '"\x7f\u2028é😀"'.encode(),
        b"[" * 32 + b"]" * 32,
        b'{"":{"":[true,false,null]}}',
    ],
)
def test_right_text_is_read(read: Read, text: bytes) -> None:
    """Every kind of value is read as Python reads it, up to the bounds."""
    answer = read(text)
    assert answer.startswith("=")
    assert json.loads(answer[1:]) == json.loads(text)


@pytest.mark.parametrize("text", [b"1.5", b"1e3", b"-0.25E-2", b"1E+2"])
def test_other_numbers_are_read(read: Read, text: bytes) -> None:
    """An answer may have numbers that the client does not use."""
    assert float(read(text)[1:]) == float(text)


_values = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**63), 2**63 - 1)
    | some.text(alphabet=some.characters(exclude_categories=["Cs"])),
    lambda inner: some.lists(inner) | some.dictionaries(some.text('ab\n"\\é'), inner),
    max_leaves=20,
)


@given(value=_values)
def test_what_is_read_is_written(read: Read, value: Any) -> None:
    """A value that orjson writes comes back as it was."""
    assert orjson.loads(read(orjson.dumps(value))[1:]) == value


@given(
    text=some.binary(max_size=40)
    | some.text('[]{}",:\\u0123456789eE+-.tfn ', max_size=40).map(str.encode)
)
def test_random_bytes_are_refused_as_orjson_refuses_them(read: Read, text: bytes) -> None:
    """Whatever comes, Java accepts nothing that orjson refuses, and says so in words."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        assert read(text).startswith("!")
    else:
        # A name that is there twice, and a whole number beyond 64 bits, are refused here alone.
        assert read(text)[0] in "=!"
