"""Which requests wait, and when they are tried again."""

from dataclasses import replace

from fairlead.bridges.request_book import (
    KEPT_MAX,
    QUEUES_ALL_MAX,
    QUEUES_MAX,
    TURN_MAX,
    RequestBook,
)
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request

GIVE_UP_MS = 10_000


def book() -> RequestBook:
    """An empty book whose pauses end at 400 ms."""
    return RequestBook(pause_ms_max=400, give_up_ms=GIVE_UP_MS)


def queue(queue_id: int) -> MessageQueue:
    """A queue of the topic orders."""
    return MessageQueue("orders", "main", queue_id)


def request(*queue_ids: int, group: str = "g", timestamp_ms: int | None = None) -> Request:
    """A request for offsets of these queues; none: of all."""
    queues = tuple(queue(queue_id) for queue_id in queue_ids) or None
    return Request(group, "offsets", "orders", queues, timestamp_ms)


def test_a_request_is_due_when_it_comes() -> None:
    """A request is due when it comes, and no more when it is answered."""
    waiting = book()
    assert waiting.next_at_ms() is None
    waiting.add(request(), now_ms=5)
    assert waiting.next_at_ms() == 5
    assert waiting.due(now_ms=5) == [request()]
    waiting.answered(request())
    assert waiting.due(now_ms=5) == []


def test_requests_for_one_topic_are_merged() -> None:
    """Requests of one group for queues of one topic are one request for all of these queues."""
    waiting = book()
    waiting.add(request(3, 1), now_ms=0)
    waiting.add(request(2, 3), now_ms=0)
    assert waiting.due(now_ms=0) == [request(1, 2, 3)]
    waiting.add(request(), now_ms=0)
    waiting.add(request(5), now_ms=0)
    assert waiting.due(now_ms=0) == [request()]


def test_another_group_time_or_kind_is_another_request() -> None:
    """Another group, another timestamp and another kind are requests of their own."""
    waiting = book()
    route = Request("g", "route", "orders", None, None)
    several = [request(), request(group="h"), request(timestamp_ms=1_780_999_000_000), route]
    for one in several:
        waiting.add(one, now_ms=0)
    assert waiting.due(now_ms=0) == several


def test_who_asks_during_a_flood_is_in_the_next_turn() -> None:
    """Who asks during a flood is in the next turn, and no flood takes more than its place."""
    waiting = book()
    waiting.add(request(group="early"), now_ms=0)
    for number in range(KEPT_MAX + 100):
        waiting.add(request(group=f"invented-{number}"), now_ms=0)
    waiting.add(request(group="late"), now_ms=0)
    assert (waiting.waiting, waiting.dropped) == (KEPT_MAX, 102)
    turn = waiting.due(now_ms=0)
    assert len(turn) == TURN_MAX
    assert turn[-1].group == "late"
    # It is asked again, as by an engine, and is the newest then.
    waiting.add(request(group="early"), now_ms=0)
    assert waiting.due(now_ms=0)[-1].group == "early"
    while turn := waiting.due(now_ms=0):
        for each in turn:
            waiting.answered(each)
    assert waiting.waiting == 0


def test_a_failed_request_is_tried_again_after_growing_pauses() -> None:
    """What cannot be answered is tried again after 100, 200, 400, 400 milliseconds."""
    waiting = book()
    waiting.add(request(), now_ms=0)
    now_ms = 0
    for pause_ms in (100, 200, 400, 400):
        waiting.put_off(request(), now_ms=now_ms)
        assert waiting.due(now_ms=now_ms + pause_ms - 1) == []
        now_ms += pause_ms
        assert waiting.next_at_ms() == now_ms
        assert waiting.due(now_ms=now_ms) == [request()]


def test_a_request_asked_again_is_due_at_once() -> None:
    """A request that is asked again is due at once, and its pauses begin anew."""
    waiting = book()
    waiting.add(request(), now_ms=0)
    waiting.put_off(request(), now_ms=0)
    waiting.put_off(request(), now_ms=0)
    waiting.add(request(), now_ms=10)
    assert waiting.due(now_ms=10) == [request()]
    waiting.put_off(request(), now_ms=10)
    assert waiting.next_at_ms() == 110


def test_after_a_part_only_the_rest_is_asked_for() -> None:
    """After an answer for some queues only the others are still asked for."""
    waiting = book()
    waiting.add(request(), now_ms=0)
    waiting.put_off(request(), now_ms=0, left=[queue(7), queue(2)])
    assert waiting.due(now_ms=100) == [request(2, 7)]


def test_a_request_that_nobody_repeats_is_dropped() -> None:
    """A request is dropped when nobody has asked it again for a while."""
    waiting = book()
    waiting.add(request(), now_ms=0)
    waiting.add(request(), now_ms=50)
    assert waiting.due(now_ms=GIVE_UP_MS + 49) == [request()]
    assert waiting.due(now_ms=GIVE_UP_MS + 50) == []
    waiting.put_off(request(), now_ms=GIVE_UP_MS + 50)
    assert waiting.next_at_ms() is None


def test_given_up_without_a_look() -> None:
    """Those that were given up before anybody looked them up are counted, and only those."""
    waiting = book()
    for group in ("never", "tried"):
        waiting.add(replace(request(), group=group), now_ms=0)
    waiting.put_off(replace(request(), group="tried"), now_ms=0)
    assert waiting.not_reached == 0
    assert waiting.due(now_ms=GIVE_UP_MS) == []
    assert (waiting.waiting, waiting.not_reached) == (0, 1)


def test_queues_without_end() -> None:
    """Who asks for more and more queues of a topic asks for all of it, and costs no more."""
    waiting = book()
    for first in range(0, QUEUES_MAX, 1_024):
        waiting.add(request(*range(first, first + 1_024)), now_ms=0)
    assert waiting.due(now_ms=0) == [request(*range(QUEUES_MAX))]
    waiting.add(request(QUEUES_MAX), now_ms=0)
    assert waiting.due(now_ms=0) == [request()]
    waiting.put_off(request(), now_ms=0, left=[queue(1)])
    assert waiting.due(now_ms=1_000) == [request(1)]


def test_queues_of_all_requests() -> None:
    """What all requests name together is bounded; whatever is struck out makes room again."""
    waiting = book()
    full = QUEUES_ALL_MAX // 1_000
    for number in range(full + 1):
        waiting.add(request(*range(1_000), group=f"g{number:03}"), now_ms=0)
    assert waiting.due(now_ms=0)[-1] == request(group=f"g{full:03}")
    waiting.answered(request(group="g000"))
    waiting.add(request(*range(1_000), group="later"), now_ms=0)
    assert waiting.due(now_ms=0)[-1] == request(*range(1_000), group="later")
    assert waiting.due(now_ms=GIVE_UP_MS) == []
    waiting.add(request(*range(1_000), group="anew"), now_ms=GIVE_UP_MS)
    assert waiting.due(now_ms=GIVE_UP_MS) == [request(*range(1_000), group="anew")]


def test_what_is_left_of_great_requests() -> None:
    """What could not be answered of great topics is bounded too, all of them together."""
    waiting = book()
    for number in range(3):
        waiting.add(request(group=f"g{number}"), now_ms=0)
        left = [queue(each) for each in range(90_000)]
        waiting.put_off(request(group=f"g{number}"), now_ms=0, left=left)
    kept = [len(each.queues or ()) for each in waiting.due(now_ms=1_000)]
    assert kept == [90_000, 90_000, 0]


def test_the_first_attempt_is_known() -> None:
    """Only the first one is logged, until somebody repeats the request."""
    waiting = book()
    waiting.add(request(1), now_ms=0)
    assert waiting.put_off(request(1), now_ms=0)
    assert not waiting.put_off(request(1), now_ms=100)
    waiting.add(request(1), now_ms=200)
    assert waiting.put_off(request(1), now_ms=200)
    assert not waiting.put_off(request(2, group="h"), now_ms=200)
