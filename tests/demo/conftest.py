"""Fixtures of the tests of the demo."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairlead_proof.demo.fleet import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A fleet of processes that need no broker."""
    program = "tests.demo.scripted_consumer"
    fleet = Fleet(tmp_path, {"topic": "orders"}, threading.Condition(), program)
    yield fleet
    fleet.stop()
