"""Where a record belongs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_murmur2

from fairlead.wire.partition import murmur2, partition_of_client, partition_of_group
from tests.kit.protocol_page import table

VECTORS = [
    ("Z" * 120 if text == '"Z" × 120' else text.replace("(empty)", ""), *map(int, numbers))
    for text, *numbers in table("text", "murmur2 & 0x7fffffff", "mod 4", "mod 64")
]


def test_the_page_shows_ten_vectors() -> None:
    """The page shows ten vectors."""
    assert len(VECTORS) == 10


@pytest.mark.parametrize("text, hashed, of_4, of_64", VECTORS)
def test_partitions_are_those_of_the_page(text: str, hashed: int, of_4: int, of_64: int) -> None:
    """The partitions are those of the page."""
    assert murmur2(text.encode()) & 0x7FFFFFFF == hashed
    assert partition_of_group(text, 4) == of_4
    assert partition_of_group(text, 64) == of_64


def test_a_client_has_the_partition_of_group_and_id() -> None:
    """A client's partition is that of the group directly followed by the client id."""
    assert partition_of_client("orders", "10.0.0.7@4121#1", 64) == 43


@given(st.binary(max_size=300))
def test_the_hash_is_that_of_kafka(data: bytes) -> None:
    """The hash is Kafka's for any bytes."""
    assert murmur2(data) == kafka_murmur2(data) & 0xFFFFFFFF
