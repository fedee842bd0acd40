"""Reads when the records of one group were appended, after a run."""

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.kafka.topic_content import read_to_end
from fairlead.wire.decision_records import DecisionReader
from fairlead_proof.bench.changes import LogTimes

__all__ = ["read_log_times"]


def read_log_times(bootstrap: str, prefix: str, group: str) -> LogTimes:
    """Return when the records of a group were appended."""
    inputs: dict[tuple[str, int, int], int] = {}
    releases: dict[MessageQueue, list[int]] = {}
    for topic in (f"{prefix}heartbeats", f"{prefix}releases"):
        for record in read_to_end(bootstrap, topic).records:
            inputs[topic, record.partition, record.offset] = record.append_ms
            if topic.endswith("releases") and record.value is not None:
                said = orjson.loads(record.value)
                if said["group"] == group:
                    queue = MessageQueue(*said["queue"])
                    releases.setdefault(queue, []).append(record.append_ms)
    decisions: dict[Epoch, int] = {}
    reader = DecisionReader(group)
    for record in read_to_end(bootstrap, f"{prefix}decisions").records:
        decision = None if record.value is None else reader.read(record)
        if decision is not None:
            # What resolves a gate later on has the same epoch: the first one decided.
            decisions.setdefault(decision.epoch, record.append_ms)
    return LogTimes(inputs, releases, decisions)
