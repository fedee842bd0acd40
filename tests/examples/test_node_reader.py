"""The reader of examples/node/kafka.mjs on a real broker: no message is missed, none is wrong."""

import subprocess
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition

from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import TopicSpec
from tools.node_consumer import node_consumer

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

_SCRIPT = """
const { read, close } = await import("./kafka.mjs");
const [topic, asked] = JSON.parse(process.argv[1]);
const works = asked.map(([id, position]) => ({ queue: [topic, "main", id], position }));
let quiet = 0;
while (quiet < 3) {
  const found = await Promise.all(works.map(read));
  found.forEach((message, which) => {
    if (!message) return;
    console.log(JSON.stringify([which, message.offset, String(message.value)]));
    works[which].position = message.offset + 1;
  });
  quiet = found.some(Boolean) ? 0 : quiet + 1;
}
await close();
"""


class Topic:
    """A topic of two partitions, and what writes to it."""

    def __init__(self, bootstrap: str) -> None:
        self.name = f"read-{uuid.uuid4().hex[:8]}"
        self._bootstrap = bootstrap
        spec = TopicSpec(self.name, 2, {})
        create_topics({"bootstrap_servers": bootstrap}, "", [spec], 1)

    def write(self, *texts: str, partition: int = 0, commits: bool | None = None) -> None:
        """Write messages; in a transaction that commits or aborts, unless it is None."""
        own = {} if commits is None else {"transactional_id": f"{self.name}-{texts[0]}"}
        producer = KafkaProducer(bootstrap_servers=self._bootstrap, acks="all", **own)
        if commits is not None:
            producer.init_transactions()
            producer.begin_transaction()
        for text in texts:
            producer.send(self.name, text.encode(), partition=partition)
        producer.flush()
        if commits is not None:
            (producer.commit_transaction if commits else producer.abort_transaction)()
        producer.close()

    def delete_before(self, offset: int) -> None:
        """Let the broker forget the messages before an offset."""
        admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        admin.delete_records({TopicPartition(self.name, 0): offset})
        admin.close()

    def read(self, *asked: tuple[int, int]) -> list[list[Any]]:
        """Read partitions from positions to the end; return who got which offset and text."""
        node, program = node_consumer()
        done = subprocess.run(
            [node, "--input-type=module", "-e", _SCRIPT, orjson.dumps([self.name, asked]).decode()],
            cwd=Path(program).parent,
            env={"BOOTSTRAP": self._bootstrap},
            capture_output=True,
            check=True,
            timeout=60,
        )
        return [orjson.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def topic(kafka: "EmbeddedKafka") -> Topic:
    """A new topic."""
    return Topic(kafka.bootstrap)


@pytest.mark.broker
def test_an_aborted_transaction_shows_no_message_and_marks_end_nothing(topic: Topic) -> None:
    """Marks of transactions have offsets, also the last one, and no reader sees them."""
    topic.write("a", "b")
    topic.write("no", "never", commits=False)
    topic.write("c", commits=True)
    topic.write("d")
    topic.write("e", commits=True)
    assert [text for _, _, text in topic.read((0, 0))] == ["a", "b", "c", "d", "e"]
    assert topic.read((0, 1))[0] == [0, 1, "b"]


@pytest.mark.broker
def test_each_work_gets_the_messages_of_its_own_position(topic: Topic) -> None:
    """Two works of one queue stand at two places while one of them ends."""
    topic.write(*map(str, range(20)))
    found = topic.read((0, 0), (0, 15))
    assert [offset for which, offset, _ in found if which == 1] == [15, 16, 17, 18, 19]


@pytest.mark.broker
def test_deleted_messages_stop_no_other_queue(topic: Topic) -> None:
    """A queue whose position is gone goes on at the first message that is left."""
    topic.write(*map(str, range(10)))
    topic.write("x", "y", partition=1)
    topic.delete_before(7)
    found = topic.read((0, 2), (1, 0))
    assert [offset for which, offset, _ in found if which == 0] == [7, 8, 9]
    assert [text for which, _, text in found if which == 1] == ["x", "y"]
