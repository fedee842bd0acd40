"""Kafka's own assignors, compiled once."""

from pathlib import Path

import pytest
from fairlead_proof.bench.assignors.contestant import Contestant
from fairlead_proof.bench.assignors.kafka import kafka_contestants


@pytest.fixture(scope="session")
def kafka_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where classes and logs are."""
    return tmp_path_factory.mktemp("assignors")


@pytest.fixture(scope="session")
def kafka(kafka_folder: Path) -> dict[str, Contestant]:
    """UNIFORM, RANGE and COOPERATIVE_STICKY from their released jars, by name."""
    return {each.name: each for each in kafka_contestants(kafka_folder)}
