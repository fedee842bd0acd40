"""One client that asks for more than there is: new groups, members, records, releases.

`make abuse` measures what its neighbours wait. Here the same is done in small, for what holds at
any speed: the surplus is refused with the quota's name, and counted; and no batch is longer than
the settings allow.
"""

import uuid
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import orjson
from kafka import KafkaProducer

from fairlead.settings import Settings
from fairlead.wire.partition import partition_of_group
from tests.kit.kafka_log import SHARDS, Log, body_of

GROUPS: Final = 300
GROUPS_PER_SECOND: Final = 4
MEMBERS: Final = 40
RECORDS: Final = 600
CROWD: Final = "crowd"
BATCH_RECORDS_MAX: Final = 1_000
SETTINGS: Final = {
    "groups.new_groups_per_second": str(GROUPS_PER_SECOND),
    "engine.max_offsets_per_trigger": str(BATCH_RECORDS_MAX),
    f"group.{CROWD}.quota.members": "5",
    f"group.{CROWD}.quota.records_per_second": "10",
}
REASONS: Final = {
    "quota_new_groups": "groups.new_groups_per_second",
    "quota_members": "members",
    "quota_records": "records_per_second",
}
"""Reasons, and the setting that the dead letter names."""
_ROUNDING: Final = 40
"""A batch's share of each partition is rounded up, so one more of each may be in it."""


def abuse(settings: Settings, log: Log) -> None:
    """Write it all at once, in the form of what an honest client writes."""
    honest = log.await_record("heartbeats", lambda each: "subscriptions" in body_of(each))
    producer = KafkaProducer(bootstrap_servers=settings.kafka.bootstrap, acks="all", linger_ms=20)
    try:
        for topic, group, body in _records(body_of(honest)):
            producer.send(
                log.names.name(topic),
                orjson.dumps(body),
                key=group.encode(),
                partition=partition_of_group(group, SHARDS),
            )
        producer.flush(60)
    finally:
        producer.close()


def _records(honest: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    def beat(group: str, client_id: str, sequence: int = 1) -> dict[str, Any]:
        life = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{group}/{client_id}"))
        process = {"start_ms": 1_781_000_000_000, "uuid": life, "incarnations": 1}
        who = {"group": group, "client_id": client_id, "incarnation": life, "process": process}
        return {**honest, **who, "sequence": sequence}

    for number in range(MEMBERS):
        yield "heartbeats", CROWD, beat(CROWD, f"member-{number}")
    for number in range(GROUPS):
        yield "heartbeats", f"invented-{number}", beat(f"invented-{number}", "abuser")
    flood = beat(CROWD, "member-0")
    for sequence in range(2, 2 + RECORDS):
        yield "heartbeats", CROWD, {**flood, "sequence": sequence}
    release = {name: flood[name] for name in ("v", "group", "client_id", "incarnation")}
    for number in range(RECORDS):
        ended = {"kind": "release", "queue": ["orders", "main", 0], "epoch": [1, 900_000 + number]}
        yield "releases", CROWD, {**release, **ended, "position": [0, number]}


def letters(log: Log) -> Counter[str]:
    """Return how many dead letters name which quota; each says which setting it is."""
    found: Counter[str] = Counter()
    for body in log.bodies("rejects"):
        reason = body["reason"]
        if reason in REASONS:
            found[reason] += 1
            assert REASONS[reason] in f"{body['detail']} {body['remedy']}", body
    return found


def longest_batch(checkpoint: Path) -> int:
    """Return how many records the longest batch read, as far as the checkpoint remembers."""
    planned = sorted(
        (checkpoint / "query" / "offsets").glob("[0-9]*"), key=lambda one: int(one.name)
    )
    ends = [orjson.loads(path.read_text(encoding="utf-8").splitlines()[2]) for path in planned]
    totals = [sum(sum(partitions.values()) for partitions in each.values()) for each in ends]
    assert len(totals) > 1
    return max(after - before for before, after in pairwise(totals))


def longest_allowed() -> int:
    """Return how many records a batch may read."""
    return BATCH_RECORDS_MAX + _ROUNDING
