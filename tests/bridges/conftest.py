"""Fixtures of the tests of bridges."""

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.kit.bridge_ledger import Ledger

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames


@pytest.fixture
def ledger(bootstrap: str, topics: "TopicNames") -> Iterator[Ledger]:
    """The topics of this test on the shared broker."""
    made = Ledger(bootstrap, topics)
    yield made
    made.close()


@pytest.fixture
def topic() -> str:
    """The name of a data topic that no other test uses."""
    return f"orders-{uuid.uuid4().hex[:8]}"
