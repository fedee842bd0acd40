"""Sinks, the places where decisions go; all implement one small contract (ADR 0051)."""

from sinks.contract import OUTPUT_SCHEMA, Sink
from sinks.file import FileSink
from sinks.kafka import KafkaSink

__all__ = ["OUTPUT_SCHEMA", "FileSink", "KafkaSink", "Sink"]
