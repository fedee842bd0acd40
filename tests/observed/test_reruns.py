"""Batches that are run twice, and engines that write after they were superseded."""

from dataclasses import replace

import orjson
import pytest

from fairlead.core.model import Epoch
from fairlead.observed.assignments import GroupAssignments
from fairlead.observed.group_decisions import GroupDecisions
from fairlead.wire.partition import partition_of_group
from fairlead.wire.quick_assignments import part_of
from fairlead.wire.quick_decisions import Part, read_part
from fairlead.wire.raw import RawRecord
from tests.kit.live_group import GROUP
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.observed_world import Followed, Reader
from tests.kit.world import World, world_of

_SHARD = partition_of_group(GROUP, PARTITIONS.shards)


def _rows(world: World, suffix: str) -> list[RawRecord]:
    topic = NAMES.name(suffix)
    return [row for row in Reader(world).rows() if row.topic == topic and row.value is not None]


@pytest.mark.parametrize("again", ["task", "driver"])
def test_batch_that_is_run_twice(again: str) -> None:
    """What a batch decided counts once, whether its task or its driver was started again."""
    world = world_of("c1", "c2", "c3", queues={"orders": 8})
    followed = Followed(world)
    world.join("c4", subscribed=tuple(world.queues))
    written = len(_rows(world, "decisions"))
    world.run(_SHARD, killed_after=10**6)
    followed.read()
    assert len(_rows(world, "decisions")) > written
    happened = followed.view.counters
    rebalances, moves = dict(happened.rebalances), dict(happened.moves)
    decided = happened.phases["decide"].sum_seconds, sum(happened.phases["decide"].counts)
    assert rebalances == {(GROUP, "client_joined"): 1}
    assert sum(moves.values()) > 0
    if again == "driver":
        world.start_driver()
    world.run(_SHARD)
    followed.read()
    joined = {key: count for key, count in happened.rebalances.items() if "joined" in key[1]}
    assert joined == rebalances
    assert happened.moves == moves
    assert (happened.phases["decide"].sum_seconds, sum(happened.phases["decide"].counts)) == decided
    newest = orjson.loads(_rows(world, "decisions")[-1].value or b"")
    assert followed.view.groups()[0].epoch == Epoch(*newest["epoch"])


def _part(row: RawRecord, generation: int, number: int) -> Part:
    body = orjson.loads(row.value or b"")
    body |= {"part": number, "parts": 2, "epoch": [generation, 99]}
    body["cut"]["generation"] = generation
    _, part = read_part(row._replace(value=orjson.dumps(body)))
    return part


@pytest.mark.parametrize("order", ["oonn", "onon", "onno", "noon", "nono"])
def test_parts_of_two_decisions(order: str) -> None:
    """A decision is whole though parts of one of an older engine stand between its own."""
    row = _rows(world_of("c1", "c2"), "decisions")[-1]
    parts = {
        name: [_part(row, generation, 0), _part(row, generation, 1)]
        for name, generation in (("o", 7), ("n", 8))
    }
    decided = GroupDecisions()
    for name in order:
        decided.apply_part(GROUP, parts[name].pop(0))
    assert decided.newest is not None
    assert decided.newest.epoch == Epoch(8, 99)


def test_set_of_an_older_engine() -> None:
    """What an engine tells a member after it was superseded is passed over."""
    row = _rows(world_of("c1"), "assignments")[-1]
    newer = part_of(orjson.loads(row.value or b""))
    newer = replace(newer, generation=newer.generation + 1)
    told = GroupAssignments()
    told.put(newer)
    told.put(replace(newer, generation=newer.generation - 1, assigned=()))
    assert told.sets[newer.member].entries == newer.assigned
    told.put(replace(newer, generation=newer.generation + 1, assigned=()))
    assert told.sets[newer.member].entries == ()
