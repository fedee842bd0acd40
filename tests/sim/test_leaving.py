"""A client that leaves while nothing goes wrong."""

import orjson
import pytest
from fairlead_proof.sim.kafka import Kafka
from fairlead_proof.sim.world import TOPIC, SimulatedWorld


def adds_for(kafka: Kafka, incarnation: str) -> int:
    """Return how many adds were written for an incarnation."""
    return sum(
        len(read["add"])
        for number in range(4)
        for record in kafka.partition("assignments", number).records
        if record is not None and record.value is not None
        for read in [orjson.loads(record.value)]
        if read["incarnation"] == incarnation
    )


@pytest.mark.parametrize("seed", range(20))
def test_who_leaves_is_granted_nothing_more(seed: int) -> None:
    """The others own everything long before the leaver's lease could have ended."""
    world = SimulatedWorld(seed)
    world.start_driver()
    for _ in range(3):
        world.join()
    world.timeline.run_until(12_000)
    topic = world.data.topics[TOPIC]
    leaver = world.chance.pick([each for each in world.living if each.application.works])
    told, begun_ms = adds_for(world.kafka, leaver.incarnation), world.timeline.now_ms
    leaver.leave()
    while leaver.alive or sum(len(one.application.works) for one in world.living) < topic.queues:
        world.timeline.run_until(world.timeline.now_ms + 50)
        assert world.timeline.now_ms - begun_ms < 2_800, "not before the shortest lease ends"
    assert leaver.error is None
    assert adds_for(world.kafka, leaver.incarnation) == told
