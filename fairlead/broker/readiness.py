"""Asks the brokers, through the admin protocol, whether the cluster is ready."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Final

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from fairlead.broker.ports import LOOPBACK, is_listening

_REQUEST_MS: Final = 5_000


def nodes_seen_by(port: int, timeout_ms: int = _REQUEST_MS) -> frozenset[int]:
    """Ask the broker on a port which brokers of its cluster are in service.

    Args:
        port: its port on loopback.
        timeout_ms: how long the answer may take.

    Returns:
        Their node ids, without fenced ones; empty without an answer or an elected controller.
    """
    if not is_listening(port):
        return frozenset()
    try:
        with _quiet(), contextlib.closing(_admin(port, timeout_ms)) as admin:
            cluster = admin.describe_cluster()
    except (KafkaError, OSError):
        return frozenset()
    if cluster["controller_id"] < 0:
        return frozenset()
    in_service = (broker for broker in cluster["brokers"] if not broker["is_fenced"])
    return frozenset(int(broker["broker_id"]) for broker in in_service)


def _admin(port: int, timeout_ms: int) -> KafkaAdminClient:
    return KafkaAdminClient(
        bootstrap_servers=f"{LOOPBACK}:{port}",
        client_id="fairlead-broker-readiness",
        request_timeout_ms=timeout_ms,
        bootstrap_timeout_ms=timeout_ms,
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the client's reports about a starting broker that does not answer yet."""
    logger = logging.getLogger("kafka")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
