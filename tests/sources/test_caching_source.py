"""One look at topics: the same answers, and nothing read twice that was read far enough back."""

import itertools

from fairlead.kafka.caching_source import CachingSource
from fairlead.observed.reading import read_standing
from strategies.registry import STRATEGIES
from tests.kit.live_group import TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.observations import HISTORY_MS
from tests.kit.world import World


def _source() -> MemorySource:
    world = World(queues={"orders": 4})
    for client_id in ("c1", "c2"):
        world.join(client_id, "billing")
        world.join(client_id, "orders")
    world.pass_seconds(8)
    return MemorySource(world.topics)


def test_the_cache_changes_no_answer() -> None:
    """A group stands as it does when everything is read again for each question."""
    source = _source()
    one, alone = (
        read_standing(each, "orders", STRATEGIES, TICK_MS, history_ms=HISTORY_MS)
        for each in (CachingSource(source), source)
    )
    assert one.to_json() == alone.to_json()
    assert [each.to_json() for each in one.queues] == [each.to_json() for each in alone.queues]
    assert [each.to_json() for each in one.members] == [each.to_json() for each in alone.members]


def test_sets_are_read_once_for_two_questions() -> None:
    """Sets are read once for two questions; heartbeats again only for what is further back."""
    source = _source()
    look = CachingSource(source)
    read_standing(look, "orders", STRATEGIES, TICK_MS, history_ms=HISTORY_MS)
    read = [suffix for suffix, _ in source.reads]
    for suffix in set(read) - {"heartbeats"}:
        assert read.count(suffix) == 1
    begins = [since_ms for suffix, since_ms in source.reads if suffix == "heartbeats"]
    assert all(
        each is not None and (before is not None and each < before)
        for before, each in itertools.pairwise(begins)
    )


def test_rows_from_a_time_on() -> None:
    """What was read from its begin is handed out from any time on, partition by partition."""
    source = _source()
    look = CachingSource(source)
    everything = look.read("heartbeats", source.partitions_of("heartbeats"))
    assert everything == source.read("heartbeats", source.partitions_of("heartbeats"))
    middle_ms = sorted(row.append_ms for row in everything)[len(everything) // 2]
    for partition in source.partitions_of("heartbeats"):
        found = look.read("heartbeats", [partition], middle_ms)
        assert found == source.read("heartbeats", [partition], middle_ms)
    assert (
        0
        < len(look.read("heartbeats", source.partitions_of("heartbeats"), middle_ms))
        < len(everything)
    )
