"""What assignment records say about who may work on what, and that they never contradict."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from tests.kit.client import Client
from tests.kit.kafka_log import Log, body_of

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord


def owns_all(client: Client, generation: int) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises a record by which a client may work on all four queues."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (
            (body.get("group"), body.get("client_id")) == (client.group, client.client_id)
            and body["generation"] == generation
            and [each["state"] for each in body.get("assigned", ())] == ["held"] * 4
        )

    return wanted


def held_by(client: Client) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises that a client may work on all queues, by whichever generation."""
    generations = [owns_all(client, generation) for generation in (1, 2)]
    return lambda record: any(wanted(record) for wanted in generations)


def assert_decided_once(log: Log) -> None:
    """Check that nothing was decided in two ways, however often it was written.

    Decisions of one cut are equal byte for byte, and an epoch of a queue has one owner, whose start
    never moves back and whose gates only become fewer.
    """
    decisions: dict[tuple[Any, ...], bytes] = {}
    for record in log.records("decisions"):
        body = body_of(record)
        cut = body["cut"]
        place = (cut["generation"], cut["shard"], cut["step"], body["group"], body["part"])
        assert decisions.setdefault(place, record.value) == record.value
    grants: dict[str, tuple[Any, ...]] = {}
    for body in log.bodies("assignments"):
        for add in body.get("add", ()):
            owner = (body["client_id"], body["incarnation"])
            gates = [[each["incarnation"], each["epoch"]] for each in add["after"]]
            queue = orjson.dumps([body["group"], add["queue"], add["epoch"]]).decode()
            known = grants.setdefault(queue, (owner, add["position"], gates))
            assert known[0] == owner
            assert known[1] <= add["position"]
            assert all(gate in known[2] for gate in gates)
            grants[queue] = (owner, add["position"], gates)
