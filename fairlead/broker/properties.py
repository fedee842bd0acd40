"""Builds the server.properties of one embedded node: small, on loopback, and safe."""

from collections.abc import Mapping
from pathlib import Path

from fairlead.broker.ports import LOOPBACK
from fairlead.broker.state import ClusterState, NodeState


def server_properties(
    state: ClusterState, node: NodeState, log_dir: Path, overrides: Mapping[str, str]
) -> str:
    """Return the file's text.

    Args:
        state: the cluster, for its controllers' addresses and its size.
        node: the node.
        log_dir: the node's data folder.
        overrides: settings that replace or complete the built-in ones.
    """
    properties = _addresses(state, node) | _replication(len(state.nodes)) | _sizes()
    properties |= {"log.dirs": str(log_dir)} | dict(overrides)
    return "".join(f"{name}={value}\n" for name, value in sorted(properties.items()))


def _addresses(state: ClusterState, node: NodeState) -> dict[str, str]:
    voters = ",".join(f"{one.node_id}@{LOOPBACK}:{one.controller_port}" for one in state.nodes)
    client = f"PLAINTEXT://{LOOPBACK}:{node.port}"
    controller = f"CONTROLLER://{LOOPBACK}:{node.controller_port}"
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.node_id),
        "controller.quorum.voters": voters,
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{client},{controller}",
        "advertised.listeners": client,
        "inter.broker.listener.name": "PLAINTEXT",
    }


def _replication(nodes: int) -> dict[str, str]:
    """Return one copy on one node; on three nodes, three copies with two required writes."""
    in_sync_min = "1" if nodes == 1 else "2"
    return {
        "default.replication.factor": str(nodes),
        "min.insync.replicas": in_sync_min,
        "unclean.leader.election.enable": "false",
        "offsets.topic.replication.factor": str(nodes),
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": str(nodes),
        "transaction.state.log.min.isr": in_sync_min,
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": str(nodes),
        "share.coordinator.state.topic.min.isr": in_sync_min,
        "share.coordinator.state.topic.num.partitions": "1",
    }


def _sizes() -> dict[str, str]:
    """Return the settings for a fast start and a heap of 256 MB."""
    return {
        "auto.create.topics.enable": "false",
        "num.partitions": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A killed node can register again only after its old session has ended: by default 9 s,
        # nearly a whole lease of a consumer.
        "broker.session.timeout.ms": "5000",
        "broker.heartbeat.interval.ms": "1000",
        "num.network.threads": "2",
        "num.io.threads": "2",
        "num.recovery.threads.per.data.dir": "1",
        "background.threads": "2",
        "log.segment.bytes": "67108864",
        # The default, 128 MB, is half of the heap.
        "log.cleaner.dedupe.buffer.size": "8388608",
    }
