"""A group's own retry topic is a topic like others, and holds up none of them."""

from fairlead.core.model import MemberProfile, Position
from fairlead.core.outputs import Assignment, Request
from fairlead.core.records import Release
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of

RETRY = "%RETRY%orders"
TOPICS = ("orders", RETRY)


def requested(world: GroupWorld) -> set[tuple[str, str]]:
    """What the last run asked bridges for."""
    return {(output.what, output.topic) for output in world.outputs if isinstance(output, Request)}


def adds(world: GroupWorld) -> dict[str, list[tuple[str, int]]]:
    """Topic and number of the queues that the last run gave to each client."""
    given: dict[str, list[tuple[str, int]]] = {}
    for output in world.outputs:
        if isinstance(output, Assignment):
            queues = [(add.queue.topic, add.queue.queue_id) for add in output.add]
            given.setdefault(output.member.client_id, []).extend(queues)
    return given


def test_the_retry_topic_is_asked_for_from_the_first_heartbeat() -> None:
    """The retry topic's route is asked for with the group's first heartbeat, and again later."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.run()
    assert ("route", RETRY) in requested(world)
    world.pass_time(1_000)
    world.beat("a", topics=TOPICS)
    world.run()
    assert ("route", RETRY) in requested(world)


def test_without_its_route_a_retry_topic_holds_up_no_other() -> None:
    """Without a route of the retry topic the group's other topic is shared, and moves go on."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.run()
    world.route(4)
    world.bounds(4)
    world.run()
    assert adds(world) == {"a": [("orders", number) for number in range(4)]}
    world.beat("a", topics=TOPICS)
    world.beat("b", topics=TOPICS)
    world.run()
    for number in (2, 3):
        world.release("a", number, world.told("a").drop[number - 2].epoch, 7)
    world.run()
    assert world.owned("b") == [2, 3]


def test_a_routed_retry_topic_is_shared_without_other_moves() -> None:
    """When its route comes, the retry topic is shared, and no queue of another topic moves."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.beat("b", topics=TOPICS)
    world.publish(4)
    world.beat("a", topics=TOPICS)
    world.beat("b", topics=TOPICS)
    world.run()
    world.route(18, RETRY)
    world.bounds(18, RETRY)
    world.run()
    assert adds(world) == {
        "a": [(RETRY, number) for number in range(9)],
        "b": [(RETRY, number) for number in range(9, 18)],
    }
    assert all(not output.drop for output in world.outputs if isinstance(output, Assignment))


def test_counts_for_nothing_where_queues_are_balanced() -> None:
    """Who joins has its share of the messages, not the empty queues of the delays instead."""
    world = GroupWorld()
    world.rule("strategy", {"name": "STICKY"})
    world.beat("a", topics=TOPICS)
    world.publish(8)
    world.route(18, RETRY)
    world.bounds(18, RETRY)
    world.run()
    world.claims("a")
    world.beat("b", topics=TOPICS)
    world.run()
    dropped = [(each.queue.topic, each.queue.queue_id) for each in world.told("a").drop]
    assert len(dropped) == 4
    assert {topic for topic, _ in dropped} == {"orders"}


def test_starts_at_its_beginning() -> None:
    """What failed before the retry topic's offsets were known is consumed too."""
    world = GroupWorld()
    last = MemberProfile(consume_from="last_offset")
    world.beat("a", topics=TOPICS, profile=last)
    world.run()
    for topic in TOPICS:
        world.route(1, topic)
        world.bounds(1, topic, first=3, last=50)
    world.run()
    starts = {add.queue.topic: (add.position.offset, add.why) for add in world.adds("a")}
    assert starts == {"orders": (50, "last_offset"), RETRY: (3, "minimum")}


def test_a_retry_topic_without_offsets_waits_alone() -> None:
    """A retry topic whose offsets nobody tells waits alone."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.run()
    world.route(1, RETRY)
    world.route(2)
    world.bounds(2)
    world.run()
    assert adds(world) == {"a": [("orders", 0), ("orders", 1)]}


def test_the_route_of_a_deleted_retry_topic_is_asked_for() -> None:
    """As long as a member reads it, its route is asked for, as that of any topic."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.run()
    for topic in TOPICS:
        world.route(2, topic)
        world.bounds(2, topic)
    world.run()
    (told,) = [output for output in world.outputs if isinstance(output, Assignment)]
    held = told.epoch
    for topic in TOPICS:
        world.route(None, topic)
    world.run()
    assert requested(world) == {("route", "orders"), ("route", RETRY)}
    world.pass_time(1_000)
    world.beat("a", topics=TOPICS)
    world.run()
    assert requested(world) == {("route", "orders"), ("route", RETRY)}
    for number in (0, 1):
        released = Release(GROUP, key_of("a"), queue_of(number, RETRY), held, Position(0, 9))
        world.add("releases", released)
    world.route(2, RETRY, identity="two")
    world.run()
    assert requested(world) == {("offsets", RETRY)}
    world.bounds(2, RETRY, identity="two", last=0)
    world.run()
    assert adds(world) == {"a": [(RETRY, 0), (RETRY, 1)]}
    world.route(None, RETRY)
    world.route(2)
    world.beat("a", topics=("orders",))
    world.run()
    assert requested(world) == set()


def test_nobody_is_short_of_it() -> None:
    """A group without a retry topic wants for nothing: it asks ever more seldom, never to make."""
    world = GroupWorld()
    world.beat("a", topics=TOPICS)
    world.run()
    assert requested(world) == {("route", "orders"), ("offsets", "orders"), ("route", RETRY)}
    world.route(2)
    world.bounds(2)
    world.run()
    assert world.decision.state.phase == "stable"
    asked = 0
    for _ in range(3_600):
        world.pass_time(1_000)
        world.beat("a", topics=TOPICS)
        world.run()
        assert requested(world) <= {("route", RETRY)}
        asked += len(requested(world))
    assert 10 <= asked <= 20


def test_a_rule_has_the_retry_topic_made_at_once() -> None:
    """A rule has it made before anything failed; until it is there the group waits for it."""
    world = GroupWorld()
    world.rule("retry_topics", "on_subscription")
    world.beat("a", topics=TOPICS)
    world.run()
    asked = {("route", "orders"), ("offsets", "orders"), ("retry", RETRY), ("offsets", RETRY)}
    assert requested(world) == asked
    world.route(2)
    world.bounds(2)
    world.run()
    assert world.decision.state.phase == "waiting_for_route"
    world.rule("retry_topics", None)
    world.run()
    assert world.decision.state.phase == "stable"


def test_another_groups_retry_topic() -> None:
    """It is a topic like others to this group: whoever reads it is short of it."""
    world = GroupWorld()
    world.rule("retry_topics", "on_subscription")
    world.beat("a", topics=("orders", "%RETRY%another"))
    world.run()
    assert {topic for what, topic in requested(world) if what == "route"} == {
        "orders",
        "%RETRY%another",
    }
    assert "retry" not in {what for what, _ in requested(world)}
    world.route(2)
    world.bounds(2)
    world.run()
    assert world.decision.state.phase == "waiting_for_route"


def test_bridges_hear_that_a_group_with_a_retry_topic_is_gone() -> None:
    """Of a group that had one the bridges hear that it is no more; of others they hear nothing."""
    for topics in (TOPICS, ("orders",)):
        world = GroupWorld()
        world.beat("a", topics=topics)
        world.run()
        for topic in topics:
            world.route(2, topic)
            world.bounds(2, topic)
        world.run()
        world.leave("a")
        said = set()
        while world.state is not None:
            world.run()
            said |= requested(world)
            world.pass_time(100_000)
        assert said == ({("forgotten", RETRY)} if topics == TOPICS else set())
