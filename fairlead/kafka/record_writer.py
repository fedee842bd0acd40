"""Writes an operator's records into Fairlead's topics, and waits until they are appended."""

from collections.abc import Sequence
from typing import Final

from kafka import KafkaProducer
from kafka.errors import KafkaError

from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import require_reachable
from fairlead.settings import KafkaSettings
from fairlead.wire.raw import OutgoingRecord

__all__ = ["write_records"]

_SEND_SECONDS_MAX: Final = 30.0


def write_records(kafka: KafkaSettings, records: Sequence[OutgoingRecord]) -> list[int]:
    """Write records to their topics and partitions; return their offsets.

    Raises:
        EnvironmentMissingError: a topic cannot be written. Some records may be there already.
    """
    if not records:
        return []
    options = client_options(kafka, "rules")
    require_reachable(options)
    producer = KafkaProducer(**options, acks="all")
    try:
        sent = [
            producer.send(each.topic, key=each.key, value=each.value, partition=each.partition)
            for each in records
        ]
        return [future.get(timeout=_SEND_SECONDS_MAX).offset for future in sent]
    except KafkaError as error:
        says, prefix = f"{records[0].topic} cannot be written", kafka.topic_prefix
        raise cluster_error(options, says, error, prefix=prefix, role=Role.OPERATOR) from error
    finally:
        producer.close(timeout=1)
