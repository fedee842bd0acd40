"""A real Kafka on loopback, from pinned jars: one node or three, for trying out, demo and tests."""

from fairlead.broker.cluster import EmbeddedKafka
from fairlead.broker.control import ClusterStatus, NodeStatus, read_status, stop_recorded
from fairlead.broker.state import ClusterState, NodeState

__all__ = [
    "ClusterState",
    "ClusterStatus",
    "EmbeddedKafka",
    "NodeState",
    "NodeStatus",
    "read_status",
    "stop_recorded",
]
