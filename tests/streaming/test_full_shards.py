"""What the driver tells of full shards: a gauge, and one line each at the begin and the end."""

from structlog.testing import capture_logs

from streaming.full_shards import FullShards


def _gauge(full_shards: FullShards) -> float:
    [family] = full_shards.collect()
    [sample] = family.samples
    return float(sample.value)


def test_begin_and_end_are_told_once_each() -> None:
    """A shard counts while it is full; the engine logs the first and the end of the last once."""
    full_shards = FullShards()
    with capture_logs() as lines:
        full_shards.log_turn()
        full_shards.update(0, {"full_now": 1})
        full_shards.update(1, {"full_now": 1})
        full_shards.log_turn()
        assert _gauge(full_shards) == 2
        full_shards.update(0, {})
        full_shards.log_turn()
        assert _gauge(full_shards) == 1
        full_shards.update(1, {})
        full_shards.log_turn()
        full_shards.log_turn()
    assert _gauge(full_shards) == 0
    assert [line["event"].partition(":")[0] for line in lines] == [
        "shards full",
        "shards no longer full",
    ]
    assert lines[0]["shards"] == 2
