"""The client reads what the protocol shows, and names what is wrong with anything else."""

import json
from contextlib import suppress
from typing import Any

import pytest
from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Epoch, Holder, Position, Queue
from fairlead_client.routes.route_record import decode_route_record
from fairlead_client.session.digest import digest
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Notice
from fairlead_client.transport.decoding import (
    decode_assignment,
    decode_key,
    decode_release,
    is_generation,
)
from fairlead_client.transport.partitioner import partition_of
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2


def test_an_assignment_is_read_field_by_field(examples: dict[str, bytes]) -> None:
    """The protocol's assignment, field by field."""
    holder = Holder("10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03", Epoch(3, 39))
    queue, life = Queue("orders", "main", 2), "W3XrV0pUSt2Qh0nHkS5ZtQ"
    added = Add(queue, Epoch(3, 41), Position(0, 9120), (holder,), life)
    assert decode_assignment(examples["assignment"]) == Assignment(
        group="orders",
        client_id="10.0.0.7@4121#1",
        incarnation="6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11",
        generation=3,
        epoch=Epoch(3, 41),
        drop=(Drop(Queue("orders", "main", 3), Epoch(3, 38), "10.0.0.9@18#1", 4),),
        add=(added,),
        assigned=(
            Assigned(Queue("orders", "main", 1), Epoch(3, 36), "held"),
            Assigned(Queue("orders", "main", 3), Epoch(3, 38), "draining"),
            Assigned(queue, Epoch(3, 41), "gated", added),
        ),
    )


def test_a_notice_names_the_winner(examples: dict[str, bytes]) -> None:
    """The protocol's notice names the winner."""
    notice = decode_assignment(examples["notice"])
    assert isinstance(notice, Notice)
    assert notice.winner == (1780999999000, "1f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d05")


def test_notice_without_winner(examples: dict[str, bytes]) -> None:
    """Another notice has no winner."""
    record = json.loads(examples["notice"]) | {"code": "rejected"}
    del record["winner"]
    notice = decode_assignment(json.dumps(record).encode())
    assert isinstance(notice, Notice)
    assert (notice.winner, notice.reason) == (None, None)


@pytest.mark.parametrize("depth", [900, 1_010, 1_023, 5_000])
def test_a_record_that_is_nested_a_thousand_times(examples: dict[str, bytes], depth: int) -> None:
    """Wherever it is nested, it is malformed and no error of Python's: the next ones are read."""
    nested = b"[" * depth + b"]" * depth
    readers = (decode_assignment, decode_release, is_generation, decode_route_record)
    for example in ("assignment", "notice", "release"):
        for name in json.loads(examples[example]):
            text = json.dumps(json.loads(examples[example]) | {name: "HERE"}).encode()
            for read in readers:
                with suppress(MalformedRecordError):
                    read(text.replace(b'"HERE"', nested))
    version = b'{"v":' + nested + b',"kind":"release"}'
    with pytest.raises(MalformedRecordError):
        decode_release(version)


@pytest.mark.parametrize("reason", ["topic", None])
def test_notice_of_waiting(examples: dict[str, bytes], reason: str | None) -> None:
    """A notice about waiting has its reason; null: it is over."""
    record = json.loads(examples["notice"]) | {"code": "waiting", "reason": reason, "winner": None}
    notice = decode_assignment(json.dumps(record).encode())
    assert isinstance(notice, Notice)
    assert notice.reason == reason


def test_a_release_and_one_of_nothing_are_read(examples: dict[str, bytes]) -> None:
    """The protocol's release, and one of nothing."""
    release = decode_release(examples["release"])
    assert release is not None
    assert release.holder == Holder(
        "10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03", Epoch(3, 39)
    )
    assert release.position == (0, 9120)
    nothing = json.loads(examples["release"]) | {"position": None}
    read = decode_release(json.dumps(nothing).encode())
    assert read is not None
    assert read.position is None


@pytest.mark.parametrize(
    "field, value",
    [
        ("position", [1, -5]),
        ("position", [0, 2**64 - 1]),
        ("position", [2**63, 0]),
        ("position", [True, 0]),
        ("epoch", [1, -1]),
        ("queue", ["orders", "main", -1]),
        ("queue", ["orders", "main", 2**31]),
        ("queue", ["orders", "main", False]),
    ],
)
def test_numbers_that_nothing_counts(
    examples: dict[str, bytes], field: str, value: list[object]
) -> None:
    """Whoever may write handovers may write any number: what no library takes is malformed."""
    record = json.loads(examples["release"]) | {field: value}
    with pytest.raises(MalformedRecordError) as caught:
        decode_release(json.dumps(record).encode())
    assert caught.value.field is not None
    assert caught.value.field.startswith(field)


@pytest.mark.parametrize("field", ["group", "client_id", "incarnation", "topic", "broker"])
def test_a_name_of_a_megabyte_is_not_kept(examples: dict[str, bytes], field: str) -> None:
    """Whoever may write handovers may write names of a megabyte: none is kept, or logged whole."""
    body, name = json.loads(examples["release"]), "x" * 100_000
    if field in body:
        body[field] = name
    else:
        body["queue"][0 if field == "topic" else 1] = name
    with pytest.raises(MalformedRecordError) as refused:
        decode_release(json.dumps(body).encode())
    assert len(str(refused.value)) < 400
    with pytest.raises(MalformedRecordError, match="bytes, more than"):
        decode_release(json.dumps(body | {"more": "x" * 500_000}).encode())
    with pytest.raises(MalformedRecordError) as refused:
        decode_release(json.dumps(body | {"v": name}).encode())
    assert len(str(refused.value)) < 400


def test_a_claim_of_a_generation_is_recognised(examples: dict[str, bytes]) -> None:
    """A client recognises a claim of a generation among other records."""
    assert is_generation(examples["generation"])
    assert not is_generation(examples["tick"])


def test_an_unknown_kind_is_ignored(examples: dict[str, bytes]) -> None:
    """A kind that the client has no use for is passed over."""
    assert decode_assignment(examples["tick"]) is None
    assert decode_release(examples["tick"]) is None


@pytest.mark.parametrize(
    "path, value, field",
    [
        (["v"], 2, "v"),
        (["kind"], None, "kind"),
        (["group"], 5, "group"),
        (["generation"], True, "generation"),
        (["epoch"], [3], "epoch"),
        (["part"], 1, "part"),
        (["parts"], 0, "part"),
        (["drop"], {}, "drop"),
        (["drop", 0, "queue"], ["orders", "main"], "drop.queue"),
        (["drop", 0, "epoch"], "3", "drop.epoch"),
        (["add"], [1], "add"),
        (["add", 0, "position"], None, "add.position"),
        (["add", 0, "after"], None, "after"),
        (["add", 0, "after", 0, "epoch"], [1, 2, 3], "add.after.epoch"),
        (["add", 0, "after", 0, "client_id"], None, "client_id"),
        (["assigned", 0, "state"], "lost", "assigned.state"),
        (["assigned", 2, "after"], None, "after"),
    ],
)
def test_a_malformed_field_is_named(
    examples: dict[str, bytes], path: list[str | int], value: object, field: str
) -> None:
    """A wrong field is named."""
    record: Any = json.loads(examples["assignment"])
    inner = record
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(MalformedRecordError) as caught:
        decode_assignment(json.dumps(record).encode())
    assert caught.value.field == field


@pytest.mark.parametrize("winner", [5, {}, {"start_ms": "1", "uuid": "u"}])
def test_a_notice_with_half_a_winner_is_not_read(
    examples: dict[str, bytes], winner: object
) -> None:
    """A notice with half a winner is not read."""
    record = json.loads(examples["notice"]) | {"winner": winner}
    with pytest.raises(MalformedRecordError, match="winner"):
        decode_assignment(json.dumps(record).encode())


@given(st.binary(max_size=200))
def test_any_bytes_raise_nothing_but_a_malformed_record_error(value: bytes) -> None:
    """Whatever the bytes, nothing but a MalformedRecordError comes out."""
    for decode in (decode_assignment, decode_release, is_generation):
        with pytest.raises(MalformedRecordError):
            decode(value)


@pytest.mark.parametrize(
    "key, found",
    [
        (b'["orders","a","i",0]', ("orders", "a")),
        (b'["orders","a","i","notice"]', ("orders", "a")),
        (b'["orders","a"]', None),
        (b"orders", None),
        (b"", None),
    ],
)
def test_a_key_says_whom_a_record_is_for(key: bytes, found: tuple[str, str] | None) -> None:
    """A key says for whom a record is, before its value is parsed."""
    assert decode_key(key) == found


def test_partitions_are_those_of_the_protocol(vectors: list[tuple[str, int, int, int]]) -> None:
    """Partitions are those of the protocol's table."""
    assert len(vectors) >= 9
    for text, hashed, of_four, of_sixty_four in vectors:
        assert murmur2(text.encode()) & 0x7FFFFFFF == hashed
        assert (partition_of(text, 4), partition_of(text, 64)) == (of_four, of_sixty_four)


def test_the_digest_is_a_sum_of_any_order() -> None:
    """The digest is a sum: of any order, and an entry can be taken out of it."""
    one = (Queue("orders", "main", 1), Epoch(3, 36), "held")
    two = (Queue("orders", "main", 3), Epoch(3, 38), "draining")
    three = (Queue("orders", "main", 2), Epoch(3, 41), "gated")
    assert digest([one]) == "a6bb4d36e75fc4cd"
    assert digest([one, two, three]) == digest([three, one, two]) == "477ebf55ddad1d04"
    rest = (int(digest([one, two, three]), 16) - int(digest([two, three]), 16)) % 2**64
    assert f"{rest:016x}" == digest([one])
