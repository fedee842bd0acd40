"""What a producer knows of a broker goes with the last route that names it."""

from collections.abc import Callable
from threading import Event

import pytest
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.route_refresher import RouteRefresher
from fairlead_client.produce.selector import FairSelector
from fairlead_client.producer import Producer

WAIT_SECONDS = 30


def test_a_broker_that_left_the_route_is_forgotten(
    bootstrap: str,
    topic_prefix: str,
    data_topic: str,
    publish: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next round after the route has changed keeps no state of a broker that left it."""
    kept, gone = FairSelector.forget_except, Event()

    def forget(self: FairSelector, brokers: frozenset[str]) -> None:
        kept(self, brokers)
        if "7" in brokers:
            gone.set()

    monkeypatch.setattr(RouteRefresher, "interval_ms", 50)
    monkeypatch.setattr(FairSelector, "forget_except", forget)
    publish(data_topic, ["1", "1"])
    with Producer(bootstrap=bootstrap, prefix=topic_prefix) as producer:
        producer.send(OutgoingMessage(data_topic, b"x"), timeout_ms=20_000)
        assert set(producer.brokers()) == {"1"}
        publish(data_topic, ["7", "7"])
        assert gone.wait(WAIT_SECONDS)
        assert producer.brokers() == {}
