"""Two owners of one queue at once: shown at once, counted when it is sure and forbidden."""

from typing import Any

import orjson

from fairlead.core.model import MessageQueue
from fairlead.wire.raw import RawRecord
from tests.kit.live_group import GROUP, heard_alone, rule, set_rules
from tests.kit.memory_topics import NAMES
from tests.kit.observed_world import Followed
from tests.kit.world import World, world_of

QUEUE = MessageQueue("orders", "main", 0)


def _tell_both(followed: Followed, first: str = "held") -> None:
    """An engine gone wrong tells every member that it holds one queue.

    ``first``: the state of c1's entry; unless that is held, its grant is an older one.
    """
    world = followed.world
    for record in world.kinds("assignments"):
        older = record["client_id"] == "c1" and first != "held"
        state, epoch = (first, 8) if older else ("held", 9)
        entry: dict[str, Any] = {"queue": [*QUEUE], "epoch": [1, epoch], "state": state}
        others = [each for each in record["assigned"] if each["queue"] != [*QUEUE]]
        forged = record | {"assigned": [*others, entry]}
        sender = [record[name] for name in ("group", "client_id", "incarnation")]
        place = (NAMES.name("assignments"), 0, 10_000, world.topics.now_ms)
        key, value = orjson.dumps([*sender, 0]), orjson.dumps(forged)
        followed.view.apply([RawRecord(*place, append_time_is_log=True, key=key, value=value)])


def _wait(followed: Followed, seconds: int) -> None:
    heard_alone(followed.world, seconds, *followed.world.clients)
    followed.read()


def _also(followed: Followed) -> int:
    found = followed.view.group(GROUP)
    assert found is not None
    hold = next(each for each in found.queues if each.queue == QUEUE).hold
    return 0 if hold is None else len(hold.also)


def _counted(world: World, seconds: int) -> int:
    followed = Followed(world)
    _tell_both(followed)
    assert _also(followed) == 1
    _wait(followed, seconds)
    return followed.view.counters.overlaps[GROUP]


def test_two_owners_are_an_overlap_counted_once() -> None:
    """Two live members with one queue in their assignments are an overlap, counted once."""
    assert _counted(world_of("c1", "c2", queues={"orders": 4}), 9) == 1


def test_a_set_read_too_early_is_no_overlap() -> None:
    """The sets stand in two partitions: for a moment the one that is read first means nothing."""
    assert _counted(world_of("c1", "c2", queues={"orders": 4}), 3) == 0


def test_a_gated_member_that_never_started_is_no_owner() -> None:
    """A member that waits for a queue, and has not said that it started, does not work on it."""
    followed = Followed(world_of("c1", "c2", queues={"orders": 4}))
    _tell_both(followed, first="gated")
    assert _also(followed) == 0


def test_a_member_that_keeps_a_queue_whose_drain_is_over_is_behind() -> None:
    """A drain is over once a newer grant waits for nobody: who still holds the queue is behind."""
    followed = Followed(world_of("c1", "c2", queues={"orders": 4}))
    _tell_both(followed, first="draining")
    _wait(followed, 9)
    found = followed.view.group(GROUP)
    assert found is not None
    assert {each.key.client_id: each.behind for each in found.members} == {"c1": True, "c2": True}


def test_in_an_eager_group_two_owners_are_no_overlap() -> None:
    """In an eager group two may work on a queue: that is what was asked for."""
    world = world_of("c1", "c2", queues={"orders": 4})
    set_rules(world, rule("mode", "eager"))
    assert _counted(world, 9) == 0


def test_a_silent_member_owns_nothing() -> None:
    """A silent member owns nothing, whatever its assignment says."""
    world = world_of("c1", "c2", queues={"orders": 4})
    followed = Followed(world)
    heard_alone(world, 20, world.clients[0])
    followed.read()
    _tell_both(followed)
    heard_alone(world, 9, world.clients[0])
    followed.read()
    assert followed.view.counters.overlaps[GROUP] == 0


def test_joins_and_leaves_overlap_nowhere() -> None:
    """Nothing that a sound engine does counts as an overlap."""
    world = world_of("c1", "c2")
    followed = Followed(world)
    for number in range(3, 6):
        world.join(f"c{number}", subscribed=tuple(world.queues))
        followed.pass_seconds(9)
        world.clients[number - 3].leave()
        followed.pass_seconds(9)
    assert followed.view.counters.moves
    assert not followed.view.counters.overlaps
    assert not followed.view.counters.fenced
    assert not followed.view.counters.handover_timeouts


def test_a_forgotten_group_goes_after_the_history() -> None:
    """The view forgets an empty group after the length of the history."""
    world = world_of("c1")
    world.clients[0].leave()
    world.pass_seconds(30)
    followed = Followed(world)
    found = followed.view.group("orders")
    assert found is not None
    assert found.summary.members == 0
    places = {each.queue: each.place.position for each in found.queues}
    read = {queue: each.offset for queue, each in places.items() if each is not None}
    followed.view.apply_offsets(world.topics.now_ms, read, {})
    world.topics.now_ms += 90_000_000
    world.topics.tick(1)
    followed.read()
    assert not followed.view.groups()
    assert followed.view.group(GROUP) is None
