"""Faults of records: in the wrong partition, and refused although their sender lives."""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import orjson

from fairlead.wire.partition import partition_of_group
from tests.faults.stage import LEASE_SECONDS, MARGIN_SECONDS, QUICK, SHARDS, Stage
from tests.kit.kafka_log import Log, body_of

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

_BEAT_SECONDS: Final = 0.6


def wrong_partition(stage: Stage, chance: random.Random) -> None:
    """A heartbeat and a release of a living client where they do not belong change nothing."""
    quick = stage.quick
    with (
        stage.trial("wrong partition") as trial,
        stage.phase(trial, "refused", owners=set()),
        Log(stage.settings.kafka) as log,
    ):
        client_id = quick.client_id(chance.choice(quick.members()))
        beat = _newest_heartbeat(stage, client_id)
        with quick.condition:
            queue, (_, epoch) = next(
                (queue, granted)
                for queue, granted in quick.follower.ownership.granted.items()
                if granted[0] == client_id
            )
        release = {
            **{name: beat[name] for name in ("v", "group", "client_id", "incarnation")},
            "kind": "release",
            "queue": [*queue],
            "epoch": [*epoch],
            "position": None,
        }
        wrong = (partition_of_group(QUICK.group, SHARDS) + 1) % SHARDS
        for suffix, body in (("heartbeats", beat), ("releases", release)):
            offset = log.append(suffix, orjson.dumps(body), QUICK.group.encode(), wrong)
            place = [log.names.name(suffix), wrong, offset]
            rejected = log.await_record("rejects", _about(place))
            assert orjson.loads(rejected.value)["reason"] == "wrong_partition"


def refused_heartbeats(stage: Stage, chance: random.Random) -> None:
    """A client whose heartbeats are all refused is not dead: it may count them, so they count."""
    quick = stage.quick
    with stage.trial("refused heartbeats") as trial, Log(stage.settings.kafka) as log:
        name = chance.choice(quick.members())
        client_id = quick.client_id(name)
        owned = quick.queues_of(name)
        # What was written so far is read while nobody waits for it.
        stage.read_on()
        with (
            quick.frozen(name, stage.log, lapses=True) as still,
            stage.phase(trial, "refused", owners=set(), settles=False),
        ):
            beat = _newest_heartbeat(stage, client_id) | {"lease_ms": "soon"}
            places = []
            for number in range(round(2 * (LEASE_SECONDS + MARGIN_SECONDS) / _BEAT_SECONDS)):
                value = orjson.dumps(beat)
                partition = partition_of_group(QUICK.group, SHARDS)
                offset = log.append("heartbeats", value, QUICK.group.encode(), partition)
                places.append([log.names.name("heartbeats"), partition, offset])
                still.hold((number + 1) * _BEAT_SECONDS)
            assert quick.queues_of(name) == owned
            log.await_record("rejects", _about(places[-1]))
            refused = [body for body in log.bodies("rejects") if body["at"] in places]
            assert [body["reason"] for body in refused] == ["wrong_type"] * len(places)
        # It has heard of none of them, so for itself its lease is over.
        stage.may_expire(trial, name)
        with stage.phase(trial, "back"):
            quick.await_stopped(name, still.until_ns)


def _newest_heartbeat(stage: Stage, client_id: str) -> dict[str, Any]:
    stage.read_on()
    # From the end: after an hour of faults, parsing everything takes longer than a lease.
    for record in reversed(stage.records("heartbeats")):
        body = orjson.loads(record.value or b"{}")
        if body.get("kind") == "heartbeat" and body["client_id"] == client_id:
            return dict(body)
    raise AssertionError(f"{client_id} sent no heartbeat")


def _about(place: list[Any]) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises the reject of the record at a place."""
    return lambda record: bool(body_of(record).get("at") == place)
