"""Random histories of a world, and their replay: clients come and go, drivers die."""

from dataclasses import replace
from functools import partial
from random import Random

from fairlead.engine.context import ShardContext
from fairlead.replay.comparison import Comparison, Written, compare
from fairlead.replay.recorded_log import Recording
from tests.kit.memory_topics import NAMES
from tests.kit.world import World, context_of

GROUPS = ("orders", "a", "group-1", "%RETRY%orders")
DECISIONS = NAMES.name("decisions")


def live(world: World, seconds: int, chance: Random, *, first: int = 0) -> None:
    """Let a world live: clients come, leave and die, records are refused, routes change."""
    for second in range(first, first + seconds):
        group = GROUPS[second % len(GROUPS)]
        if second % 3 == 0:
            world.join(f"client-{second}", group, subscribed=("orders", "payments"))
        if second % 7 == 5:
            chance.choice([client for client in world.clients if not client.gone]).leave()
        if second % 11 == 8:
            chance.choice([client for client in world.clients if not client.gone]).gone = True
        if second % 9 == 4:
            world.topics.append("heartbeats", second % 2, b"orders", b"nonsense %d" % second)
            world.topics.append("routes", 0, b"orders", b"nonsense %d" % second)
        if second % 13 == 6:
            world.queues["orders"] += 2
            world.topics.route("orders", world.queues["orders"])
        world.pass_seconds(1, chance)


def kill(world: World, *written: int) -> None:
    """The driver dies in a batch of every shard after so many records; another one starts."""
    world.topics.now_ms += 200
    for client in world.clients:
        if not client.gone:
            client.beat()
    for shard, number in enumerate(written):
        world.join(f"late-{world.generation}-{shard}", ("orders", "group-1")[shard])
        world.run(shard, killed_after=number)
    world.start_driver()


def recording_of(world: World) -> Recording:
    """Return everything that stood in the input topics, in any order."""
    rows = [row for log in world.topics.rows.values() for row in log]
    Random(3).shuffle(rows)
    return Recording.of(rows)


def written_of(world: World) -> list[Written]:
    """Return everything that was written."""
    return [
        Written(topic, partition, offset, record.key, record.value)
        for (topic, partition), records in world.topics.written.items()
        for offset, record in enumerate(records)
    ]


def compare_of(world: World, written: list[Written] | None = None) -> Comparison:
    """Replay a world, and compare it with what was written, or with a forgery of it."""
    return compare(
        recording_of(world),
        written_of(world) if written is None else written,
        partial(context_of, strategies=world.strategies),
    )


def decisions_of(world: World) -> list[bytes]:
    """Return the decision records."""
    return [record.value or b"" for record in written_of(world) if record.topic == DECISIONS]


def replayed(world: World) -> Comparison:
    """Replay a world under the rules that its present driver has, whichever generation ran."""

    def context(shard: int, generation: int) -> ShardContext:
        present = world.context(shard)
        return replace(present, rules=replace(present.rules, generation=generation))

    return compare(recording_of(world), written_of(world), context)
