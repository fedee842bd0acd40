"""What a sink is: it turns the engine's output rows into a writer, and decides nothing else.

Trigger, checkpoint and query name are the job's. A sink may be handed the same row twice (a batch
that is run again sends all of it again), so it must not give a meaning to repetition.
"""

from typing import Final, Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

OUTPUT_SCHEMA: Final = StructType(
    [
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
    ]
)
"""One output record: full topic name, partition in that topic, key and value (null: a deletion)."""


class Sink(Protocol):
    """A place where output records go."""

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Return a writer of a streaming frame with the columns of ``OUTPUT_SCHEMA``.

        The record of a row must end up in that row's topic and partition, byte for byte, and rows
        of one topic and partition in the order in which one task yields them.
        """
        ...
