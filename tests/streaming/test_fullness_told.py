"""What the driver tells of full shards: a gauge, and one line each at the begin and the end."""

from structlog.testing import capture_logs

from streaming.fullness import Fullness


def _gauge(fullness: Fullness) -> float:
    [family] = fullness.collect()
    [sample] = family.samples
    return float(sample.value)


def test_begin_and_end_are_told_once_each() -> None:
    """A shard counts while it is full; that one is, and that none is any more, is told once."""
    fullness = Fullness()
    with capture_logs() as lines:
        fullness.tell()
        fullness.take(0, {"full_now": 1})
        fullness.take(1, {"full_now": 1})
        fullness.tell()
        assert _gauge(fullness) == 2
        fullness.take(0, {})
        fullness.tell()
        assert _gauge(fullness) == 1
        fullness.take(1, {})
        fullness.tell()
        fullness.tell()
    assert _gauge(fullness) == 0
    assert [line["event"].partition(":")[0] for line in lines] == ["no more room", "room again"]
    assert lines[0]["shards"] == 2
