"""Which queues a broadcasting member reads, and from where."""

import pytest
from fairlead_client.consume.broadcast.local_offsets import LocalOffset
from fairlead_client.consume.broadcast.queue_plan import QueuePlan, QueuePlanner, QueueStart
from fairlead_client.consume.broadcast.start_offset import Bounds, start_offset
from fairlead_client.model import Queue
from fairlead_client.routes.topic_route import QueueData, TopicRoute

TOPICS = ["orders"]
Q0, Q1 = Queue("orders", "main", 0), Queue("orders", "main", 1)


def route(queues: int, identity: str = "one") -> dict[str, TopicRoute]:
    """The route of the topic, of so many queues in one of its lives."""
    return {"orders": TopicRoute((QueueData("main", queues, queues, 6),), identity=identity)}


def test_a_new_member_reads_every_readable_queue() -> None:
    """A member that was never here begins with every readable queue of its topics."""
    plan = QueuePlanner({}).plan(TOPICS, {**route(2), "rents": TopicRoute()}, {}, {})
    assert plan == QueuePlan(
        start=(QueueStart(Q0, "one", None, late=False), QueueStart(Q1, "one", None, late=False))
    )


def test_a_queue_that_comes_later_is_late() -> None:
    """A queue that comes later is late, also when its look-up had failed before."""
    planner = QueuePlanner({})
    planner.plan(TOPICS, route(1), {}, {})
    plan = planner.plan(TOPICS, route(2), {}, {})
    assert plan.start == (
        QueueStart(Q0, "one", None, late=False),
        QueueStart(Q1, "one", None, late=True),
    )


def test_after_a_restart_a_member_goes_on_at_its_offsets() -> None:
    """A member goes on at its own offsets; what came to its topics meanwhile is late."""
    offsets = {Q0: LocalOffset(7, "one")}
    plan = QueuePlanner(offsets).plan(TOPICS, route(2), {}, offsets)
    assert plan.start == (
        QueueStart(Q0, "one", 7, late=True),
        QueueStart(Q1, "one", None, late=True),
    )


def test_a_recreated_topic_is_read_from_its_beginning() -> None:
    """A client reads a recreated topic from its beginning: old work and old offset do not count."""
    offsets = {Q0: LocalOffset(7, "one")}
    plan = QueuePlanner(offsets).plan(TOPICS, route(1, "two"), {Q0: "one"}, offsets)
    assert plan == QueuePlan(abandon=(Q0,), start=(QueueStart(Q0, "two", None, late=True),))


def test_a_route_that_is_lost() -> None:
    """Without its route a topic is read no more; when the route is back, from where it was."""
    offsets = {Q0: LocalOffset(7, "one")}
    planner = QueuePlanner(offsets)
    assert planner.plan(TOPICS, {}, {Q0: "one"}, offsets) == QueuePlan(stop=(Q0,))
    assert planner.plan(TOPICS, route(1), {}, offsets).start == (
        QueueStart(Q0, "one", 7, late=True),
    )


def test_a_queue_already_read_is_left_alone() -> None:
    """What is read already is left alone."""
    assert QueuePlanner({}).plan(TOPICS, route(1), {Q0: "one"}, {}) == QueuePlan()


def test_an_unsubscribed_or_unreadable_queue_is_stopped() -> None:
    """A topic that is not wanted any more is stopped, and so is a queue that cannot be read."""
    assert QueuePlanner({}).plan([], route(1), {Q0: "one"}, {}).stop == (Q0,)
    assert QueuePlanner({}).plan(TOPICS, route(1), {Q0: "one", Q1: "one"}, {}).stop == (Q1,)


@pytest.mark.parametrize(
    "stored, consume_from, late, offset",
    [
        (None, "last_offset", False, 90),
        (None, "first_offset", False, 10),
        (None, "timestamp", False, 50),
        (None, "last_offset", True, 10),
        (None, "timestamp", True, 10),
        (40, "last_offset", False, 40),
        (40, "first_offset", True, 40),
        (5, "last_offset", False, 10),
        (91, "last_offset", False, 90),
        (90, "first_offset", False, 90),
    ],
)
def test_a_queue_starts_at_its_own_offset_then_by_consume_from(
    stored: int | None,
    consume_from: str,
    late: bool,  # noqa: FBT001 - a column
    offset: int,
) -> None:
    """Its own offset first, within what the queue has; then consume_from; late ones whole."""
    assert start_offset(Bounds(10, 90, 50), stored, consume_from, late=late) == offset


def test_no_message_so_young() -> None:
    """Without a message as young as the timestamp a queue is read from its end."""
    assert start_offset(Bounds(10, 90), None, "timestamp", late=False) == 90
