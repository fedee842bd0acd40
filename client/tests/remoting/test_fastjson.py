"""The dialect of fastjson: standard JSON, and maps whose keys are numbers or objects."""

import json
from typing import Any

import pytest
from fairlead_client.remoting.fastjson import DialectError, read_fastjson
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)

STATS = b"""{"consumeTps":0.5,"offsetTable":{
 {"brokerName":"b-0","queueId":0,"topic":"T"}:{"brokerOffset":9,"consumerOffset":4,"lastTimestamp":1},
 {"brokerName":"b-0","queueId":1,"topic":"T"}:{"brokerOffset":0,"consumerOffset":0,"lastTimestamp":0}}}"""


def test_objects_are_keys() -> None:
    """A map of queues is read as RocketMQ writes it."""
    table = read_fastjson(STATS)["offsetTable"]
    assert [(dict(key), value["brokerOffset"]) for key, value in table.items()] == [
        ({"brokerName": "b-0", "queueId": 0, "topic": "T"}, 9),
        ({"brokerName": "b-0", "queueId": 1, "topic": "T"}, 0),
    ]


def test_a_character_of_two_halves_is_one() -> None:
    """Java writes what is beyond its 16 bits as two escapes."""
    assert read_fastjson(b'{"\\ud83d\\ude00":"\\\\ud800"}') == {"\U0001f600": "\\ud800"}


def test_numbers_are_keys() -> None:
    """A broker's addresses have its ids as keys."""
    text = b'{"brokerDatas":[{"brokerAddrs":{0:"a:1",1:"b:2"},"brokerName":"m"}]}'
    assert read_fastjson(text)["brokerDatas"][0]["brokerAddrs"] == {0: "a:1", 1: "b:2"}


@given(value=VALUES)
def test_standard_json_is_read_by_the_rules_of_the_dialect_too(value: Any) -> None:
    """Beside a key of the dialect, everything standard is read as the standard library reads it."""
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)
        try:
            data = ("{0:" + text + "}").encode()
        except UnicodeEncodeError:
            continue
        assert read_fastjson(data) == {0: json.loads(text)}


@given(data=st.binary(max_size=40) | st.text('{}[]:,"0ab\\', max_size=40).map(str.encode))
def test_what_is_no_json_is_refused_in_one_way(data: bytes) -> None:
    """Whatever comes, it is a value or a DialectError."""
    try:
        read_fastjson(data)
    except DialectError:
        return


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"{0:1", b"{0:1,}", b"{0}", b"[1,]", b"{0:1}}", b"{0:nul}", b'{0:"a}', b"{,}",
        b"\xff", b"[" * 100_000, b"{0:" * 5_000, b'{0:"\\x"}', b"{0:1 2}",
        b'"\\ud800"', b'{0:["\\uDFFF"]}', b'{"\\ud800":1}', b'{{"a":"\\ud800"}:1}',
    ],
)  # fmt: skip
def test_each_of_these_is_refused(text: bytes) -> None:
    """Half documents, too deep ones, and what Java would not write."""
    with pytest.raises(DialectError):
        read_fastjson(text)
