"""A cluster that forgets no group, for tests of how topics are made."""

from collections.abc import Sequence


class NeverForgotten:
    """The half of a cluster that removes topics: nothing is asked of it, and nothing is closed."""

    def close_to_writes(self, topics: Sequence[str]) -> dict[str, str | None]:
        """Not be asked: no group is forgotten here."""
        raise AssertionError(topics)

    delete = close_to_writes

    def open_to_writes(self, topics: Sequence[str]) -> list[str]:
        """Find none that is closed."""
        del topics
        return []

    def is_empty(self, topic: str) -> bool:
        """Not be asked."""
        raise AssertionError(topic)
