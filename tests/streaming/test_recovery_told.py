"""What the driver tells of a recovery: a gauge, and one line each at its begin and its end."""

from structlog.testing import capture_logs

from streaming.recovery import Recovery


def _gauge(recovery: Recovery) -> float:
    [family] = recovery.collect()
    [sample] = family.samples
    return float(sample.value)


def test_begin_and_end_are_told_once_each() -> None:
    """A shard counts while it or a group of it recovers; begin and end are told once."""
    recovery = Recovery()
    with capture_logs() as lines:
        recovery.tell()
        recovery.take(0, {"recovering_now": 1})
        recovery.take(1, {"recovering_now": 1, "groups_now/recovering": 2})
        recovery.tell()
        assert _gauge(recovery) == 2
        recovery.take(0, {})
        recovery.take(1, {"groups_now/recovering": 1, "groups_now/stable": 1})
        recovery.tell()
        assert _gauge(recovery) == 1
        recovery.take(1, {"groups_now/stable": 2})
        recovery.tell()
        recovery.tell()
    assert _gauge(recovery) == 0
    assert [line["event"].partition(":")[0] for line in lines] == ["recovering", "recovered"]
    assert (lines[0]["shards"], lines[0]["groups"]) == (2, 2)
