"""Packets are lost on a whole system, in a network of its own."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.network import own_network

if TYPE_CHECKING:
    from tests.faults.conftest import Stages
    from tests.faults.stage import Stage

pytestmark = [
    pytest.mark.system, pytest.mark.broker, pytest.mark.spark, pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network of its own"),
]  # fmt: skip


@pytest.fixture(scope="module")
def apart(stages: "Stages", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Stage]":
    """A system in a network of its own."""
    from tests.faults.network_faults import DEFAULT_LEASE
    from tests.faults.stage import Stage

    # One system at a time.
    stages.close()
    with own_network(), Stage(tmp_path_factory.mktemp("apart"), DEFAULT_LEASE) as stage:
        yield stage


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_packets_are_lost(apart: "Stage", share: float, tmp_path: Path) -> None:
    """Nobody lapses, nothing is missed or read twice, and decisions go on."""
    from tests.faults.network_faults import packets_lost

    packets_lost(apart, share, tmp_path, random.Random(share))


def test_the_records_break_no_invariant(apart: "Stage") -> None:
    """After all of it the records break no invariant."""
    judgement = apart.verify()
    found = [finding.text for ruling in judgement.rulings for finding in ruling.findings]
    assert found == []
    assert judgement.nothing == ""
