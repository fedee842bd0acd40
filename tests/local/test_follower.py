"""The follower takes in what the decisions topic says, wakes who waits, and hides no failure."""

import contextlib
from collections.abc import Iterator

import orjson
import pytest
from fairlead_proof.local.follower import DecisionFollower
from kafka import KafkaProducer

from fairlead.core.model import Epoch, MessageQueue
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.topics import TopicNames
from tests.kit.wire_records import example

SECONDS = 30.0


@pytest.fixture
def producer(bootstrap: str) -> Iterator[KafkaProducer]:
    """A producer."""
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        yield producer


def _decisions(topics: TopicNames) -> str:
    """The decisions topic of this test."""
    return f"{topics.prefix}decisions"


def _record(group: str, number: int, client_id: str) -> bytes:
    """A decision that grants queue 0 to a client."""
    move = {"queue": ["orders", "main", 0], "stage": "granted", "epoch": [1, number]}
    state = {"phase": "stable", "queues": 1, "unassigned": 0, "in_handover": 0, "pending": 0}
    body = example(
        "decision",
        group=group,
        epoch=[1, number],
        members=[client_id],
        moves=[{**move, "client_id": client_id, "position": [0, 0], "why": "minimum"}],
        state=state,
    )
    body["cut"]["generation"] = 1
    return orjson.dumps(body)


def test_decisions_of_one_group_are_followed(
    bootstrap: str, topics: TopicNames, producer: KafkaProducer
) -> None:
    """Decisions of before and after the start are taken in, those of other groups are not."""
    producer.send(_decisions(topics), key=b"demo", value=_record("demo", 1, "a")).get(SECONDS)
    seen: list[DecisionRecord] = []
    follower = DecisionFollower(bootstrap, _decisions(topics), "demo", on_decision=seen.append)
    with follower:
        assert follower.wait_until(lambda owned: owned.decisions == 1, SECONDS)
        producer.send(_decisions(topics), key=b"other", value=_record("other", 7, "x")).get(SECONDS)
        producer.send(_decisions(topics), key=b"demo", value=_record("demo", 2, "b")).get(SECONDS)
        members = frozenset({"b"})
        assert follower.wait_until(lambda owned: owned.is_settled_among(members, 1), SECONDS)
        assert follower.ownership.granted == {MessageQueue("orders", "main", 0): ("b", Epoch(1, 2))}
        assert not follower.wait_until(lambda owned: owned.decisions > 2, 0.01)
    assert [decision.epoch for decision in seen] == [Epoch(1, 1), Epoch(1, 2)]


def test_a_record_that_is_no_decision_ends_the_following(
    bootstrap: str, topics: TopicNames, producer: KafkaProducer
) -> None:
    """A record that is no decision ends the following; whoever waits gets the error."""
    follower = DecisionFollower(bootstrap, _decisions(topics), "demo")
    with follower:
        producer.send(_decisions(topics), key=b"demo", value=b'{"kind":"release"}').get(SECONDS)
        with pytest.raises(RuntimeError, match="could not be followed") as caught:
            follower.wait_until(lambda owned: owned.decisions > 0, SECONDS)
    assert "release" in str(caught.value.__cause__)
