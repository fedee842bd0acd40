"""The PullConsumer on a real broker, with the engine's side by hand."""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import ClientClosedError, PullConsumer, PullStatus, Queue

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)
WAIT = 30.0


@BOTH
def test_a_pull_consumer_polls_seeks_and_reports_progress(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
) -> None:
    """The application polls, seeks, pulls and says how far it is."""
    one = member(PullConsumer, "a")
    beat = engine.heartbeat("a")
    assert beat["consume_type"] == "pull"
    queue = Queue(data_topic, "main", 0)
    assert one.poll(0) == ()
    engine.grant(beat, queue, 1)
    messages = one.poll(30_000, 5)
    assert [message.offset for message in messages] == list(range(5))
    assert one.assignment() == [queue]
    one.seek(queue, 12)
    assert [message.offset for message in one.poll(30_000)] == list(range(12, 20))
    status, after, pulled = one.pull(queue, 3, 4, 5_000)
    assert (status, after, [one.offset for one in pulled]) == (PullStatus.FOUND, 7, [3, 4, 5, 6])
    assert one.pull(queue, 20, timeout_ms=100)[:2] == (PullStatus.NO_NEW_MSG, 20)
    assert one.pull(queue, 99)[:2] == (PullStatus.OFFSET_ILLEGAL, 20)
    one.commit()
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 20]
    with pytest.raises(ClientClosedError):
        one.pull(queue, 0)


@BOTH
def test_a_puller_with_its_own_offsets_gets_nothing_ahead(
    engine: "ScriptedEngine", member: Callable[..., Any], data_topic: str
) -> None:
    """Who pulls by offsets of its own says how far it is; nothing is pulled ahead."""
    one = member(PullConsumer, "a")
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 1)
    engine.grant(beat, queue, 1)
    engine.applied("a", 1)
    deadline = monotonic() + WAIT
    while not one.assignment():
        assert monotonic() < deadline
    _, after, messages = one.pull(queue, 0, 6, 5_000)
    assert (after, len(messages)) == (6, 6)
    one.update_offset(queue, after)
    one.close()
    assert engine.release(queue, 1)["position"] == [0, 6]
