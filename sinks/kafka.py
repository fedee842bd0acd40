"""Writes records to Kafka: one write for all topics; each row names its topic and partition."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

PRODUCER_OPTIONS: Final[Mapping[str, str]] = {
    # A task flushes at its end and every batch waits for that, so lingering would only delay it.
    "kafka.linger.ms": "0",
    # An assignment that only a failed leader held would be repaired late; see ADR 0051.
    "kafka.acks": "all",
}


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """Writes to the topics of one cluster.

    Attributes:
        bootstrap: host:port, several separated by commas.
        options: more options of Spark's Kafka sink (``kafka.…`` go to the producer); they win over
            ``PRODUCER_OPTIONS``.
    """

    bootstrap: str
    options: Mapping[str, str] = field(default_factory=dict)

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Return a writer that takes topic and partition from the row."""
        # No "topic" option: it would override the column.
        return (
            rows.writeStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .options(**{**PRODUCER_OPTIONS, **self.options})
        )
