"""A topic with messages whose route a bridge has published: for commands that look at offsets."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from tests.kit.bridge_ledger import Ledger, running
from tests.kit.kafka_topics import fill

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames

__all__ = ["NOW_MS", "routed_topic"]

NOW_MS: Final = int(time.time()) * 1_000 - 60_000
"""When the first message was written: a broker deletes what is old."""


@contextmanager
def routed_topic(bootstrap: str, topics: "TopicNames", *, stem: str = "orders") -> Iterator[str]:
    """Make a topic of two queues with ten messages each, a second apart; return its name."""
    name = f"{stem}-{uuid.uuid4().hex[:8]}"
    ledger = Ledger(bootstrap, topics)
    ledger.make_topic(name, 2)
    for partition in (0, 1):
        fill(bootstrap, name, partition, [NOW_MS + 1_000 * number for number in range(10)])
    bridge = KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=topics.prefix,
        cluster_name="main",
        topics=[name],
        times=BridgeTimes(poll_ms=200),
    )
    with running(bridge):
        ledger.await_route(name, 2)
    yield name
    ledger.admin.delete_topics([name])
    ledger.close()
