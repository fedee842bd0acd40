"""A batch that a reader has passed over, and how many there were in this process."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["BATCHES_PASSED_OVER", "PassedOver", "UnreadableBatch"]


@dataclass(frozen=True, slots=True)
class UnreadableBatch:
    """Some records that cannot be read.

    Attributes:
        topic: its full name.
        partition: its number.
        offset: of the first record.
        end: the offset behind the last one, where reading goes on.
        reason: why it cannot be read.
    """

    topic: str
    partition: int
    offset: int
    end: int
    reason: str


class PassedOver:
    """How many batches this process has passed over, by topic; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, topic: str) -> None:
        """Count one batch of a topic."""
        with self._lock:
            self._counts[topic] += 1

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of now, by the topic's full name."""
        with self._lock:
            return dict(self._counts)


BATCHES_PASSED_OVER: Final = PassedOver()
"""Of this process. A process has readers of several kinds, and its metrics tell of all of them."""
