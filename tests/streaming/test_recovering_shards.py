"""What the driver tells of a recovery: a gauge, and one line each at its begin and its end."""

from structlog.testing import capture_logs

from streaming.recovering_shards import RecoveringShards


def _gauge(recovery: RecoveringShards) -> float:
    [family] = recovery.collect()
    [sample] = family.samples
    return float(sample.value)


def test_begin_and_end_are_told_once_each() -> None:
    """A shard counts while it or a group of it recovers; the engine logs begin and end once."""
    recovery = RecoveringShards()
    with capture_logs() as lines:
        recovery.log_turn()
        recovery.update(0, {"recovering_now": 1})
        recovery.update(1, {"recovering_now": 1, "groups_now/recovering": 2})
        recovery.log_turn()
        assert _gauge(recovery) == 2
        recovery.update(0, {})
        recovery.update(1, {"groups_now/recovering": 1, "groups_now/stable": 1})
        recovery.log_turn()
        assert _gauge(recovery) == 1
        recovery.update(1, {"groups_now/stable": 2})
        recovery.log_turn()
        recovery.log_turn()
    assert _gauge(recovery) == 0
    assert [line["event"].partition(":")[0] for line in lines] == ["recovering", "recovered"]
    assert (lines[0]["shards"], lines[0]["groups"]) == (2, 2)
