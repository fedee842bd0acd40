"""A quick bridge to a real RocketMQ."""

from typing import TYPE_CHECKING

from fairlead.bridges.rocketmq.bridge import RocketMQBridge, RocketMQBridgeTimes

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

__all__ = ["rocketmq_bridge"]


def rocketmq_bridge(
    cluster: "EmbeddedRocketMQ", bootstrap: str, prefix: str, *topics: str, away_ms: int = 600_000
) -> RocketMQBridge:
    """Return a bridge that publishes these topics, and whatever else somebody asks for."""
    return RocketMQBridge(
        control_bootstrap=bootstrap,
        namesrv=cluster.namesrv,
        cluster_name="main",
        prefix=prefix,
        topics=topics,
        times=RocketMQBridgeTimes(poll_ms=200, discovery_ms=200, away_ms=away_ms),
    )
