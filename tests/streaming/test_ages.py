"""How old records were when they were decided on, and how far behind the slowest shard is."""

import time

from prometheus_client import CollectorRegistry, generate_latest

from fairlead.engine.shard import run_shard
from streaming.ages import Ages, EventAges, ages_at
from streaming.metrics import WatermarkGap
from streaming.report import read_report, write_report
from tests.kit.memory_topics import shard_of
from tests.kit.scrape import Scrape
from tests.kit.world import World


def _scrape(collector: EventAges | WatermarkGap) -> Scrape:
    registry = CollectorRegistry()
    registry.register(collector)
    return Scrape(generate_latest(registry).decode())


def test_ages_add_up_over_batches() -> None:
    """Ages add up over batches; a bucket has what is at most as old; the future has age 0."""
    ages = EventAges()
    ages.add({"tick": ages_at(100_000, [100_000, 99_950, 99_949, 101_000])})
    ages.add({"tick": ages_at(100_000, [1_000]), "route": ages_at(100_000, [])})
    found = _scrape(ages)
    name = "fairlead_event_age_seconds"
    for bound, number in (("0.05", 3), ("0.1", 4), ("60.0", 4), ("+Inf", 5)):
        assert found.value(f"{name}_bucket", {"type": "tick", "le": bound}) == number
    assert found.value(f"{name}_sum", {"type": "tick"}) == 99.101
    assert found.value(f"{name}_count", {"type": "route"}) == 0
    assert found.labels(f"{name}_count", "type") == {"tick", "route"}


def test_the_shard_farthest_behind_counts() -> None:
    """The shard farthest behind counts; before the first batch there is no number."""
    gap = WatermarkGap()
    assert not [sample for family in gap.collect() for sample in family.samples]
    now_ms = int(time.time() * 1_000)
    gap.update(0, now_ms)
    gap.update(1, now_ms - 60_000)
    assert 60 <= _scrape(gap).value("fairlead_watermark_gap_seconds") < 70
    gap.update(1, now_ms + 60_000)
    gap.update(0, now_ms + 60_000)
    assert _scrape(gap).value("fairlead_watermark_gap_seconds") == 0


def test_told_by_a_shard() -> None:
    """A shard's report has the ages of what it read first in this batch, and what it published."""
    world = World()
    world.topics.tick(1)
    world.join("c1")
    shard = shard_of("orders")
    now_ms = world.topics.now_ms + 300
    first = world.run(shard)
    report = read_report(write_report(first, now_ms).decode())
    assert report.ages["heartbeat"] == ages_at(now_ms, [world.topics.now_ms])
    assert report.ages["tick"].sum_ms >= 300
    assert report.counts["read_until_ms"] == world.topics.now_ms
    again = run_shard(first.stored, world.topics.rows_of(shard), world.context(shard))
    assert read_report(write_report(again, now_ms).decode()).ages == {}
    world.deliver()
    assert world.run(shard).counts["published/assignment"] == 1


def test_routes_are_told_once() -> None:
    """Every shard reads a route, and one of them tells of it."""
    world = World()
    world.topics.route("orders", 4)
    told = [world.run(shard).append_times for shard in (0, 1)]
    assert [len(each.get("route", ())) for each in told] == [1, 0]
    assert Ages().plus(ages_at(0, [])) == Ages()
