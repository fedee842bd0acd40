"""How far the input is ahead, from Spark's offsets."""

from streaming.progress import lag

READ = {"a": {"0": 5, "1": 7}, "b": {"0": 1}}


def test_the_lag_is_what_is_not_read() -> None:
    """Per topic, the records that are there and not read, over all partitions."""
    latest = {"a": {"0": 6, "1": 10}, "b": {"0": 1}, "c": {"0": 4}}
    assert lag(READ, latest) == {"a": 4, "b": 0, "c": 4}


def test_without_latest_offsets_there_is_no_lag() -> None:
    """A batch that is run again after a death has no latest offsets, and so no lag."""
    assert lag(READ, None) == {}
