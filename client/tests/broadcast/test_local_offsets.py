"""The text of the file with a member's offsets."""

import orjson
import pytest
from fairlead_client.consume.broadcast.local_offsets import (
    LocalOffset,
    LocalOffsets,
    decode_local_offsets,
    encode_local_offsets,
)
from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Queue
from hypothesis import given
from hypothesis import strategies as st

QUEUES = st.builds(Queue, st.text(min_size=1), st.text(min_size=1), st.integers(0, 2**31))
OFFSETS = st.builds(LocalOffset, st.integers(0, 2**63 - 1), st.none() | st.text())
ENTRY = {"queue": ["orders", "main", 0], "offset": 7, "identity": "one"}
GOOD = {"v": 1, "group": "g", "client_id": "c", "offsets": [ENTRY]}


@given(st.dictionaries(QUEUES, OFFSETS), st.text(), st.text())
def test_what_is_written_is_read_again(
    offsets: dict[Queue, LocalOffset], group: str, client_id: str
) -> None:
    """Whatever is written is read again."""
    local = LocalOffsets(group, client_id, offsets)
    assert decode_local_offsets(encode_local_offsets(local)) == local


@given(st.integers(0, 200))
def test_a_truncated_file_is_never_read_as_whole(length: int) -> None:
    """The reader never takes the beginning of a file for the whole of it."""
    text = encode_local_offsets(decode_local_offsets(orjson.dumps(GOOD)))
    if length < len(text) - 1:
        with pytest.raises(MalformedRecordError):
            decode_local_offsets(text[:length])


@pytest.mark.parametrize(
    "changed, field",
    [
        ({"v": 2}, "v"),
        ({"group": 1}, "group"),
        ({"client_id": None}, "client_id"),
        ({"offsets": {}}, "offsets"),
        ({"offsets": [1]}, "offsets[0]"),
        ({"offsets": [{**ENTRY, "queue": ["orders", 0]}]}, "offsets[0].queue"),
        ({"offsets": [{**ENTRY, "queue": ["o", "m", -1]}]}, "offsets[0].queue"),
        ({"offsets": [{**ENTRY, "offset": -1}]}, "offsets[0].offset"),
        ({"offsets": [{**ENTRY, "offset": True}]}, "offsets[0].offset"),
        ({"offsets": [{**ENTRY, "identity": 1}]}, "offsets[0].identity"),
        ({"offsets": [ENTRY, ENTRY]}, "offsets[1].queue"),
    ],
)
def test_a_spoilt_field_is_named(changed: dict[str, object], field: str) -> None:
    """A field that is not as it was written is named."""
    with pytest.raises(MalformedRecordError) as caught:
        decode_local_offsets(orjson.dumps({**GOOD, **changed}))
    assert caught.value.field == field
