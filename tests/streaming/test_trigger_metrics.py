"""When triggers last led to decisions, how long they waited, and what slow releases count as."""

from collections import Counter
from dataclasses import replace

from prometheus_client import generate_latest

from fairlead.core.draft import HANDOVER, SLOW_HANDOVER
from fairlead.core.outputs import Decision
from fairlead.engine.outgoing import count_outputs
from streaming.metrics import EngineMetrics
from tests.kit.group_world import GroupWorld, settled


def _joined(at_ms: int, waited_ms: int) -> Decision:
    """Return the decision on a join that was appended so long before the newest record."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    decision = world.decision
    causes = tuple(
        replace(each, at=None if each.at is None else each.at._replace(append_ms=at_ms - waited_ms))
        for each in decision.cause
    )
    return replace(decision, cause=causes, at_ms=at_ms)


def test_when_and_how_long() -> None:
    """The newest decision of a trigger gives its time; waits add up, over all shards."""
    metrics = EngineMetrics("3.5")
    for shard, found in enumerate(([(7_000, 200), (9_000, 300)], [(8_000, 0)])):
        counts: Counter[str] = Counter()
        count_outputs([_joined(*each) for each in found], counts)
        metrics.add_counts(shard, counts)
    text = generate_latest(metrics.registry).decode()
    assert 'fairlead_trigger_timestamp_seconds{trigger="client_joined"} 9.0' in text
    assert 'fairlead_trigger_wait_seconds_total{trigger="client_joined"} 0.5' in text
    assert 'fairlead_decision_triggers_total{trigger="client_joined"} 3.0' in text


def test_slow_releases_are_counted_with_their_time() -> None:
    """An unanswered drop counts each time the engine repeats it, and by how long it took."""
    world = settled("a")
    held = world.epoch_of(0)
    world.reset(0, 3)
    world.run()
    told_again = 0
    for _ in range(4):
        # What it holds by its own word differs: it has not read the drop.
        world.pass_time(2_000)
        world.beat("a", held=1)
        told_again += world.run().counts.get((HANDOVER, "told_again"), 0)
    assert told_again >= 2
    world.release("a", 0, held, 3)
    assert world.run().counts[SLOW_HANDOVER, "5s"] == 1


def test_codes_that_are_free_text() -> None:
    """A code of a strategy of one's own is any text; it makes no series, and costs no number."""
    metrics = EngineMetrics("3.5")
    failures = ("no_rooms", "my/code", "x\ny", "Zone 7", "a" * 41)
    counts = {f"allocation_failures/{code}": 1 for code in failures}
    # The second fits no family, and comes before others.
    metrics.add_counts(0, {**counts, "rejects": 1, "events/a/b": 2, "groups_now/stable": 4})
    text = generate_latest(metrics.registry).decode()
    assert 'fairlead_allocation_failures_total{code="strategy_error"} 4.0' in text
    assert 'fairlead_allocation_failures_total{code="no_rooms"} 1.0' in text
    assert 'fairlead_events_total{outcome="b",type="a"} 2.0' in text
    assert 'fairlead_groups{phase="stable"} 4.0' in text
