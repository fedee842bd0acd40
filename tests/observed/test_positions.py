"""How far a group is behind: in messages, and in seconds."""

import orjson
import pytest

from fairlead.core.model import MessageQueue, Position
from fairlead.observed.observed_groups import ObservedGroups
from tests.kit.live_group import GROUP, heard_alone
from tests.kit.memory_topics import START_MS, shard_of
from tests.kit.observed_world import DAY_MS, Followed, Reader, empty_view
from tests.kit.world import World, world_of

QUEUE = MessageQueue("orders", "main", 0)


def _told(world: World, position: int, end: int | None, **more: object) -> None:
    """The only client tells how far it is with the first queue."""
    client = world.clients[0]
    epoch, _ = client.held[QUEUE]
    entry = {"queue": [*QUEUE], "epoch": epoch, "position": [0, position], **more}
    entry |= {} if end is None else {"end": end}
    sender = {"client_id": client.client_id, "incarnation": client.incarnation}
    record = {"kind": "progress", "group": GROUP, **sender, "queues": [entry]}
    world.topics.append_of("heartbeats", GROUP, record)


def _world() -> World:
    return world_of("c1", queues={"orders": 1})


def _lag(view: ObservedGroups) -> tuple[int | None, int | None, bool]:
    found = view.group(GROUP)
    assert found is not None
    (queue,) = found.queues
    (topic,) = found.figures.topics
    place = queue.place
    assert (topic.lag_messages, topic.lag_ms) == (place.lag, place.lag_ms)
    assert found.summary.lag_messages == place.lag
    return place.lag, place.lag_ms, place.lag_at_least


def test_a_group_that_caught_up_has_no_lag() -> None:
    """Nothing left is a lag of 0, however old the report is."""
    world = _world()
    _told(world, 500, 500)
    heard_alone(world, 60, world.clients[0])
    view = empty_view()
    view.apply(Reader(world).rows())
    assert _lag(view) == (0, 0.0, False)


def test_the_lag_in_seconds_is_the_age_of_the_end() -> None:
    """A client that is behind since a while is so by when the end was where it is."""
    followed = Followed(_world())
    for second in range(20):
        _told(followed.world, 500 + second, 500 + 10 * second)
        heard_alone(followed.world, 1, followed.world.clients[0])
    followed.read()
    messages, waited_ms, at_least = _lag(followed.view)
    assert messages == 690 - 519
    assert waited_ms is not None
    assert abs(waited_ms - 18_100) < 200
    assert not at_least


def test_a_queue_that_was_quiet_is_behind_since_now() -> None:
    """A queue that was quiet for an hour and gets messages now is behind since now."""
    world = _world()
    followed = Followed(world)
    _told(world, 500, 500)
    world.topics.now_ms += 3_600_000
    _told(world, 500, 600)
    followed.read()
    messages, waited_ms, _ = _lag(followed.view)
    assert messages == 100
    assert waited_ms is not None
    assert waited_ms <= 1_000


def test_remembered_for_too_short() -> None:
    """What was behind before anything was read is behind for at least so long."""
    followed = Followed(_world())
    _told(followed.world, 500, 9_000)
    heard_alone(followed.world, 30, followed.world.clients[0])
    followed.read()
    messages, waited_ms, at_least = _lag(followed.view)
    assert (messages, at_least) == (8_500, True)
    assert waited_ms is not None
    assert waited_ms >= 30_000


def test_new_life_of_the_topic() -> None:
    """Reports about a former life of the topic say nothing of this one."""
    followed = Followed(_world())
    _told(followed.world, 9_000, 9_000, identity="former")
    heard_alone(followed.world, 1, followed.world.clients[0])
    _told(followed.world, 5, 7, identity="newer")
    followed.read()
    assert _lag(followed.view)[0] == 2


def test_offsets_that_were_asked_for() -> None:
    """A group that tells no progress is behind by what it committed and where queues end."""
    followed = Followed(_world())
    view, start_ms = followed.view, followed.view.as_of_ms
    committed = {GROUP: {QUEUE: Position(0, 150)}}
    for seconds in range(0, 60, 15):
        view.apply_offsets(start_ms + seconds * 1_000, {QUEUE: 100 + seconds * 10}, committed)
    messages, waited_ms, at_least = _lag(view)
    assert (messages, at_least) == (550 - 150, False)
    assert waited_ms == 40_000


def test_an_offline_group_falls_behind() -> None:
    """A group whose clients are gone is behind, and further with each message."""
    followed = Followed(_world())
    _told(followed.world, 500, 500)
    followed.world.clients[0].gone = True
    followed.pass_seconds(30)
    assert followed.view.groups()[0].members == 0
    at_ms = followed.view.as_of_ms
    followed.view.apply_offsets(at_ms, {QUEUE: 500}, {})
    followed.view.apply_offsets(at_ms + 15_000, {QUEUE: 800}, {})
    found = followed.view.groups()[0]
    assert (found.lag_messages, found.lag_ms) == (300, 15_000)
    assert at_ms > START_MS


def test_a_client_that_is_held_up() -> None:
    """It tells the end that it saw last, again and again: the brokers know where the end is."""
    followed = Followed(_world())
    _told(followed.world, 500, 600)
    followed.read()
    followed.view.apply_offsets(followed.view.as_of_ms, {QUEUE: 9_000}, {})
    heard_alone(followed.world, 1, followed.world.clients[0])
    _told(followed.world, 600, 600)
    followed.read()
    assert followed.view.shared() == {QUEUE}
    assert _lag(followed.view)[0] == 8_400


def test_topic_that_was_remade() -> None:
    """What a group had read of a former life of a topic is no position in the one there is."""
    followed = Followed(_world())
    view = followed.view
    _told(followed.world, 9_000, 9_000, identity="former")
    followed.read()
    at_ms = view.as_of_ms
    view.apply_offsets(at_ms, {QUEUE: 9_000}, {}, {"orders": "former"})
    assert _lag(view)[0] == 0
    view.apply_offsets(at_ms + 15_000, {QUEUE: 40}, {}, {"orders": "newer"})
    assert _lag(view)[0] is None
    committed = {GROUP: {QUEUE: Position(0, 10)}}
    view.apply_offsets(at_ms + 30_000, {QUEUE: 50}, committed, {"orders": "newer"})
    assert _lag(view)[0] == 40


def test_an_end_that_was_told_before_the_position() -> None:
    """How much lies beyond the position is not known, until somebody tells of a newer end."""
    followed = Followed(_world())
    _told(followed.world, 100, 152)
    _told(followed.world, 1_630, None)
    followed.read()
    assert _lag(followed.view)[0] is None
    followed.view.apply_offsets(followed.view.as_of_ms, {QUEUE: 1_700}, {})
    assert _lag(followed.view)[0] == 70


@pytest.mark.parametrize("identity", [None, "this", "other"])
def test_reset_of_an_offline_group(identity: str | None) -> None:
    """An operator who moves a queue back sees at once how much there is to read again."""
    world = _world()
    followed = Followed(world)
    _told(world, 500, 500, identity="this")
    world.clients[0].gone = True
    followed.pass_seconds(30)
    followed.view.apply_offsets(followed.view.as_of_ms, {QUEUE: 500}, {})
    reset = {"v": 1, "kind": "reset", "group": GROUP, "queue": [*QUEUE], "offset": 120, "by": "al"}
    if identity is not None:
        reset["identity"] = identity
    world.topics.append(
        "control", shard_of(GROUP), orjson.dumps([GROUP, "reset", *QUEUE]), orjson.dumps(reset)
    )
    followed.read()
    assert followed.view.groups()[0].lag_messages == (0 if identity == "other" else 380)


@pytest.mark.parametrize("end", [500, 501])
def test_an_offline_group_is_shown_while_it_has_lag(end: int) -> None:
    """The view shows a group for as long as it has something left to read."""
    followed = Followed(_world())
    view = followed.view
    _told(followed.world, 500, 500)
    followed.read()
    followed.world.clients[0].gone = True
    followed.pass_seconds(40)
    view.apply_offsets(view.as_of_ms, {QUEUE: end}, {})
    view.apply_offsets(view.as_of_ms + 2 * DAY_MS, {QUEUE: end}, {})
    followed.pass_seconds(1)
    assert [each.group for each in view.groups()] == [GROUP] * (end - 500)
