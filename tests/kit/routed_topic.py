"""A topic with messages whose route a bridge has published: for commands that look at offsets."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.kit.bridge import bridge_of, running
from tests.kit.bridge_ledger import Ledger
from tests.kit.kafka_topics import fill
from tests.kit.live_system import NOW_MS

if TYPE_CHECKING:
    from fairlead.wire.topics import TopicNames

__all__ = ["routed_topic"]


@contextmanager
def routed_topic(bootstrap: str, topics: "TopicNames", *, stem: str = "orders") -> Iterator[str]:
    """Make a topic of two queues with ten messages each, a second apart; return its name."""
    name = f"{stem}-{uuid.uuid4().hex[:8]}"
    ledger = Ledger(bootstrap, topics)
    ledger.make_topic(name, 2)
    for partition in (0, 1):
        fill(bootstrap, name, partition, [NOW_MS + 1_000 * number for number in range(10)])
    with running(bridge_of(bootstrap, topics.prefix, name)):
        ledger.await_route(name, 2)
    yield name
    ledger.admin.delete_topics([name])
    ledger.close()
