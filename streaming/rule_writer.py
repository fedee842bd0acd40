"""Writes rules to the control topic: each under its key, in its group's partition."""

from collections.abc import Iterator, Sequence
from typing import Final

from kafka import KafkaProducer
from kafka.errors import KafkaError

from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.errors import EnvironmentMissingError
from fairlead.settings import KafkaSettings
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode_rule
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames
from streaming.connection import client_options

__all__ = ["as_read", "partitions_of_rule", "write_rules"]

_SEND_SECONDS_MAX: Final = 30.0
_ONE_SHARD: Final = WireLimits(1)


def partitions_of_rule(rule: RuleSet, shards: int) -> Sequence[int]:
    """Return where a rule is written: a rule of all groups to every partition."""
    return range(shards) if rule.group == ALL_GROUPS else (partition_of_group(rule.group, shards),)


def as_read(rule: RuleSet) -> RuleSet:
    """Return a rule as the engine reads it from the control topic.

    Raises:
        WireError: the engine rejects it by its form.
        OversizeError, TypeError: no record can hold it.
    """
    key = rule_key(rule.group, rule.rule, rule.subject)
    raw = RawRecord("control", 0, 0, 0, True, key, encode_rule(rule))  # noqa: FBT003
    read = decode("control", raw, _ONE_SHARD)
    assert isinstance(read, RuleSet)
    return read


def write_rules(kafka: KafkaSettings, rules: Sequence[tuple[int, RuleSet]]) -> list[int]:
    """Write each rule to a partition of the control topic; return the records' offsets.

    Raises:
        EnvironmentMissingError: the topic cannot be written. Some may stand there already.
    """
    return list(_written(kafka, rules)) if rules else []


def _written(kafka: KafkaSettings, rules: Sequence[tuple[int, RuleSet]]) -> Iterator[int]:
    topic = TopicNames(kafka.topic_prefix).name("control")
    producer = KafkaProducer(**client_options(kafka, "rules"), acks="all")
    try:
        sent = [
            producer.send(
                topic,
                key=rule_key(rule.group, rule.rule, rule.subject),
                value=encode_rule(rule),
                partition=partition,
            )
            for partition, rule in rules
        ]
        for future in sent:
            yield future.get(timeout=_SEND_SECONDS_MAX).offset
    except KafkaError as error:
        raise EnvironmentMissingError(
            f"kafka.bootstrap: {topic} cannot be written ({error}).",
            remedy="Start the broker, and allow writing to that topic.",
        ) from error
    finally:
        producer.close(timeout=1)
