"""Who asked for bounds is answered by what topicStatus says, and what it leaves out stays open."""

import pytest

from fairlead.control.offset_answers import StatusError, answer_requests, topic_status_lookup
from fairlead.core.model import MessageQueue, Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets

STATUS = """\
#Broker Name                      #QID  #Min  #Max  #Last Updated
a    0     3     120   2026-01-01 08:00:00,123

a                                 1     7                     7
b                                 0     0                     0
"""
ROUTE = Route(
    "orders",
    "life-1",
    (RouteBroker("a", 6, 2, 2), RouteBroker("b", 6, 2, 2), RouteBroker("c", 2, 2, 2)),
)


def _request(timestamp_ms: int | None = None, *queues: MessageQueue) -> Request:
    return Request("group", "offsets", "orders", queues or None, timestamp_ms)


def test_each_queue_of_the_status_is_answered() -> None:
    """Each queue that stands there is answered; of those that nobody reads nothing is missing."""
    queues = (
        QueueOffsets(MessageQueue("orders", "a", 0), 3, 120, None, None),
        QueueOffsets(MessageQueue("orders", "a", 1), 7, 7, None, None),
        QueueOffsets(MessageQueue("orders", "b", 0), 0, 0, None, None),
    )
    found = answer_requests([_request()], ROUTE, topic_status_lookup(STATUS))
    assert found.records == (OffsetsKnown("group", "orders", "life-1", queues),)
    assert found.left == {"group": 1}
    found = answer_requests([_request(None, queues[1].queue)], ROUTE, topic_status_lookup(STATUS))
    assert found == ((OffsetsKnown("group", "orders", "life-1", queues[1:2]),), {})


def test_what_the_status_lacks_is_not_answered() -> None:
    """A route's request asks for no bounds, and no bounds tell where a time is."""
    route = Request("group", "route", "orders", None, None)
    assert answer_requests([route], ROUTE, topic_status_lookup(STATUS)) == ((), {})
    assert answer_requests([_request(1_000)], ROUTE, topic_status_lookup(STATUS)) == (
        (),
        {"group": 4},
    )


@pytest.mark.parametrize("line", ["a 0 0", "a x 0 1", "a 0 2 1", "a 0 -1 1", "service unavailable"])
def test_a_line_that_is_no_status_is_refused_with_its_number(line: str) -> None:
    """What is no line of topicStatus is refused with its number."""
    with pytest.raises(StatusError, match="line 2"):
        topic_status_lookup(f"a 0 0 1\n{line}\n")
