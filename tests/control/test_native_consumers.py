"""A native group on a cluster that nobody has asked for a group yet."""

import contextlib
from pathlib import Path

import pytest

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.broker import EmbeddedKafka
from fairlead.control.native_consumers import NativeConsumers

pytestmark = pytest.mark.broker


def test_on_a_cluster_without_groups(tmp_path: Path) -> None:
    """The first question makes the coordinator; its answer is that there is nothing."""
    with EmbeddedKafka(tmp_path) as kafka:
        data = DataCluster(kafka.bootstrap, timeout_ms=10_000, options={})
        with contextlib.closing(data):
            assert NativeConsumers(data, "nobody").topics() == []
