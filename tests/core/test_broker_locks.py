"""Who lapses leaves no lock of a broker behind (rule H34)."""

from fairlead.core.model import DataPlane, MemberProfile
from fairlead.core.outputs import Request
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of

FOREVER_MS = 60_000


def _profile(consumer: str, *, kind: str = "rocketmq", ordered: bool = True) -> MemberProfile:
    plane = DataPlane(kind, consumer)
    return MemberProfile(consume_from="first_offset", data_plane=plane, ordered=ordered)


def _started(**profiles: MemberProfile) -> GroupWorld:
    """A group of these clients that share four queues."""
    world = GroupWorld()
    for client, profile in profiles.items():
        world.beat(client, profile=profile)
    world.publish(4)
    return world


def _unlocks(world: GroupWorld) -> list[Request]:
    outputs = world.run().outputs
    return [each for each in outputs if isinstance(each, Request) and each.what == "unlock"]


def _lapse(world: GroupWorld, silent: str, **others: MemberProfile) -> list[Request]:
    """Let the rest heartbeat until one has lapsed, and return the requests for locks."""
    world.pass_time(FOREVER_MS)
    for client, profile in others.items():
        world.beat(client, profile=profile)
    unlocks = _unlocks(world)
    assert world.state is not None
    assert silent not in {key.client_id for key in world.state.members}
    return unlocks


def test_a_bridge_is_asked_to_free_what_the_lapsed_had() -> None:
    """It names the queues that were held, and the consumer by its id at the brokers (rule H34)."""
    a, b = _profile("10.0.0.a@1"), _profile("10.0.0.b@1")
    world = _started(a=a, b=b)
    assert world.state is not None
    held = tuple(
        sorted(
            queue
            for queue, value in world.state.queues.items()
            if any(grant.member.client_id == "b" for grant in value.grants)
        )
    )
    assert held
    assert _lapse(world, "b", a=a) == [
        Request(GROUP, "unlock", queue_of(0).topic, held, None, "10.0.0.b@1")
    ]


def test_nobody_else_has_locks() -> None:
    """Concurrent listeners lock nothing, and neither do members that read Kafka."""
    a = _profile("10.0.0.a@1")
    for profile in (
        _profile("10.0.0.b@1", ordered=False),
        _profile("10.0.0.b@1", kind="kafka"),
        MemberProfile(consume_from="first_offset", ordered=True),
    ):
        assert _lapse(_started(a=a, b=profile), "b", a=a) == []


def test_a_consumer_that_came_back_keeps_its_locks() -> None:
    """The broker knows both lives by one id: freed would be what the living one has locked."""
    a, b = _profile("10.0.0.a@1"), _profile("10.0.0.b@1")
    world = _started(a=a, b=b)
    world.pass_time(1_000)
    world.beat("b", profile=b, life=2)
    world.run()
    world.pass_time(FOREVER_MS)
    world.beat("a", profile=a)
    world.beat("b", profile=b, life=2)
    assert not _unlocks(world)
    assert world.state is not None
    assert {(key.client_id, key.incarnation) for key in world.state.members} == {
        key_of("a"),
        key_of("b", 2),
    }


def test_who_leaves_frees_its_locks_by_itself() -> None:
    """A consumer that stops in order unlocks each queue before it releases it."""
    a, b = _profile("10.0.0.a@1"), _profile("10.0.0.b@1")
    world = _started(a=a, b=b)
    world.leave("b")
    assert not _unlocks(world)
