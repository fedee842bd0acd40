"""Members are told once what keeps them from what they want, where only the engine knows it."""

from fairlead.core.outputs import Assignment, Decision, Gone, Notice
from fairlead.core.records import TopicAbsent
from fairlead.core.waiting import UNANSWERED_MS
from tests.core.world import GROUP, World


def _told(world: World) -> list[tuple[str, str | None, str]]:
    """Return what the newest step told of waiting: to whom, the reason, the words."""
    return [
        (output.member.client_id, output.reason, output.message)
        for output in world.outputs
        if isinstance(output, Notice) and output.code == "waiting"
    ]


def _absent(world: World, topic: str = "payments", cluster: str = "main") -> None:
    world.add("offsets", TopicAbsent(GROUP, topic, cluster))


def _beat_on(world: World, milliseconds: int, clients: str = "a", topic: str = "payments") -> None:
    """Let time pass, and clients heartbeat at its end."""
    world.clock_ms += milliseconds
    for client in clients:
        world.beat(client, topics=(topic,))
    world.run()


def test_missing_topic() -> None:
    """A bridge says that a topic is absent: who subscribes to it is told, once, and of the end."""
    world = World()
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
    """What is told of waiting is beside a decision that names no cause and moves nothing."""
    world = World()
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    notice, decision = world.outputs
    assert isinstance(notice, Notice)
    assert isinstance(decision, Decision)
    assert (decision.cause, decision.triggers, decision.moves) == ((), (), ())
    assert decision.epoch == decision.previous_epoch


def test_absent_elsewhere() -> None:
    """Where a route stands, that another cluster lacks the topic tells nobody anything."""
    world = World()
    world.beat("a")
    world.publish(2)
    _absent(world, "orders", "far")
    _absent(world, "stranger")
    world.run()
    assert world.outputs == ()
    assert world.state is not None
    assert world.state.absent == {}


def test_deleted_topic() -> None:
    """A topic that is deleted while it is read does not exist any more."""
    world = World()
    world.beat("a")
    world.publish(2)
    world.route(None)
    world.run()
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("a", "topic")
    assert message.startswith("topic orders does not exist;")


def test_no_bridge() -> None:
    """Nobody has answered for ten seconds: since when it was asked, and who was there last."""
    world = World()
    world.beat("a", topics=("payments",))
    world.run()
    _beat_on(world, UNANSWERED_MS - 1)
    assert _told(world) == []
    _beat_on(world, 2_000)
    words = (
        "no bridge has answered for topic payments since 1970-01-01 00:00:01 UTC; "
        "none has ever given a sign of life: start one, `fairlead bridge kafka`"
    )
    assert _told(world) == [("a", "bridge", words)]
    _beat_on(world, 20_000 - UNANSWERED_MS)
    assert _told(world) == []
    _absent(world)
    world.run()
    assert [reason for _, reason, _ in _told(world)] == ["topic"]


def test_bridge_that_died() -> None:
    """A topic that was absent, and then no answer any more: it may have been made meanwhile."""
    world = World()
    world.bridges = {"main": (5_000, "running"), "far": (3_000, "stopped")}
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    _beat_on(world, 2_000)
    _beat_on(world, UNANSWERED_MS)
    ((_, reason, message),) = _told(world)
    assert reason == "bridge"
    assert message.endswith(
        "that of cluster main last gave a sign of life at 1970-01-01 00:00:05 UTC"
    )


def test_bounds_that_nobody_tells() -> None:
    """A queue whose start no bridge tells is waited for like a route."""
    world = World()
    world.bridges = {"main": (2_000, "stopped")}
    world.beat("a")
    world.run()
    world.route(2)
    world.run()
    _beat_on(world, UNANSWERED_MS, topic="orders")
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("a", "bridge")
    assert message.startswith("no bridge has told where to begin in topic orders since")
    assert message.endswith("that of cluster main was stopped at 1970-01-01 00:00:02 UTC")


def test_a_bridge_that_answers_with_less_is_there() -> None:
    """An answer that lacks what is needed is one all the same: nobody is told that none came."""
    world = World()
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


def test_paused() -> None:
    """Who joins a paused group is told by which rule; who holds queues is not; then it is over."""
    world = World()
    world.beat("a")
    world.publish(2)
    world.rule("pause", value=True)
    world.beat("b")
    world.run()
    ((client, reason, message),) = _told(world)
    assert (client, reason) == ("b", "paused")
    assert message == (
        "the group is paused by the rule pause of group orders: nothing is shared anew until "
        "`fairlead group resume orders`"
    )
    _beat_on(world, 3_000, "ab", "orders")
    assert _told(world) == []
    world.rule("pause", None)
    world.run()
    assert [(client, reason) for client, reason, _ in _told(world)] == [("b", None)]
    assert any(isinstance(output, Assignment) and output.add for output in world.outputs)


def test_gone() -> None:
    """With the member goes what it was told."""
    world = World()
    world.beat("a", topics=("payments",))
    world.run()
    _absent(world)
    world.run()
    world.leave("a")
    world.run()
    assert [output.notice for output in world.outputs if isinstance(output, Gone)] == [True]


def test_new_engine() -> None:
    """A client counts what the engine of its generation says, so a new engine says it anew."""
    world = World()
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


def test_any_cut() -> None:
    """What is told in the end is the same, whether steps are few or many."""
    ends = []
    for every in (1, 2, 5, 12):
        world = World()
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
