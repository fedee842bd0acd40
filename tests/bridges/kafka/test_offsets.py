"""The bridge at work on a real broker: offsets."""

import time

import pytest
from kafka import TopicPartition

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.core.model import MessageQueue, Position
from fairlead.core.records import OffsetsKnown, QueueOffsets
from fairlead.serve.offset_poller import PolledTopics
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import make_bridge, offsets_request
from tests.kit.kafka_topics import commit, fill

DAY_MS = 24 * 3_600 * 1_000


def test_an_answer_has_the_bounds_and_the_commit(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """An answer has the bounds, and as position the group's commit with the reset beside it."""
    identity = ledger.make_topic(topic, 3)
    now_ms = int(time.time() * 1000)
    fill(bootstrap, topic, 0, [now_ms] * 5)
    fill(bootstrap, topic, 1, [now_ms] * 3)
    ledger.admin.delete_records({TopicPartition(topic, 0): 2})
    commit(bootstrap, topic, topic, {0: (4, '{"v":1,"reset":7}'), 1: (1, "by hand")})
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic, group=topic))
        ledger.await_that(lambda: ledger.offsets)
    queues = [MessageQueue(topic, "main", queue_id) for queue_id in range(3)]
    assert ledger.offsets == [
        OffsetsKnown(
            topic,
            topic,
            identity,
            (
                QueueOffsets(queues[0], 2, 5, Position(7, 4), None),
                QueueOffsets(queues[1], 0, 3, Position(0, 1), None),
                QueueOffsets(queues[2], 0, 0, None, None),
            ),
        )
    ]
    ledger.read_all()
    assert [change.topic for change in ledger.routes] == [topic]


def test_committed_in_a_former_life(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """What names the id of a topic that was deleted is no commit in the one made again."""
    former = ledger.make_topic(topic, 3)
    of_former = f'{{"v":1,"reset":7,"identity":"{former}"}}'
    fill(bootstrap, topic, 0, [int(time.time() * 1000)] * 5)
    commit(bootstrap, topic, topic, {0: (3, of_former)})
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic, 0, group=topic))
        ledger.await_that(lambda: ledger.offsets)
    ledger.admin.delete_topics([topic])
    present = ledger.make_topic(topic, 3)
    of_present = f'{{"v":1,"reset":7,"identity":"{present}"}}'
    for partition in range(3):
        fill(bootstrap, topic, partition, [int(time.time() * 1000)] * 9)
    named = {0: (5, of_former), 1: (6, of_present), 2: (7, '{"v":1,"reset":7}')}
    commit(bootstrap, topic, topic, named)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic, group=topic))
        ledger.await_that(lambda: ledger.offsets[1:])
    told = [
        (known.identity, [entry.committed for entry in known.queues]) for known in ledger.offsets
    ]
    assert told == [
        (former, [Position(7, 3)]),
        (present, [None, Position(7, 6), Position(7, 7)]),
    ]


def test_a_timestamp_finds_the_first_message_not_older(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """For a timestamp an answer has the first message not older, or the end if there is none."""
    ledger.make_topic(topic, 2)
    now_ms = int(time.time() * 1000)
    fill(bootstrap, topic, 0, [now_ms - 3_000, now_ms - 2_000, now_ms - 1_000])
    fill(bootstrap, topic, 1, [now_ms - 3_000])
    wanted_ms = now_ms - 2_500
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic, timestamp_ms=wanted_ms))
        ledger.await_that(lambda: ledger.offsets)
    found = [(entry.max_offset, entry.for_time) for entry in ledger.offsets[0].queues]
    assert found == [(3, (wanted_ms, 1)), (1, (wanted_ms, 1))]


def test_only_the_queues_asked_for_are_answered(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """Only the queues asked for are answered, and those that do not exist are nobody's."""
    ledger.make_topic(topic, 4)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic, 9, group="none"))
        ledger.ask(offsets_request(topic, 9, 2))
        ledger.await_that(lambda: ledger.offsets)
    ledger.read_all()
    assert [entry.queue.queue_id for known in ledger.offsets for entry in known.queues] == [2]


def test_each_group_is_answered_with_its_own_commits(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """Requests of many groups for one topic are each answered with the group's own commits."""
    ledger.make_topic(topic, 1)
    fill(bootstrap, topic, 0, [int(time.time() * 1000)] * 9)
    groups = [f"{topic}-{number}" for number in range(8)]
    for number, group in enumerate(groups):
        commit(bootstrap, group, topic, {0: (number, "")})
    for group in groups:
        ledger.ask(offsets_request(topic, group=group))
    with running(make_bridge(ledger, bootstrap)):
        ledger.await_that(lambda: len(ledger.offsets) == len(groups))
    committed = {known.group: known.queues[0].committed for known in ledger.offsets}
    assert committed == {group: Position(0, number) for number, group in enumerate(groups)}


def test_an_answer_for_many_queues_is_several_records(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """An answer for more queues than a record holds comes in several records."""
    ledger.make_topic(topic, 250)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(offsets_request(topic))
        ledger.await_that(lambda: sum(len(known.queues) for known in ledger.offsets) >= 250)
    answered = [entry.queue.queue_id for known in ledger.offsets for entry in known.queues]
    assert answered == list(range(250))
    assert len(ledger.offsets) == 2


def test_one_refused_partition_costs_its_own_offsets(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """A partition that the cluster refuses costs its own offsets only."""
    ledger.make_topic(topic, 5)
    cluster = DataCluster(bootstrap, timeout_ms=5_000, options={})
    bounds, for_times = cluster.bounds(topic, dict.fromkeys([0, 1, 7, 3, 4], 1), [DAY_MS])
    cluster.close()
    assert bounds.earliest == bounds.latest == dict.fromkeys([0, 1, 3, 4], 0)
    assert for_times == {DAY_MS: dict.fromkeys([0, 1, 3, 4], -1)}


@pytest.mark.slow  # 750 partitions to make take their time
def test_ends_of_many_topics(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """More partitions than one request asks of: each topic has its own ends, bad ones none."""
    topics = [f"{topic}-{number}" for number in range(3)]
    for number, each in enumerate(topics):
        ledger.make_topic(each, 250)
        fill(bootstrap, each, 249, [DAY_MS] * (number + 1))
    cluster = DataCluster(bootstrap, timeout_ms=5_000, options={})
    ends = cluster.ends({each: dict.fromkeys(range(251), 1) for each in topics})
    assert ends == {
        each: {**dict.fromkeys(range(249), 0), 249: number + 1}
        for number, each in enumerate(topics)
    }
    looked = PolledTopics(cluster)
    queues = [MessageQueue(each, "main", number) for each in topics for number in (0, 249, 250)]
    looked.read_ends([*queues, MessageQueue(f"{topic}-gone", "main", 0)])
    cluster.close()
    assert looked.ends == {
        MessageQueue(each, "main", at): end
        for number, each in enumerate(topics)
        for at, end in ((0, 0), (249, number + 1))
    }
    assert looked.identities.keys() == {*topics}
