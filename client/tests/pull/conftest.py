"""Records as a source pulls them, made of offsets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from fairlead_client.model import Epoch, Queue
from fairlead_client.pull.process_queue import ProcessQueue


@dataclass(frozen=True)
class Pulled:
    """One record of a queue."""

    offset: int
    value: bytes | None = b"12345"
    headers: tuple[tuple[str, bytes], ...] = ()
    key: bytes | None = None
    timestamp: int = 7


@pytest.fixture
def queue() -> Queue:
    """The queue of the test."""
    return Queue("orders", "main", 1)


@pytest.fixture
def work(queue: Queue) -> ProcessQueue:
    """Its process queue, begun at offset 10."""
    return ProcessQueue(queue, Epoch(1, 1), 10)


@pytest.fixture
def pulled() -> Callable[[Iterable[int]], list[Pulled]]:
    """Return records of these offsets."""
    return lambda offsets: [Pulled(offset) for offset in offsets]


@pytest.fixture
def tagged() -> Callable[..., Pulled]:
    """Return a record with these headers."""
    return lambda offset, *headers: Pulled(offset, headers=headers)
