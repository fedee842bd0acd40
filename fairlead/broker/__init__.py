"""A real Kafka on loopback, from pinned jars: one or three nodes, for trials, demo and tests.

ADR 0010 gives the reasons.
"""

from fairlead.broker.cluster import EmbeddedKafka
from fairlead.broker.control import ClusterStatus, NodeStatus, read_status, stop_recorded
from fairlead.broker.folder import default_data_dir
from fairlead.broker.state import ClusterState, NodeState, read_state

__all__ = [
    "ClusterState",
    "ClusterStatus",
    "EmbeddedKafka",
    "NodeState",
    "NodeStatus",
    "default_data_dir",
    "read_state",
    "read_status",
    "stop_recorded",
]
