"""Writes records into files in one folder, to inspect the engine's output without a broker.

Parquet keeps keys and values as bytes. JSON lines show them as text, since all keys and values are
UTF-8 JSON. A deletion has no ``value``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark reader knows
from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True, slots=True)
class FileSink:
    """Writes each batch as new files, exactly once: Spark keeps a log of the files beside them.

    Attributes:
        folder: created if missing.
        form: ``json`` (one record per line) or ``parquet``.
    """

    folder: Path
    form: Literal["json", "parquet"] = "json"

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        """Return a writer for files with the columns topic, partition, key and value."""
        if self.form == "json":
            text = {name: F.col(name).cast("string") for name in ("key", "value")}
            rows = rows.withColumns(text)
        return rows.writeStream.format(self.form).option("path", str(self.folder))
