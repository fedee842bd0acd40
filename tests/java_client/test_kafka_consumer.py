"""The Java consumer over Kafka's own: a real broker, a real process, and a gateway by hand."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest

from tests.java_client.one_member_group import OneMemberGroup
from tests.java_client.probe import Probe, probe
from tests.java_client.scripted_gateway import ScriptedGateway
from tests.kit.awaiting import await_seen
from tools.java_client import JavaClient

pytestmark = pytest.mark.java


class World:
    """A topic, its group, and the consumers of a test."""

    def __init__(self, bootstrap: str, gateway: ScriptedGateway, client: JavaClient) -> None:
        from tests.kit.kafka_topics import make_topic

        self.bootstrap, self._gateway, self._client = bootstrap, gateway, client
        self.topic = f"java-{uuid4().hex[:8]}"
        self.name = f"g-{uuid4().hex[:8]}"
        make_topic(bootstrap, self.topic, partitions=2)
        self.stack = ExitStack()
        self.group = OneMemberGroup(gateway, self.topic)

    def lease(self, lease_ms: int) -> OneMemberGroup:
        """Give the group another lease; before anybody joins."""
        self.group.close()
        self.group = OneMemberGroup(self._gateway, self.topic, lease_ms)
        return self.group

    def fill(self, partition: int, count: int) -> None:
        """Write messages."""
        from tests.kit.kafka_topics import fill

        # Messages of long ago would be over Kafka's retention.
        fill(self.bootstrap, self.topic, partition, [time.time_ns() // 1_000_000] * count)

    def consumer(self, **settings: Any) -> Probe:
        """Start a consumer."""
        kafka = {"bootstrap.servers": self.bootstrap, **settings.pop("kafka", {})}
        given = {"group": self.name, "client_id": "me", "topics": [self.topic], **settings}
        program = probe(
            self._client, "KafkaProbe", gateways=[self._gateway.address], kafka=kafka, **given
        )
        return self.stack.enter_context(program)

    def committed(self, partition: int) -> int | None:
        """Return the offset that the group has committed in Kafka."""
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap, group_id=self.name, enable_auto_commit=False
        )
        with contextlib.closing(consumer):
            offset: int | None = consumer.committed(TopicPartition(self.topic, partition))
            return offset


@pytest.fixture
def world(bootstrap: str, gateway: ScriptedGateway, java_client: JavaClient) -> Iterator[World]:
    """Have a topic of two partitions and a group; consumers end with the test."""
    made = World(bootstrap, gateway, java_client)
    with made.stack:
        yield made
    made.group.close()


def offsets(running: Probe, count: int, partition: int = 0) -> list[int]:
    """Poll until so many records of a partition have come; return their offsets."""
    found: list[int] = []

    def more() -> int:
        found.extend(row[1] for row in running.ask("poll", 1_000)[1] if row[0] == partition)
        return len(found)

    await_seen(more, lambda seen: seen >= count, what=f"{count} records", pause=0)
    return found


def until_thrown(running: Probe, what: str) -> str:
    """Poll until this is thrown; return its message."""

    def polled() -> list[Any]:
        running.say("poll", 200)
        line = running.next()
        while line[0] not in ("poll", "thrown"):
            line = running.next()
        return line

    line = await_seen(polled, lambda seen: seen[0] == "thrown", what=what, pause=0)
    assert line[1] == what
    message: str = line[2]
    return message


def test_it_reads_from_exactly_the_given_offset(world: World) -> None:
    """It starts where the answer says, and says positions of what is finished, with the end."""
    world.fill(0, 10)
    running = world.consumer()
    world.group.give(0, offset=4)
    assert offsets(running, 6) == [4, 5, 6, 7, 8, 9]
    assert running.ask("assignment")[1] == [0]
    # Nothing is finished before the next poll.
    world.group.await_position(0, (4, None))
    running.ask("poll", 100)
    world.group.await_position(0, (10, 10))


def test_it_finishes_what_is_in_hand(world: World) -> None:
    """Asked to stop, it gives out no more, and says stopped once the batch is finished."""
    world.fill(0, 5)
    running = world.consumer()
    world.group.give(0, 1)
    assert offsets(running, 5) == [0, 1, 2, 3, 4]
    world.group.take(0)
    world.fill(0, 5)
    world.fill(1, 1)
    assert 0 not in world.group.stopped
    assert offsets(running, 1, partition=1) == [0]
    assert world.group.await_stopped(0) == 5
    assert running.ask("assignment")[1] == [1]


def test_finished_in_any_order(world: World) -> None:
    """With `explicitDone` the position is the lowest offset that is not done, by any thread."""
    world.fill(0, 4)
    running = world.consumer(explicit_done=True)
    world.group.give(0)
    assert offsets(running, 4) == [0, 1, 2, 3]
    running.ask("done", 0, 0)
    running.ask("done", 0, 2)
    running.ask("poll", 0)
    world.group.await_position(0, (1, 4))
    world.group.take(0)
    running.say("poll", 30_000)
    running.ask("done", 0, 1)
    assert 0 not in world.group.stopped
    running.ask("done", 0, 3)
    assert world.group.await_stopped(0) == 4
    running.say("wakeup")
    assert running.until("thrown")[-1][1] == "WakeupException"


def test_too_much_in_hand_pauses_a_partition(world: World) -> None:
    """A partition with enough in hand brings no more until something of it is done."""
    world.fill(0, 3)
    running = world.consumer(explicit_done=True, in_hand_max=2, kafka={"max.poll.records": "1"})
    world.group.give(0, 1)
    assert offsets(running, 2) == [0, 1]
    assert running.ask("poll", 500)[1] == []
    world.fill(1, 1)
    assert offsets(running, 1, partition=1) == [0]
    running.say("poll", 30_000)
    running.ask("done", 0, 0)
    assert running.until("poll")[-1][1] == [[0, 2, "message"]]


@pytest.mark.slow  # the frozen process below is over its lease too
def test_over_the_lease_nothing_is_given_out(world: World) -> None:
    """When the lease is over no record comes, although Kafka has some; then it begins again."""
    group = world.lease(3_000)
    running = world.consumer()
    world.fill(0, 2)
    group.give(0)
    assert offsets(running, 2) == [0, 1]
    assert running.ask("may", 0, 1)[1]
    group.be_silent()
    await_seen(lambda: running.ask("may", 0, 1)[1], lambda seen: not seen, what="the lease's end")
    world.fill(0, 2)
    assert running.ask("poll", 500)[1] == []
    group.lose("lease_ended")
    group.be_silent(silent=False)
    running.say("poll", 500)
    await_seen(lambda: group.joins, lambda seen: seen == 2, what="another join")
    group.give(0, offset=1)
    assert offsets(running, 3) == [1, 2, 3]
    assert 0 not in group.stopped


def test_a_frozen_process_gives_out_nothing(world: World) -> None:
    """A process that stood still for longer than its lease asks the clock before it gives out."""
    lease_ms = 2_000
    group = world.lease(lease_ms)
    running = world.consumer()
    group.give(0)
    running.say("poll", 10_000)
    running.until("started")
    assert running.ask("assignment")[1] == [0]
    running.freeze()
    over = time.monotonic() + lease_ms / 1_000
    group.be_silent()
    world.fill(0, 3)
    await_seen(time.monotonic, lambda seen: seen > over, what="the lease's end")
    running.thaw()
    assert running.until("poll")[-1][1] == []
    assert running.ask("assignment")[1] == []


def test_at_the_deadline_it_drops_a_partition(world: World) -> None:
    """The deadline is over: what is in hand does not count, and nothing more comes."""
    world.fill(0, 3)
    running = world.consumer(explicit_done=True)
    world.group.give(0)
    assert offsets(running, 3) == [0, 1, 2]
    running.ask("done", 0, 0)
    running.ask("poll", 0)
    world.group.await_position(0, (1, 3))
    world.group.take(0, deadline_ms=0)
    assert world.group.await_stopped(0) == 1
    running.ask("done", 0, 1)
    assert not running.ask("may", 0, 2)[1]
    running.ask("poll", 0)
    assert world.group.stopped == {0: 1}


def test_an_offset_outside_goes_to_the_nearest_end(world: World) -> None:
    """Kafka does not have the offset: reading goes on at the nearest one, and Fairlead hears it."""
    world.fill(0, 3)
    running = world.consumer()
    world.group.give(0, offset=1_000)
    running.ask("poll", 2_000)
    await_seen(
        lambda: running.ask("poll", 100) and world.group.positions.get(0),
        lambda seen: seen == (3, 3),
        what="the corrected position",
    )
    world.fill(0, 1)
    assert offsets(running, 1) == [3]


def test_it_leaves(world: World) -> None:
    """Closed, it says its positions; a batch that nobody said is done comes again."""
    world.fill(0, 3)
    running = world.consumer()
    world.group.give(0)
    assert offsets(running, 3) == [0, 1, 2]
    running.ask("close", 20_000)
    assert world.group.left
    assert world.group.stopped == {0: 0}
    assert until_thrown(running, "ClosedException")


def test_it_leaves_behind_what_is_done(world: World) -> None:
    """With the last batch said to be done, the next owner begins behind it."""
    world.fill(0, 3)
    running = world.consumer()
    world.group.give(0)
    assert offsets(running, 3) == [0, 1, 2]
    running.ask("done_all")
    running.ask("close", 20_000)
    assert world.group.stopped == {0: 3}


def test_it_waits_for_what_is_in_hand_when_it_leaves(world: World) -> None:
    """With `explicitDone` closing waits for the records in hand."""
    world.fill(0, 2)
    running = world.consumer(explicit_done=True)
    world.group.give(0)
    assert offsets(running, 2) == [0, 1]
    running.say("close", 30_000)
    running.ask("done", 0, 0)
    assert not world.group.left
    running.ask("done", 0, 1)
    running.until("close")
    assert world.group.left
    assert world.group.stopped == {0: 2}


def test_it_leaves_in_time(world: World) -> None:
    """A record that nobody finishes does not keep the client: it leaves within the time."""
    world.fill(0, 2)
    running = world.consumer(explicit_done=True)
    world.group.give(0)
    assert offsets(running, 2) == [0, 1]
    running.ask("done", 0, 0)
    running.ask("close", 2_000)
    assert world.group.left
    assert world.group.stopped == {0: 1}


def test_it_commits_if_it_shall(world: World) -> None:
    """With `commitOffsets` Kafka has the positions as well, when they stop and now and then."""
    world.fill(0, 3)
    world.fill(1, 2)
    running = world.consumer(commit_ms=50)
    world.group.give(0, 1)
    offsets(running, 3)
    await_seen(
        lambda: running.ask("poll", 100) and world.committed(1),
        lambda seen: seen == 2,
        what="a commit",
    )
    world.group.take(0)
    running.ask("poll", 500)
    assert world.group.await_stopped(0) == 3
    assert world.committed(0) == 3


def test_it_commits_nothing_else(world: World) -> None:
    """Without `commitOffsets` the group has no offsets in Kafka."""
    world.fill(0, 3)
    running = world.consumer()
    world.group.give(0)
    offsets(running, 3)
    world.group.take(0)
    running.ask("poll", 500)
    assert world.group.await_stopped(0) == 3
    assert world.committed(0) is None


def test_a_duplicate_is_told(world: World) -> None:
    """Another process has the client id: poll says so, with the remedy."""
    running = world.consumer()
    world.group.give(0)
    running.say("poll", 500)
    running.until("poll")
    world.group.lose("duplicate_client_id")
    assert "clientId" in until_thrown(running, "ClosedException")


@pytest.mark.parametrize(
    "setting, given, remedy",
    [
        ("enable.auto.commit", {"kafka": {"enable.auto.commit": "true"}}, "commitOffsets"),
        ("auto.offset.reset", {"kafka": {"auto.offset.reset": "latest"}}, "consumeFrom"),
        ("group.id", {"kafka": {"group.id": "other"}}, "group(...)"),
        ("inHandMax", {"in_hand_max": 0}, "1 or more"),
        ("commitMs", {"commit_ms": 0}, "1 or more"),
    ],
)
def test_a_wrong_setting_is_named(
    java_client: JavaClient, setting: str, given: dict[str, Any], remedy: str
) -> None:
    """What contradicts Fairlead is refused before anything starts, with its name and a remedy."""
    kafka = {"bootstrap.servers": "127.0.0.1:1", **given.pop("kafka", {})}
    settings = {"gateways": ["http://127.0.0.1:1"], "group": "g", "topics": ["t"], **given}
    with probe(java_client, "KafkaProbe", kafka=kafka, **settings) as running:
        kind, named, message = running.next()
    assert (kind, named) == ("refused", setting)
    assert remedy in message
