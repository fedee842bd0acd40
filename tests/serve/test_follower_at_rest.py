"""What a follower costs while nothing comes."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from fairlead_client.transport.silent_brokers import ConnectionManager
from kafka.consumer.fetcher import _FetchPartition

from fairlead.kafka.topic_follower import TopicFollower
from fairlead.observed.read_windows import WINDOWS_MS
from fairlead.settings import load_settings
from fairlead.wire.topics import TopicNames

WAIT_S = 60.0


class Requests:
    """Counts the requests to brokers, by kind and by client."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.clients: set[str] = set()
        self._changed = threading.Condition()

    def note(self, kind: str, client: str) -> None:
        """Count one."""
        with self._changed:
            self.kinds[kind] += 1
            self.clients.add(client)
            self._changed.notify_all()

    def forget(self) -> None:
        """Begin anew."""
        with self._changed:
            self.kinds.clear()
            self.clients.clear()

    def wait(self, holds: Callable[[], bool]) -> None:
        """Return when a condition holds."""
        with self._changed:
            assert self._changed.wait_for(holds, WAIT_S), self.kinds


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Requests:
    """All requests of this process."""
    made = Requests()
    begin, send = ConnectionManager.__init__, ConnectionManager.send
    # Earlier tests of this process may have left connections that still ask.
    own: list[object] = []

    def begun(self: Any, *how: Any, **named: Any) -> None:
        own.append(self)
        begin(self, *how, **named)

    def counted(self: Any, request: Any, *how: Any, **named: Any) -> Any:
        if any(each is self for each in own):
            made.note(type(request).__name__, self.config["client_id"])
        return send(self, request, *how, **named)

    monkeypatch.setattr(ConnectionManager, "__init__", begun)
    monkeypatch.setattr(ConnectionManager, "send", counted)
    return made


def test_at_rest_it_waits_at_the_broker(
    bootstrap: str, topics: TopicNames, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows from its own connection that the topics are the same, and compares no partition."""
    monkeypatch.setattr("fairlead.kafka.topic_follower._IDENTIFY_MS", 500)
    compared: list[object] = []

    def same(one: object, other: object) -> bool:
        compared.append(one)
        return one is other

    monkeypatch.setattr(_FetchPartition, "__eq__", same)
    overrides = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topics.prefix}
    caught_up = threading.Event()
    follower = TopicFollower(
        load_settings(overrides=overrides).kafka,
        {**WINDOWS_MS, "decisions": 3_600_000},
        lambda _names, _partitions: None,
        lambda _rows: None,
        caught_up.set,
    )
    follower.start()
    try:
        assert caught_up.wait(WAIT_S)
        requests.wait(lambda: requests.kinds["FetchRequest"] >= 3)
        requests.forget()
        # It would look at the topics' ids four times meanwhile.
        requests.wait(lambda: requests.kinds["MetadataRequest"] >= 4)
        assert not follower.following.trouble
    finally:
        follower.stop()
    assert requests.clients == {"fairlead-serve"}
    assert requests.kinds.keys() <= {"FetchRequest", "MetadataRequest", "ListOffsetsRequest"}
    assert requests.kinds["FetchRequest"] <= 2 * requests.kinds["MetadataRequest"]
    assert not compared
