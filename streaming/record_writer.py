"""Writes what an operator says into Fairlead's topics, and waits until it stands there."""

from collections.abc import Sequence
from typing import Final

from kafka import KafkaProducer
from kafka.errors import KafkaError

from fairlead.errors import EnvironmentMissingError
from fairlead.settings import KafkaSettings
from fairlead.wire.raw import OutgoingRecord
from streaming.connection import client_options

__all__ = ["write_records"]

_SEND_SECONDS_MAX: Final = 30.0


def write_records(kafka: KafkaSettings, records: Sequence[OutgoingRecord]) -> list[int]:
    """Write records where they say; return their offsets.

    Raises:
        EnvironmentMissingError: a topic cannot be written. Some may stand there already.
    """
    if not records:
        return []
    producer = KafkaProducer(**client_options(kafka, "rules"), acks="all")
    try:
        sent = [
            producer.send(each.topic, key=each.key, value=each.value, partition=each.partition)
            for each in records
        ]
        return [future.get(timeout=_SEND_SECONDS_MAX).offset for future in sent]
    except KafkaError as error:
        raise EnvironmentMissingError(
            f"kafka.bootstrap: {records[0].topic} cannot be written ({error}).",
            remedy="Start the broker, and allow writing to that topic.",
        ) from error
    finally:
        producer.close(timeout=1)
