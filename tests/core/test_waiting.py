"""The engine tells members once what keeps them waiting, where only the engine knows it."""

from fairlead.control.native_handback import release_rule
from fairlead.core.outputs import Assignment, Decision, Gone, Notice
from fairlead.core.publishing.waiting import UNANSWERED_MS
from fairlead.core.records import TopicAbsent
from tests.kit.group_operator import drain
from tests.kit.group_world import GROUP, GroupWorld


def _told(world: GroupWorld) -> list[tuple[str, str | None, str]]:
    """Return what the newest step told of waiting: to whom, the reason, the words."""
    return [
        (output.member.client_id, output.reason, output.message)
        for output in world.outputs
        if isinstance(output, Notice) and output.code == "waiting"
    ]


def _absent(world: GroupWorld, topic: str = "payments", cluster: str = "main") -> None:
    world.add("offsets", TopicAbsent(GROUP, topic, cluster))


def _beat_on(
    world: GroupWorld, milliseconds: int, clients: str = "a", topic: str = "payments"
) -> None:
    """Let time pass, and clients heartbeat at its end."""
    world.clock_ms += milliseconds
    for client in clients:
        world.beat(client, topics=(topic,))
    world.run()


def test_an_absent_topic_is_reported_once_and_its_end_too() -> None:
    """A bridge says that a topic is absent: its subscriber gets one notice, and one of the end."""
    world = GroupWorld()
    world.beat("a", topics=("payments",))
    world.beat("b", topics=("orders",))
    world.publish(2)
    assert _told(world) == []
    _absent(world)
    world.run()
    words = (
        "topic payments does not exist on cluster main; create it there, or correct the "
        "subscription"
    )
    assert _told(world) == [("a", "topic", words)]
    _absent(world)
    world.run()
    assert _told(world) == []
    _absent(world, cluster="far")
    world.run()
    ((_, reason, message),) = _told(world)
    assert (reason, "on cluster far, main;" in message) == ("topic", True)
    world.route(2, "payments")
    world.bounds(2, "payments")
    world.run()
    ((client, reason, _),) = _told(world)
    assert (client, reason) == ("a", None)
    assert world.state is not None
    assert world.state.absent == {}


def test_it_is_no_move() -> None:
    """A notice of waiting stands beside a decision that names no cause and moves nothing."""
    world = GroupWorld()
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    notice, decision = world.outputs
    assert isinstance(notice, Notice)
    assert isinstance(decision, Decision)
    assert (decision.cause, decision.triggers, decision.moves) == ((), (), ())
    assert decision.epoch == decision.previous_epoch


def test_a_topic_with_a_route_is_absent_for_nobody() -> None:
    """Where a route stands, that another cluster lacks the topic tells nobody anything."""
    world = GroupWorld()
    world.beat("a")
    world.publish(2)
    _absent(world, "orders", "far")
    _absent(world, "stranger")
    world.run()
    assert world.outputs == ()
    assert world.state is not None
    assert world.state.absent == {}


def test_a_deleted_topic_is_reported_as_absent() -> None:
    """A topic that is deleted while it is read does not exist any more."""
    world = GroupWorld()
    world.beat("a")
    world.publish(2)
    world.route(None)
    world.run()
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("a", "topic")
    assert message.startswith("topic orders does not exist;")


def test_after_ten_seconds_without_an_answer_the_bridge_is_named() -> None:
    """Nobody has answered for ten seconds: since when it was asked, and who was there last."""
    world = GroupWorld()
    world.beat("a", topics=("payments",))
    world.run()
    _beat_on(world, UNANSWERED_MS - 1)
    assert _told(world) == []
    _beat_on(world, 2_000)
    words = (
        "no bridge has answered for topic payments since 1970-01-01 00:00:01Z; "
        "none has ever given a sign of life: start one, `fairlead bridge kafka` or "
        "`fairlead bridge rocketmq`"
    )
    assert _told(world) == [("a", "bridge", words)]
    _beat_on(world, 20_000 - UNANSWERED_MS)
    assert _told(world) == []
    _absent(world)
    world.run()
    assert [reason for _, reason, _ in _told(world)] == ["topic"]


def test_an_absent_topic_may_be_there_when_no_bridge_answers() -> None:
    """A topic that was absent, and then no answer any more: it may have been made meanwhile."""
    world = GroupWorld()
    world.bridges = {"main": (5_000, "running"), "far": (3_000, "stopped")}
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    _beat_on(world, 2_000)
    _beat_on(world, UNANSWERED_MS)
    ((_, reason, message),) = _told(world)
    assert reason == "bridge"
    assert message.endswith("that of cluster main last gave a sign of life at 1970-01-01 00:00:05Z")


def test_bounds_that_nobody_tells() -> None:
    """A queue whose start no bridge tells is waited for like a route."""
    world = GroupWorld()
    world.bridges = {"main": (2_000, "stopped")}
    world.beat("a")
    world.run()
    world.route(2)
    world.run()
    _beat_on(world, UNANSWERED_MS, topic="orders")
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("a", "bridge")
    assert message.startswith("no bridge has told where to begin in topic orders since")
    assert message.endswith("that of cluster main was stopped at 1970-01-01 00:00:02Z")


def test_a_bridge_that_answers_with_less_is_there() -> None:
    """An answer that lacks something is an answer all the same: no notice says that none came."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    world.route(2)
    world.bounds(1)
    world.run()
    for _ in range(3):
        world.clock_ms += 4_000
        world.beat("a")
        world.bounds(1)
        world.run()
        assert _told(world) == []


def test_who_joins_a_paused_group_hears_which_rule() -> None:
    """Who joins a paused group gets a notice of the rule, then of its end; owners get none."""
    world = GroupWorld()
    world.beat("a")
    world.publish(2)
    world.rule("pause", value=True)
    world.beat("b")
    world.run()
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("b", "paused")
    assert message == (
        "the group is paused by the rule pause of group orders: no queue moves until "
        "`fairlead group resume orders`"
    )
    _beat_on(world, 3_000, "ab", "orders")
    assert _told(world) == []
    world.rule("pause", None)
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", None)]
    assert any(isinstance(output, Assignment) and output.add for output in world.outputs)


def test_a_drained_client_hears_of_its_drain_and_its_end() -> None:
    """A drained client gets a notice as its queues go, and one of the end; others get none."""
    world = GroupWorld()
    world.beat("a")
    world.beat("b")
    world.publish(2)
    world.run()
    drain(world, "b")
    world.run()
    words = (
        "this client is drained by the rule drain of group orders: it is given nothing until "
        "`fairlead group undrain orders b`"
    )
    assert _told(world) == [("b", "drained", words)]
    _beat_on(world, 3_000, "ab", "orders")
    assert _told(world) == []
    world.rule("pause", value=True)
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", "paused")]
    world.rule("pause", None)
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", "drained")]
    drain(world, "b", ended=True)
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", None)]


def test_drained_before_a_missing_topic() -> None:
    """The client gets the notice of the missing topic once it would get the topic."""
    world = GroupWorld()
    drain(world, "a")
    world.beat("a", topics=("payments",))
    world.run()
    assert [reason for _, reason, _ in _told(world)] == ["drained"]
    _absent(world)
    world.run()
    assert _told(world) == []
    drain(world, "a", ended=True)
    world.run()
    assert [reason for _, reason, _ in _told(world)] == ["topic"]


def test_an_undesignated_client_hears_which_rule() -> None:
    """A client that a rule leaves out gets a notice of it; a named one without queues does not."""
    world = GroupWorld()
    world.rule("designated", {"only": ["a", "b"]})
    world.beat("a")
    world.beat("b")
    world.beat("c")
    world.run()
    told = [("c", "designated")]
    assert [(client, reason) for client, reason, _ in _told(world)] == told
    assert _told(world)[0][2] == (
        "the rule designated of group orders does not name this client: others alone consume until "
        "it is named too, or `fairlead group unset orders --designated`"
    )
    world.rule("designated", {"only": ["a", "b", "x"]})
    world.publish(1)
    assert _told(world) == []
    world.rule("designated", {"only": ["a", "b", "c"]})
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("c", None)]


def test_without_the_named_client_the_rule_decides() -> None:
    """While no named client is there, nobody has the topic, or all have it, as the rule says."""
    world = GroupWorld()
    world.rule("designated", {"only": ["x"]})
    world.beat("a")
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("a", "designated")]
    world.rule("designated", {"only": ["x"], "if_nobody": "all"})
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("a", None)]


def test_designated_for_one_topic() -> None:
    """A member that may have another topic is not kept out, and its retry topic is none yet."""
    world = GroupWorld()
    retry = "%RETRY%orders"
    world.rule("designated", {"only": ["a"], "topics": ["orders"]})
    world.beat("a", topics=("orders", retry))
    world.beat("b", topics=("orders", retry))
    world.beat("c", topics=("orders", "payments"))
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", "designated")]
    world.publish(1, "orders", "payments")
    assert _told(world) == []
    world.publish(1, retry)
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", None)]


def test_a_released_group_says_how_it_is_taken_back() -> None:
    """A released group says so, and how it is taken back."""
    world = GroupWorld()
    world.rule("designated", release_rule("orders").value)
    world.beat("a")
    world.run()
    words = (
        "group orders is released to native consumers: its clients are given nothing until "
        "`fairlead adopt orders --apply`"
    )
    assert _told(world) == [("a", "designated", words)]


def test_with_the_member_its_notice_goes() -> None:
    """The notice of a member goes with the member."""
    world = GroupWorld()
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    world.leave("a")
    world.run()
    assert [output.notice for output in world.outputs if isinstance(output, Gone)] == [True]


def test_a_new_engine_repeats_what_keeps_a_client_waiting() -> None:
    """A client counts what the engine of its generation says, so a new engine says it anew."""
    world = GroupWorld()
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    world.generation = world.marker = 2
    world.beat("a", topics=("payments",))
    world.run()
    assert _told(world) == []
    world.claims("a")
    world.run()
    assert [reason for _, reason, _ in _told(world)] == ["topic"]


def test_many_steps_end_with_the_same_notice_as_few() -> None:
    """The last notice is the same, whether steps are few or many."""
    ends = []
    for every in (1, 2, 5, 12):
        world = GroupWorld()
        world.beat("a", topics=("payments",))
        world.run()
        for second in range(1, 25):
            world.clock_ms += 1_000
            if second % 3 == 0:
                world.beat("a", topics=("payments",))
            if second == 3:
                _absent(world)
            if second % every == 0:
                world.run()
        world.run()
        assert world.state is not None
        (member,) = world.state.members.values()
        ends.append(member.told_waiting)
    assert len(set(ends)) == 1
