"""`fairlead adopt` and `release` with real consumers: to Fairlead and back, each message once."""

import contextlib
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest
from fairlead_client import Consumer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from fairlead.cli.main import main
from fairlead.errors import ExitCode
from tests.kit.awaiting import SECONDS, await_seen
from tests.kit.command import document_of
from tests.kit.kafka_log import body_of
from tests.kit.kafka_topics import make_topic
from tests.kit.live_system import LiveSystem, live_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

QUEUES: Final = 3
WAIT_MS: Final = round(SECONDS * 1_000)
QUIET_MS: Final = 1_500
"""So long a consumer that has everything is asked for more."""


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveSystem]:
    """One run of job and bridge for all tests of this module."""
    folder = tmp_path_factory.mktemp("job")
    with live_system(spark_of_the_run, kafka.bootstrap, folder, queues=QUEUES) as running:
        yield running


class Story:
    """One group under two names, everything that was written, and everything that was read."""

    def __init__(self, system: LiveSystem, native: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.system = system
        self.group = f"shop-{uuid.uuid4().hex[:8]}"
        self.native = native.format(self.group)
        self.read: Counter[tuple[int, int]] = Counter()
        self._capsys = capsys
        kafka = system.settings.kafka
        self._place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]

    def write(self, each: int) -> int:
        """Write so many messages to each queue; return how many there are now to be read."""
        with contextlib.closing(
            KafkaProducer(bootstrap_servers=self.system.settings.kafka.bootstrap)
        ) as producer:
            for partition in range(QUEUES):
                for _ in range(each):
                    producer.send(self.system.topic, b"message", partition=partition).get(10)
        return each * QUEUES

    @contextlib.contextmanager
    def native_consumer(self) -> Iterator[KafkaConsumer]:
        """A consumer of Kafka's own, as an application has it, that knows its topic's queues.

        kafka-python 3.0 does not get over a topic that it learns of while it joins: it joins again
        at once, and if that takes longer than one poll, no later poll looks at the answer. It then
        holds nothing, beats no more, and is forgotten by the broker. docs/adoption.md says so too.
        """
        consumer = KafkaConsumer(
            self.system.topic,
            bootstrap_servers=self.system.settings.kafka.bootstrap,
            group_id=self.native,
            client_id="shop-native",
            auto_offset_reset="latest",
            enable_auto_commit=False,
            max_poll_records=5,
        )
        try:
            await_seen(
                lambda: consumer.partitions_for_topic(self.system.topic),
                lambda queues: len(queues) == QUEUES,
                what="queues of the topic",
            )
            yield consumer
        finally:
            consumer.close()

    def read_natively(self, consumer: KafkaConsumer, messages: int) -> None:
        """Read at least so many, and commit what was read."""
        wanted = self.read.total() + messages

        def read() -> int:
            self._take(consumer)
            return self.read.total()

        await_seen(read, lambda total: total >= wanted, what=f"{wanted} messages", pause=0)

    def _take(self, consumer: KafkaConsumer, wait_ms: int = 200) -> int:
        found = [each for rows in consumer.poll(timeout_ms=wait_ms).values() for each in rows]
        self.read.update((each.partition, each.offset) for each in found)
        if found:
            consumer.commit()
        return len(found)

    def read_rest_natively(self, messages: int) -> None:
        """Read exactly so many with a consumer of Kafka's own, and see that no more come."""
        with self.native_consumer() as consumer:
            self.read_natively(consumer, messages)
            assert self._take(consumer, QUIET_MS) == 0

    @contextlib.contextmanager
    def our_consumer(self) -> Iterator[Consumer]:
        """A consumer of Fairlead's; where nobody says otherwise it would skip what is there."""
        with Consumer(
            bootstrap=self.system.settings.kafka.bootstrap,
            prefix=self.system.settings.kafka.topic_prefix,
            group=self.group,
            client_id="shop-ours",
            topics=[self.system.topic],
            consume_from="last_offset",
        ) as consumer:
            yield consumer

    def read_ours(self, consumer: Consumer, messages: int) -> None:
        """Read exactly so many with Fairlead's consumer, and see that no more come."""
        for _ in range(messages):
            message = consumer.poll(WAIT_MS)
            assert message is not None
            self.read[message.queue.queue_id, message.offset] += 1
        assert consumer.poll(QUIET_MS) is None

    def run(
        self, command: str, *flags: str, code: ExitCode = ExitCode.OK
    ) -> tuple[list[dict[str, Any]], str]:
        """Run a command on both groups; return its rows, and what it said beside them."""
        self._capsys.readouterr()
        other = {"adopt": "--from", "release": "--to"}[command]
        words = [command, self.group, *flags, "--wait", "60", "-o", "json", *self._place]
        if self.native != self.group:
            words += [other, self.native]
        with pytest.raises(SystemExit) as end:
            main(words)
        output = self._capsys.readouterr()
        assert end.value.code == code, output.err
        return document_of(output.out) or [], output.err

    def controls(self) -> list[dict[str, Any]]:
        """Return the group's records in the control topic."""
        found = [body_of(each) for each in self.system.log.records("control") if each.value]
        return [body for body in found if body["group"] == self.group]

    def await_alarm(self, alarm: str) -> None:
        """Wait until a decision of the group has an alarm while somebody is a member."""

        def has(record: Any) -> bool:
            body = body_of(record)
            return body["group"] == self.group and alarm in body["alarms"] and bool(body["members"])

        self.system.log.await_record("decisions", has)


def begun_natively(story: Story) -> int:
    """Let a native consumer read some of what is written; return how many messages are left."""
    with story.native_consumer() as consumer:
        # It has its queues before there is a message: `latest` is where everybody begins.
        def joined() -> int:
            consumer.poll(timeout_ms=200)
            return len(consumer.assignment())

        await_seen(joined, lambda queues: queues == QUEUES, what="queues assigned", pause=0)
        for partition in consumer.assignment():
            consumer.position(partition)
        written = story.write(10)
        story.read_natively(consumer, 12)
        rows, text = story.run("adopt", code=ExitCode.REFUSED)
        assert f"{story.native}: the native group is at work (Stable): shop-native at" in text
        assert (
            sum(row["end"] - row["native_offset"] for row in rows) == written - story.read.total()
        )
        none, _ = story.run("adopt", "--apply", code=ExitCode.REFUSED)
        assert none == []
    return written - story.read.total()


@pytest.mark.parametrize(
    "native",
    [
        pytest.param("{}", id="one-name", marks=pytest.mark.slow),
        pytest.param("{}-of-old", id="two-names"),
    ],
)
def test_a_group_goes_native_and_back_without_loss(
    system: LiveSystem, native: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Native consumers, Fairlead's, native ones, Fairlead's again: nothing is missed or doubled."""
    story = Story(system, native, capsys)
    left = begun_natively(story)

    rows, text = story.run("adopt")
    assert "a dry run: nothing is written" in text
    assert {row["to_why"] for row in rows} == {"committed"}
    assert sum(row["lag_messages"] for row in rows) == left
    assert story.controls() == []
    rows, _ = story.run("adopt", "--apply", "--by", "alice", "--because", "fewer pauses")
    assert [row["answer"] for row in rows] == ["followed"] * QUEUES
    assert {body["because"] for body in story.controls()} == {
        f"taken over from the native group {story.native}: fewer pauses"
    }

    left += story.write(3)
    with story.our_consumer() as ours:
        story.read_ours(ours, left)
        _, text = story.run("release", code=ExitCode.REFUSED)
        assert "clients are in Fairlead's group: shop-ours." in text
        _, text = story.run("adopt", code=ExitCode.REFUSED)
        assert "Fairlead's group has moved on already: shop-ours." in text
    if story.native != story.group:
        _, text = story.run("adopt", code=ExitCode.REFUSED)
        assert f"main/0 is at {rows[0]['end'] + 3}" in text

    before = len(story.controls())
    rows, _ = story.run("release")
    assert sum(row["lag_messages"] for row in rows) == 0
    assert len(story.controls()) == before
    rows, _ = story.run("release", "--apply")
    answer = "stands" if story.native == story.group else "committed"
    assert {row["answer"] for row in rows} == {answer}

    left = story.write(3)
    with story.our_consumer() as ours:
        story.await_alarm("designation_empty")
        assert ours.poll(QUIET_MS) is None
    story.read_rest_natively(left)
    _, text = story.run("release", code=ExitCode.REFUSED)
    assert "the native group is further already" in text

    left = story.write(2)
    story.run("adopt", "--apply")
    assert not any(body.get("rule") == "designated" and body["value"] for body in newest(story))
    with story.our_consumer() as ours:
        story.read_ours(ours, left)
    assert story.read.total() == len(story.read)
    assert sorted(Counter(partition for partition, _ in story.read).items()) == [
        (partition, 18) for partition in range(QUEUES)
    ]


def newest(story: Story) -> list[dict[str, Any]]:
    """Return the newest record of each rule."""
    found = {(body["kind"], body.get("rule")): body for body in story.controls()}
    return list(found.values())


def test_nothing_to_take_over(system: LiveSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """A group that committed nothing is refused, with the nearest names; and so is a wrong word."""
    story = Story(system, "{}-nobody", capsys)
    _, text = story.run("adopt", code=ExitCode.USAGE)
    assert f"{story.native}: this group has committed nothing" in text
    _, text = story.run("adopt", "--topic", system.topic, code=ExitCode.USAGE)
    assert f"{story.native}: this group has committed nothing" in text
    _, text = story.run("adopt", "--uncommitted", "middle", code=ExitCode.USAGE)
    assert "--uncommitted: 'middle' is not allowed." in text
    flags = ("--topic", system.topic, "--apply")
    _, text = story.run("release", *flags, code=ExitCode.USAGE)
    assert f"no position is known in {system.topic}: there is nothing to hand back" in text
    assert story.controls() == []


def test_asks_for_the_route(system: LiveSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that nobody has asked for is no obstacle: the bridge is asked for its route."""
    story, topic = Story(system, "{}-unasked", capsys), f"unasked-{uuid.uuid4().hex[:8]}"
    bootstrap = system.settings.kafka.bootstrap
    make_topic(bootstrap, topic, partitions=2)
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, group_id=story.native, enable_auto_commit=False
    )
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(topic, 0)])
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(0, "", -1)})
    rows, text = story.run("adopt")
    assert f"no route of {topic} is known: asking the bridge for it" in text
    assert [(row["native_offset"], row["to_offset"]) for row in rows] == [(0, 0), (None, None)]
    _, text = story.run("adopt", "--topic", system.topic, code=ExitCode.USAGE)
    assert f"the native group has committed nothing in {system.topic}" in text
