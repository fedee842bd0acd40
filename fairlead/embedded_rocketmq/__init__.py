"""A real RocketMQ on loopback, from pinned jars: name servers and brokers for trials and tests.

ADR 0209 gives the reasons.
"""

from fairlead.embedded_rocketmq.cluster import EmbeddedRocketMQ
from fairlead.embedded_rocketmq.cluster_plan import ClusterPlan, ServerState
from fairlead.embedded_rocketmq.control import ServerStatus, read_servers, stop_servers
from fairlead.embedded_rocketmq.plan_file import default_folder, read_plan
from fairlead.embedded_rocketmq.server import ServerExtras

__all__ = [
    "ClusterPlan",
    "EmbeddedRocketMQ",
    "ServerExtras",
    "ServerState",
    "ServerStatus",
    "default_folder",
    "read_plan",
    "read_servers",
    "stop_servers",
]
