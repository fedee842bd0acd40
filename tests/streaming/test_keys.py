"""Shards are spread evenly over Spark's tasks."""

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.keys import shard_keys, spark_hash, task_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@given(st.integers(1, 64), st.integers(1, 8))
def test_no_task_has_two_shards_more_than_another(shards: int, tasks: int) -> None:
    """No task has two shards more than another."""
    found = Counter(task_of(key, tasks) for key in shard_keys(shards, tasks))
    counts = [found[task] for task in range(tasks)]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == shards


@given(st.integers(1, 64), st.integers(1, 8))
def test_a_key_names_its_shard(shards: int, tasks: int) -> None:
    """A key tells its shard: its rest by the count of shards."""
    assert [key % shards for key in shard_keys(shards, tasks)] == list(range(shards))


@pytest.mark.parametrize(
    "shards, tasks, keys",
    [(4, 1, (0, 1, 2, 3)), (4, 2, (4, 1, 2, 3)), (8, 2, (32, 1, 2, 3, 4, 21, 14, 7))],
)
def test_the_keys_are_fixed(shards: int, tasks: int, keys: tuple[int, ...]) -> None:
    """The keys stand in checkpoints, so another choice would orphan their state."""
    assert shard_keys(shards, tasks) == keys


def test_our_hash_is_that_of_spark(spark: "SparkSession") -> None:
    """Our hash is Spark's own."""
    numbers = [0, 1, 7, 42, 255, 256, 65_537, 2_147_483_647, -1, -2_147_483_648]
    frame = spark.createDataFrame([(number,) for number in numbers], "number int")
    found = [row[0] for row in frame.selectExpr("hash(number)").collect()]
    assert [spark_hash(number) for number in numbers] == found
