"""A route that brings queues: shares of before stay until the new bounds are known, or too late."""

from fairlead.codec.group import decode_group, encode_group
from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets, RouteChanged
from fairlead.core.step import due_ms
from tests.kit.group_world import GROUP, GroupWorld, queue_of, settled

WAIT_MS = 2_000


def _growing(*clients: str, queues: int = 6) -> GroupWorld:
    """Return a world of four queues whose route has grown, and whose bounds are asked for."""
    world = settled(*clients)
    world.switch_ms = WAIT_MS
    world.pass_time(500)
    world.route(queues)
    world.run()
    return world


def test_bounds_are_asked_for_when_the_route_is_read() -> None:
    """The wait costs no round: what is waited for was requested in the same step."""
    world = _growing("a", "b")
    asked = [output.queues for output in world.outputs if isinstance(output, Request)]
    assert asked == [(queue_of(4), queue_of(5))]
    assert world.decision.state.phase == "waiting_for_offsets"
    assert world.decision.moves == ()
    assert world.state is not None
    assert due_ms(world.state, world.rules) <= world.clock_ms + WAIT_MS


def test_old_and_new_switch_in_one_decision() -> None:
    """One record tells a member what it gives up of the old queues and gets of the new."""
    world = _growing("a", "b")
    before = world.decision.epoch
    world.bounds(6)
    world.run()
    assert world.decision.epoch == (before.generation, before.number + 1)
    assert [drop.queue.queue_id for drop in world.told("b").drop] == [2]
    assert [add.queue.queue_id for add in world.adds("b")] == [4, 5]
    assert [add.queue.queue_id for add in world.adds("a")] == [2]


def test_some_bounds_are_not_all() -> None:
    """While one new queue is without bounds the shares of before stay."""
    world = _growing("a", "b")
    world.bounds(5)
    world.run()
    assert world.decision.moves == ()
    world.bounds(6)
    world.run()
    assert world.owned("b") == [3, 4, 5]


def test_a_queue_that_is_gone_is_dropped_at_once() -> None:
    """A broker is exchanged for another: nobody goes on reading what is gone while bounds come."""
    world = settled("a", "b")
    world.switch_ms = WAIT_MS
    other = Route("orders", "one", (RouteBroker("other", 6, 4, 4), RouteBroker("main", 6, 2, 2)))
    world.add("routes", RouteChanged("orders", other))
    world.run()
    assert {drop.queue for drop in world.told("b").drop} == {queue_of(2), queue_of(3)}
    assert world.owned("a") == [0, 1]
    known = tuple(
        QueueOffsets(queue_of(number)._replace(broker_name="other"), 0, 9, None, None)
        for number in range(4)
    )
    world.add("offsets", OffsetsKnown(GROUP, "orders", "one", known))
    world.run()
    assert {move.queue.broker_name for move in world.decision.moves} == {"other"}
    assert world.owned("b") == [1, 2, 3]


def test_a_leave_waits_no_longer_than_the_bounds() -> None:
    """Who goes while bounds are asked for is shared out with them, or when their time is over."""
    world = _growing("a", "b")
    world.leave("b")
    for number in (2, 3):
        world.release("b", number, world.epoch_of(number), 8)
    world.run()
    assert world.owned("a") == [0, 1]
    world.pass_time(WAIT_MS)
    world.run()
    assert world.owned("a") == [0, 1, 2, 3]
    (cause,) = (cause for cause in world.decision.cause if cause.kind == "settled")
    assert cause.because == "bounds of 2 new queues were not told within 2000 ms"


def test_an_operators_rule_does_not_wait() -> None:
    """A drain counts in the step that reads it, and the new queues with it."""
    world = _growing("a", "b")
    world.rule("drain", {"client_id": "b"}, "b")
    world.run()
    assert world.owned("b") == []
    world.bounds(6)
    world.run()
    assert world.owned("a") == [0, 1, 2, 3, 4, 5]


def test_a_pause_ends_the_wait() -> None:
    """In a paused group nothing is shared anew, so nothing is waited for."""
    world = _growing("a", "b")
    world.rule("pause", value=True)
    world.run()
    assert world.state is not None
    assert world.state.growing_since_ms is None


def test_the_wait_survives_a_new_state() -> None:
    """Since when is waited stands in the state: a restart of the worker does not begin it anew."""
    world = _growing("a", "b")
    assert world.state is not None
    world.state = decode_group(*encode_group(world.state), GROUP)
    world.pass_time(WAIT_MS)
    world.run()
    assert world.decision.triggers == ("settled",)


def test_a_topic_made_anew_with_more_queues_drops_at_once() -> None:
    """Holders of the former life stop at once; all queues of the new one begin at their minimum."""
    world = settled("a", queues=2)
    world.switch_ms = WAIT_MS
    held = world.epoch_of(0)
    world.route(3, identity="two")
    world.run()
    assert [drop.queue.queue_id for drop in world.told("a").drop] == [0, 1]
    for number in range(2):
        world.release("a", number, held, 77)
    world.bounds(3, identity="two", first=4)
    world.run()
    starts = [(add.queue.queue_id, add.position.offset) for add in world.adds("a")]
    assert starts == [(0, 4), (1, 4), (2, 4)]


def test_without_the_setting_a_route_is_shared_at_once() -> None:
    """A driver that does not tell how long it waits is run again as it was: it did not."""
    world = settled("a", "b")
    world.route(6)
    world.run()
    assert [drop.queue.queue_id for drop in world.told("b").drop] == [2]


def test_an_older_question_holds_up_no_newer_one() -> None:
    """A queue whose bounds never come is asked for seldom; what a route brings is asked for now."""
    world = _growing("a", "b", queues=5)
    for _ in range(30):
        world.pass_time(1_000)
        for client in ("a", "b"):
            world.beat(client)
        world.run()
    world.route(8)
    world.run()
    (asked,) = [output.queues for output in world.outputs if isinstance(output, Request)]
    assert asked is not None
    assert {queue_of(5), queue_of(6), queue_of(7)} <= {*asked}


def test_only_what_the_route_brings_is_waited_for() -> None:
    """A queue that was shared before and has no bounds yet holds up no switch of later ones."""
    world = _growing("a", "b", queues=5)
    world.pass_time(WAIT_MS)
    for client in ("a", "b"):
        world.beat(client)
    world.run()
    world.route(7)
    world.run()
    assert world.state is not None
    assert world.state.growing_since_ms is not None
    known = tuple(QueueOffsets(queue_of(number), 0, 9, None, None) for number in (5, 6))
    world.add("offsets", OffsetsKnown(GROUP, "orders", "one", known))
    world.run()
    assert world.state.growing_since_ms is None
