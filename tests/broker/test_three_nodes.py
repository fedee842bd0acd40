"""Three real nodes: what is written to two survives the loss of one."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from fairlead_client import OutgoingMessage, Producer
from fairlead_client.transport.silent_brokers import network_client
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from fairlead.broker import EmbeddedKafka, read_state, read_status
from fairlead.broker.processes import quorum_of
from fairlead.doctor import CHECKS, CheckContext, Examined, Status, examine_all
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.kit.awaiting import await_seen

# The kit for outages, which the demo of three brokers shows at work.
pytestmark = [pytest.mark.broker, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """Three nodes; every test leaves all of them in service. At the end a majority stops in order.

    The last one may find itself without controllers that give it leave.
    """
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka"), brokers=3) as started:
        yield started
        # Earlier stops stand there too.
        told = {node: started.log_file(node).stat().st_size for node in started.nodes}
    assert [started.is_running(node) for node in started.nodes] == [False] * 3
    logs = [started.log_file(node).read_bytes()[told[node] :] for node in started.nodes]
    in_order = sum(b"shut down completed" in log for log in logs)
    assert in_order >= quorum_of(3), "nodes had to be killed"


def _partition(bootstrap: str, topic: str) -> dict[str, Any]:
    """Leader and replicas of partition 0."""
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        (described,) = admin.describe_topics([topic])
    found: dict[str, Any] = described["partitions"][0]
    return found


def _await_in_sync(bootstrap: str, topic: str, replicas: int) -> None:
    """Wait until so many replicas of partition 0 have everything."""
    deadline = time.monotonic() + 60
    while len(_partition(bootstrap, topic)["isr_nodes"]) != replicas:
        assert time.monotonic() < deadline, _partition(bootstrap, topic)
        time.sleep(0.2)


def test_three_nodes_see_each_other(cluster: EmbeddedKafka) -> None:
    """Every node is in service at an address of its own, run by a process of its own."""
    status = read_status(cluster.data_dir)
    assert status is not None
    assert [node.in_service for node in status.nodes] == [True] * 3
    assert len({node.address for node in status.nodes}) == 3
    assert len({node.pid for node in status.nodes}) == 3
    assert cluster.bootstrap == ",".join(node.address for node in status.nodes)


def test_what_two_have_survives_the_leader(cluster: EmbeddedKafka) -> None:
    """Kill the leader: another takes over with every acknowledged record, and writing goes on."""
    bootstrap = cluster.bootstrap
    report = create_topics(
        {"bootstrap_servers": bootstrap}, "three.", topic_specs(load_settings().topics), 3
    )
    assert report.differences == ()
    topic = "three.routes"
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    with contextlib.closing(producer):
        producer.send(topic, b"before", key=b"k").get(timeout=30)
        leader = _partition(bootstrap, topic)["leader_id"]
        cluster.kill(leader)
        producer.send(topic, b"after", key=b"k").get(timeout=60)
    assert _partition(bootstrap, topic)["leader_id"] != leader
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=30_000)
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_beginning()
        assert [next(consumer).value, next(consumer).value] == [b"before", b"after"]
    cluster.restart(leader)
    _await_in_sync(bootstrap, topic, 3)


def _publish_route(bootstrap: str, prefix: str, topic: str) -> None:
    """Write the route of a topic of three queues, each led by a node of its own."""
    broker = {
        "broker_name": "main",
        "cluster": "main",
        "perm": 6,
        "read_queue_nums": 3,
        "write_queue_nums": 3,
        "addresses": {"0": bootstrap},
        "leaders": ["1", "2", "3"],
        "zones": None,
    }
    record = {
        "v": 1,
        "kind": "route",
        "topic": topic,
        "identity": "one",
        "order_topic_conf": None,
        "brokers": [broker],
    }
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        key = topic.encode()
        producer.send(f"{prefix}routes", orjson.dumps(record), key=key).get(timeout=30)


def _write_to_each(bootstrap: str, topic: str) -> None:
    """Write to each of three partitions until its leader, who may not know of it yet, takes it.

    Until then a leader refuses, and a producer of ours rightly goes context it.
    """
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for number in range(3):
            producer.send(topic, b"first", partition=number).get(timeout=30)


def test_a_producer_goes_around_a_dead_node(cluster: EmbeddedKafka) -> None:
    """Of a topic without copies one leader dies: the others take its messages, none is lost."""
    bootstrap, topic = cluster.bootstrap, "sent"
    specs = topic_specs(load_settings().topics)
    create_topics({"bootstrap_servers": bootstrap}, "send.", specs, 3)
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        places = {number: [number + 1] for number in range(3)}
        admin.create_topics([NewTopic(name=topic, replica_assignments=places)])
    _write_to_each(bootstrap, topic)
    _publish_route(bootstrap, "send.", topic)
    message = OutgoingMessage(topic, b"x")
    with Producer(bootstrap=bootstrap, prefix="send.") as producer:
        before = [producer.send(message, timeout_ms=30_000) for _ in range(9)]
        assert {result.broker for result in before} == {"1", "2", "3"}
        cluster.kill(3)
        after = [producer.send(message) for _ in range(9)]
        assert {result.broker for result in after} == {"1", "2"}
        assert not producer.brokers()["3"].reachable
    cluster.restart(3)
    assert len({(result.queue, result.offset) for result in before + after}) == 18


def test_ends_are_asked_of_who_leads_by_now(cluster: EmbeddedKafka) -> None:
    """A broker that was frozen tells who led before, and then says that it does not lead."""
    bootstrap, topic = cluster.bootstrap, "led"
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.create_topics([NewTopic(name=topic, replica_assignments={0: [2, 1]})])
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        producer.send(topic, b"first", partition=0).get(timeout=30)
    partition = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, kafka_client=network_client)
    with contextlib.closing(consumer):
        assert consumer.end_offsets([partition]) == {partition: 1}
        cluster_seen = consumer._client._manager.cluster  # noqa: SLF001 - set by answers alone
        cluster_seen._partitions[topic][0].leader_id = 1  # noqa: SLF001
        assert consumer.end_offsets([partition], timeout_ms=5_000) == {partition: 1}


def test_a_node_that_runs_is_restarted_in_order(cluster: EmbeddedKafka) -> None:
    """A rolling restart keeps the addresses, changes the process, and ends in service."""
    before = read_state(cluster.data_dir)
    cluster.restart(2)
    after = read_state(cluster.data_dir)
    assert before is not None
    assert after is not None
    assert after.bootstrap == before.bootstrap
    changed = [
        old.process != new.process for old, new in zip(before.nodes, after.nodes, strict=True)
    ]
    assert changed == [False, True, False]
    status = read_status(cluster.data_dir)
    assert status is not None
    assert [node.in_service for node in status.nodes] == [True] * 3


def test_the_doctor_names_a_frozen_node(cluster: EmbeddedKafka) -> None:
    """Node 1 of three freezes: the cluster is looked at all the same, and this node is named."""
    given = {"kafka.bootstrap": cluster.bootstrap, "kafka.topic_prefix": "doctor."}
    settings = load_settings(overrides=given)
    # Of topics that were there before, a node that was restarted may still lack something.
    create_topics(
        {"bootstrap_servers": cluster.bootstrap}, "doctor.", topic_specs(settings.topics), 3
    )
    checks = [check for check in CHECKS if check.name in ("broker", "copies", "lease")]

    def look() -> list[Examined]:
        context = CheckContext(settings)
        with contextlib.closing(context.cluster):
            return list(examine_all(context, checks))

    cluster.pause(1)
    try:
        at_once = look()
        later = await_seen(
            look,
            lambda found: "has fenced it" in "".join(one.answer.says for one in found),
            what="a node that is out of service",
        )
    finally:
        cluster.resume(1)
    _await_in_sync(cluster.bootstrap, "doctor.routes", 3)
    for found in (at_once, later):
        assert [one for one in found if one.answer.status is Status.FAIL] == []
        assert "broker 1 at" in "".join(one.answer.says for one in found)
    told = {(one.check, one.answer.status): one.answer.says for one in later}
    assert "nodes 2, 3" in told["broker", Status.OK]
    assert told["copies", Status.WARN].startswith("1 of 3 replicas of ")
    assert told["copies", Status.WARN].endswith("broker 1 is gone or silent")
