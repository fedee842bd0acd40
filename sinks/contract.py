"""The contract of a sink: it turns the engine's output rows into a writer.

The job sets trigger, checkpoint and query name. A sink may get the same row twice, because Spark
may run a batch again, so repetition must not have a meaning.
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
"""One output record: full topic name, partition, key and value (null: a deletion)."""


class Sink(Protocol):
    """A destination of output records."""

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Return a writer of a streaming frame with the columns of ``OUTPUT_SCHEMA``.

        Each row must arrive in its topic and partition, byte for byte. Rows of one topic and
        partition must keep the order in which a task yields them.
        """
        ...
