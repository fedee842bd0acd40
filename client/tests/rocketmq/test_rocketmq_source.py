"""The source of RocketMQ's queues on real brokers: every message once, in order, and by tag."""

from collections.abc import Callable, Iterator
from time import monotonic

import pytest
from fairlead_client import Queue, Subscription
from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.model import Epoch, Position, Progress
from fairlead_client.rocketmq.queue_offsets import RocketMQOffsetStore
from fairlead_client.rocketmq.rocketmq_source import RocketMQSource
from fairlead_client.rocketmq.stored_message import StoredMessage
from fairlead_client.session.session import Granted
from fairlead_client.settings.client_settings import Settings

from tests.kit.rocketmq_topic import RocketMQTopic

pytestmark = pytest.mark.broker
WAIT = 30.0
Sources = Callable[..., RocketMQSource]


@pytest.fixture
def source(topic: RocketMQTopic, group: Callable[[], str]) -> Iterator[Sources]:
    """Make connected sources of the topic."""
    made: list[RocketMQSource] = []

    def make(tags: str = "*", name: str | None = None, **more: object) -> RocketMQSource:
        settings = Settings(
            bootstrap="unused:1",
            group=name or group(),
            topics=[Subscription(topic.name, tags)],
            data_plane="rocketmq",
            namesrv=f"127.0.0.1:1;{topic.namesrv}",
        )
        one = RocketMQSource(settings, **more)  # type: ignore[arg-type]
        one.connect()
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def _read(source: RocketMQSource, at: dict[Queue, int], ends: dict[Queue, int]) -> list[object]:
    """Pull until every queue is at its end; return (queue, offset, body) of all messages."""
    found: list[object] = []
    deadline = monotonic() + WAIT
    while any(at[queue] < ends[queue] for queue in at):
        assert monotonic() < deadline, f"it stands still at {at}"
        for queue, result in source.pull(at, 100).items():
            assert result.error is None, result.error
            found += [(queue, each.offset, each.value) for each in result.records]
            at[queue] = result.next_offset
    return found


@pytest.mark.usefixtures("both_lines")
def test_all_that_is_sent_is_read_once(topic: RocketMQTopic, source: Sources) -> None:
    """Queues of two brokers come out whole and in order, compressed bodies too."""
    wanted = []
    for queue in topic.queues:
        bodies = [b"%d " % number * (3_000 if number % 9 == 0 else 1) for number in range(70)]
        offsets = topic.send(queue, bodies, key=b"k1", tag="paid", headers=(("färbe", b"rot"),))
        assert offsets == list(range(70))
        wanted += [(queue, number, body) for number, body in enumerate(bodies)]
    one = source()
    one.follow(topic.queues)
    found = _read(one, dict.fromkeys(topic.queues, 0), dict.fromkeys(topic.queues, 70))
    assert sorted(found) == sorted(wanted)  # type: ignore[type-var]


@pytest.mark.usefixtures("both_lines")
def test_a_tag_is_filtered_by_the_broker(topic: RocketMQTopic, source: Sources) -> None:
    """Only wanted messages come, and the position passes the others."""
    queue = topic.queues[0]
    for number in range(40):
        topic.send(queue, [b"%d" % number], tag="AB"[number % 2])
    one = source("B || C")
    one.follow([queue])
    found = _read(one, {queue: 0}, {queue: 40})
    assert [each[2] for each in found] == [b"%d" % number for number in range(1, 40, 2)]  # type: ignore[index]


def _until(source: RocketMQSource, queue: Queue, offset: int) -> PullResult:
    deadline = monotonic() + WAIT
    while True:
        result = source.pull({queue: offset}, 200).get(queue)
        if result is not None:
            return result
        assert monotonic() < deadline


def _status(result: PullResult) -> tuple[PullStatus, int]:
    return result.status, result.next_offset


@pytest.mark.usefixtures("both_lines")
def test_a_message_ends_a_long_poll(topic: RocketMQTopic, source: Sources) -> None:
    """A queue at its end is not asked again and again: the next message wakes its pull."""
    queue = topic.queues[-1]
    one = source()
    one.follow([queue])
    assert one.pull({queue: 0}, 100) == {}
    topic.send(queue, [b"new"], key=b"k", tag="a", headers=(("h", b"v"),), timestamp_ms=7_000)
    result = _until(one, queue, 0)
    (message,) = result.records
    assert isinstance(message, StoredMessage)
    assert (message.value, message.key, message.timestamp) == (b"new", b"k", 7_000)
    assert {("TAGS", b"a"), ("h", b"v")} <= set(message.headers)
    assert (result.status, result.next_offset, result.end) == (PullStatus.FOUND, 1, 1)
    assert len(message.message_id) == 32


@pytest.mark.usefixtures("both_lines")
def test_an_offset_outside_is_corrected(topic: RocketMQTopic, source: Sources) -> None:
    """Beyond the end it goes on at the end, or at the engine's own position if it begins there."""
    queue = topic.queues[0]
    topic.send(queue, [b"x"] * 5)
    one = source()
    one.follow([queue])
    assert _status(_until(one, queue, 500)) == (PullStatus.OFFSET_ILLEGAL, 5)
    believing = source(granted=lambda _: Granted(start=500, offset=3))
    believing.follow([queue])
    assert _status(_until(believing, queue, 500)) == (PullStatus.OFFSET_ILLEGAL, 3)


def test_a_direct_pull_takes_no_more_than_asked(topic: RocketMQTopic, source: Sources) -> None:
    """What came ahead is cut to the number that the application wants."""
    queue = topic.queues[0]
    topic.send(queue, [b"%d" % number for number in range(50)])
    one = source()
    one.follow([queue])
    first = _until(one, queue, 0)
    assert first.next_offset == len(first.records)
    cut = {}
    while queue not in cut:
        cut = dict(one.pull({queue: first.next_offset}, 200, 3))
    assert [each.offset - first.next_offset for each in cut[queue].records] == [0, 1, 2]
    assert cut[queue].next_offset == first.next_offset + 3


def test_another_subscription(topic: RocketMQTopic, source: Sources) -> None:
    """What was pulled under the old expression is forgotten."""
    queue = topic.queues[0]
    topic.send(queue, [b"a"] * 40, tag="A")
    topic.send(queue, [b"b"], tag="B")
    one = source("A")
    one.follow([queue])
    first = _until(one, queue, 0)
    one.subscribe([Subscription(topic.name, "B")])
    found = _read(one, {queue: first.next_offset}, {queue: 41})
    assert [each[2] for each in found] == [b"b"]  # type: ignore[index]


def test_a_broker_that_nobody_knows(topic: RocketMQTopic, source: Sources) -> None:
    """One queue's error is its own: the others are read."""
    topic.send(topic.queues[0], [b"x"])
    lost = Queue(topic.name, "broker-z", 0)
    one = source()
    one.follow([topic.queues[0], lost])
    seen: dict[Queue, PullResult] = {}
    deadline = monotonic() + WAIT
    while len(seen) < 2:
        assert monotonic() < deadline
        seen |= one.pull({topic.queues[0]: 0, lost: 0}, 100)
    assert "no name server knows broker broker-z" in str(seen[lost].error)
    assert len(seen[topic.queues[0]].records) == 1


@pytest.mark.usefixtures("both_lines")
def test_offsets_of_a_group(
    topic: RocketMQTopic, source: Sources, group: Callable[[], str]
) -> None:
    """What is committed is found; bounds and times are those of the queue."""
    queue, name = topic.queues[1], group()
    topic.send(queue, [b"x"] * 3)
    offsets = topic.offsets(name)
    assert (offsets.begin(queue), offsets.end(queue), offsets.at_time(queue, 0)) == (0, 3, 0)
    reader = source(name=name)
    reader.follow(topic.queues)
    for each in topic.queues:
        # A broker of RocketMQ 5 takes commits of a group only after its first pull.
        topic.send(each, [b"x"])
        _until(reader, each, 0)
    store = RocketMQOffsetStore(topic.brokers.settings, name)
    others = {each: Progress(each, Epoch(1, 1), Position(0, 2)) for each in topic.queues}
    store.commit(others, 20_000)
    assert [offsets.committed(each) for each in topic.queues] == [2] * 4
    store.close()


def test_no_commit_is_no_offset(topic: RocketMQTopic, group: Callable[[], str]) -> None:
    """RocketMQ 5 tells a group without commits from one at 0."""
    topic.send(topic.queues[0], [b"x"])
    assert topic.offsets(group()).committed(topic.queues[0]) is None
