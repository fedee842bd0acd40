"""The same state and the same rows give the same bytes, in any order, chunking and process."""

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.codec.stored import StoredShard
from fairlead.engine.context import ShardResult
from fairlead.engine.shard import run_shard
from fairlead.wire.raw import OutgoingRecord, RawRecord
from tests.kit.hash_seeds import printed_under
from tests.kit.memory_topics import PARTITIONS
from tests.kit.world import World, context_of

GROUPS = ("orders", "a", "group-1", "%RETRY%orders")


def busy(seconds: int = 24) -> World:
    """Return a world in which much happens: joins, a leave, a death, a new driver, bad records."""
    world = World()
    world.topics.tick(1)
    chance = Random(7)
    for second in range(seconds):
        if second in {1, 4, 9, 15}:
            for group in GROUPS:
                world.join(f"client-{second}", group, subscribed=("orders", "payments"))
        if second == 7:
            world.clients[0].leave()
        if second == 8:
            world.clients[1].gone = True
        if second == 10:
            world.queues["orders"] = 6
            world.topics.route("orders", 6)
            world.topics.append("heartbeats", 0, b"orders", b"{}")
            world.topics.rule("a", "timing", {"trigger_ms": 3_000})
        if second == 12:
            world.start_driver()
        if second == 18:
            world.topics.rule("*", "slots", "group")
        _rule_singles(world, second)
        world.pass_seconds(1, chance)
    return world


def _rule_singles(world: World, second: int) -> None:
    """Let an operator pin, weigh, ban and drain in one group, and take some of it back."""
    rule = world.topics.rule
    if second == 3:
        rule("group-1", "strategy", {"name": "STICKY"})
    if second == 5:
        for number, client in ((2, "client-4"), (0, "client-1")):
            queue: list[str | int] = ["orders", "main", number]
            rule("group-1", "pin", {"queue": queue, "client_id": client}, *queue)
            rule("group-1", "ban", {"queue": queue, "client_ids": ["client-9", "c"]}, *queue)
    if second == 11:
        queue = ["orders", "main", 1]
        rule("group-1", "weight", {"queue": queue, "weight": "2.5"}, *queue, because="it is hot")
        rule("group-1", "drain", {"client_id": "client-4"}, "client-4")
    if second == 17:
        rule("group-1", "drain", None, "client-4")
        rule("group-1", "pin", None, "orders", "main", 0)


@pytest.fixture(scope="module")
def world() -> World:
    """A busy world, lived once for all examples."""
    return busy()


def _outcome(result: ShardResult) -> tuple[StoredShard, tuple[OutgoingRecord, ...], object]:
    return result.stored, result.records, result.counts


def _cut(rows: Sequence[RawRecord], ends: Sequence[int]) -> list[list[RawRecord]]:
    edges = [0, *sorted(ends), len(rows)]
    return [list(rows[begin:end]) for begin, end in pairwise(edges)]


@given(data=st.data())
@settings(max_examples=25)
def test_order_and_chunking_do_not_change_the_bytes(world: World, data: st.DataObject) -> None:
    """However Spark orders and cuts the rows, every batch gives the same bytes (rule H16)."""
    shard = data.draw(st.integers(0, PARTITIONS.shards - 1))
    rows = sorted(world.topics.rows_of(shard), key=lambda row: (row.append_ms, row.offset))
    ends = data.draw(st.lists(st.integers(0, len(rows)), max_size=6))
    chance = data.draw(st.randoms(use_true_random=False))
    stored: StoredShard | None = None
    for batch in _cut(rows, ends):
        context = context_of(shard, 2)
        if stored is None:
            context = context_of(shard, 2, first_run=True)
        shuffled = list(batch)
        chance.shuffle(shuffled)
        first, second = run_shard(stored, batch, context), run_shard(stored, shuffled, context)
        assert _outcome(first) == _outcome(second)
        stored = first.stored


def fingerprint() -> str:
    """Return a digest of every byte that a busy world stores and writes."""
    world = busy()
    digest = sha256()
    for _, stored in sorted(world.stored.items()):
        digest.update(repr(stored).encode())
    for place, records in sorted(world.topics.written.items()):
        digest.update(repr((place, records)).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("seed", ["1", "31337"])
def test_another_hash_seed_stores_and_writes_the_same(seed: str) -> None:
    """Processes with different hash seeds store and write the same bytes."""
    script = "from tests.engine.test_determinism import fingerprint; print(fingerprint())"
    assert printed_under(seed, script).decode().strip() == fingerprint()


def test_the_world_is_busy(world: World) -> None:
    """The rows that these tests shuffle lead to every kind of decision."""
    triggers = {trigger for entry in world.decisions for trigger in entry["triggers"]}
    assert triggers >= {
        "client_joined",
        "client_left",
        "client_expired",
        "route_changed",
        "offsets_known",
        "rules_changed",
        "pins_changed",
        "weights_changed",
        "released",
        "generation_started",
        "generation_passed",
    }
    assert len(world.decisions) > 50
