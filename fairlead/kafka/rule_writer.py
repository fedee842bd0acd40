"""Writes rules and resets to the control topic, each under its key, in its group's partition."""

from collections.abc import Sequence
from typing import Final

from fairlead.core.records import ALL_GROUPS, Reset, RuleSet
from fairlead.kafka.record_writer import write_records
from fairlead.settings import KafkaSettings
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode_reset, encode_rule
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["as_read", "partitions_of_rule", "reset_as_read", "write_resets", "write_rules"]

_ONE_SHARD: Final = WireLimits(1)


def partitions_of_rule(rule: RuleSet, shards: int) -> Sequence[int]:
    """Return the partitions for a rule; a rule for all groups goes to every partition."""
    return range(shards) if rule.group == ALL_GROUPS else (partition_of_group(rule.group, shards),)


def as_read(rule: RuleSet) -> RuleSet:
    """Return a rule as the engine reads it from the control topic.

    Raises:
        WireError: the engine would reject its form.
        OversizeError, TypeError: no record can hold it.
    """
    key = rule_key(rule.group, rule.rule, rule.subject)
    raw = RawRecord("control", 0, 0, 0, True, key, encode_rule(rule))  # noqa: FBT003
    read = decode("control", raw, _ONE_SHARD)
    assert isinstance(read, RuleSet)
    return read


def reset_as_read(reset: Reset) -> Reset:
    """Return a reset as the engine reads it from the control topic.

    Raises:
        WireError: the engine would reject its form.
    """
    written = encode_reset(reset, TopicNames(""), 1)
    raw = RawRecord("control", 0, 0, 0, True, written.key, written.value)  # noqa: FBT003
    read = decode("control", raw, _ONE_SHARD)
    assert isinstance(read, Reset)
    return read


def write_rules(kafka: KafkaSettings, rules: Sequence[tuple[int, RuleSet]]) -> list[int]:
    """Write each rule to a partition of the control topic; return the records' offsets.

    Raises:
        EnvironmentMissingError: the topic cannot be written. Some records may be there already.
    """
    topic = TopicNames(kafka.topic_prefix).name("control")
    records = [
        OutgoingRecord(
            topic, partition, rule_key(rule.group, rule.rule, rule.subject), encode_rule(rule)
        )
        for partition, rule in rules
    ]
    return write_records(kafka, records)


def write_resets(kafka: KafkaSettings, resets: Sequence[Reset], shards: int) -> list[int]:
    """Write resets, each to its group's partition of the control topic; return their offsets.

    Raises:
        EnvironmentMissingError: the topic cannot be written. Some records may be there already.
    """
    names = TopicNames(kafka.topic_prefix)
    records = [encode_reset(reset, names, shards) for reset in resets]
    return write_records(kafka, records)
