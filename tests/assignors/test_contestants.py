"""Contestants are asked rightly: what comes back is what the real classes say."""

import json
from pathlib import Path
from typing import Final

import pytest
from fairlead_proof.bench.assignors.contestant import Contestant, Conversation, Effort, ours
from fairlead_proof.bench.assignors.grid import Point
from fairlead_proof.bench.assignors.group import NOBODY, Group
from fairlead_proof.bench.assignors.kafka import kafka_release
from fairlead_proof.bench.assignors.outcome import outcome

from fairlead.errors import QueryDiedError
from tests.assignors.contest import ask_once

pytestmark = pytest.mark.java

PLENTY: Final = 60.0


def _group(topics: list[int], owners: list[list[int]], members: int, *wanted: list[int]) -> Group:
    """Members subscribe everything, or what is wanted, one after another."""
    everything = list(range(len(topics)))
    group = Group.unowned(
        topics, wanted or [everything], list(range(members)) if wanted else [0] * members
    )
    return group.owned_by(tuple(tuple(one) for one in owners))


def test_the_assignors_are_of_kafka_4() -> None:
    """The assignors are of one release of Kafka 4."""
    assert kafka_release().split(".")[0] == "4"


@pytest.mark.slow  # the bench of the strategies runs them too
def test_the_range_assignor_deals_each_topic_in_blocks(
    kafka: dict[str, Contestant], kafka_folder: Path
) -> None:
    """RangeAssignor deals each topic in blocks, the first members have one more, owners or not."""
    group = _group([7, 2], [[2] * 7, [NOBODY] * 2], 3)
    (answer,) = ask_once(kafka["RANGE"], [group], kafka_folder, PLENTY)
    assert answer.owners == ((0, 0, 0, 1, 1, 2, 2), (0, 1))


@pytest.mark.slow  # the bench of the strategies runs them too
@pytest.mark.parametrize("name", ["UNIFORM", "COOPERATIVE_STICKY"])
@pytest.mark.parametrize("change", ["none", "join", "leave"])
def test_a_sticky_assignor_keeps_a_settled_group(
    name: str, change: str, kafka: dict[str, Contestant], kafka_folder: Path
) -> None:
    """A sticky assignor keeps a settled group, gives a joiner its share and no more."""
    owners = {
        "none": [[0, 0, 1, 1, 2, 2], [2, 1, 0]],
        "join": [[0, 0, 1, 1, 0, 1], [1, 0, 1]],
        "leave": [[0, 0, 1, 1, 2, 2], [2, 1, NOBODY]],
    }
    group = _group([6, 3], owners[change], 3)
    (answer,) = ask_once(kafka[name], [group], kafka_folder, PLENTY)
    found = outcome(group, answer.owners)
    assert found.loads == (3, 3, 3)
    assert found.moved == {"none": 0, "join": 3, "leave": 0}[change]
    # What has to be revoked first is withheld in the first round of the clients' protocol.
    assert answer.rounds == (2 if change == "join" and name == "COOPERATIVE_STICKY" else 1)


@pytest.mark.slow  # the bench of the strategies runs them too
def test_unequal_subscriptions_are_heard(kafka: dict[str, Contestant], kafka_folder: Path) -> None:
    """Everybody gives a topic to its subscribers alone, and takes from an owner who is none."""
    group = _group([2, 4], [[1, 1], [0, 0, 0, 0]], 2, [0], [0, 1])
    for contestant in (*kafka.values(), ours("STICKY")):
        (answer,) = ask_once(contestant, [group], kafka_folder, PLENTY)
        assert answer.owners[1] == (1, 1, 1, 1)
        assert contestant.name == "RANGE" or answer.owners[0] == (0, 0)


@pytest.mark.slow  # the bench of the strategies runs them too
def test_everybody_runs_as_long_as_told(kafka: dict[str, Contestant], kafka_folder: Path) -> None:
    """There are warm-up runs and counted ones, at least so many, with both times."""
    group = Point(20, 5, 4, "equal", "full").first()
    for contestant in (*kafka.values(), ours("STICKY")):
        with Conversation(contestant, kafka_folder) as conversation:
            warm = conversation.ask(group, Effort(warm_up_ms=50, measure_ms=50), PLENTY)
            few = conversation.ask(group, Effort(runs_min=7), PLENTY)
        assert warm is not None
        assert few is not None
        assert warm.warm_ups >= 1
        assert warm.runs >= 1
        assert warm.processor_ms > 0
        assert warm.clock_ms > 0
        assert (few.runs, few.warm_ups) == (7, 0)


@pytest.mark.slow  # the bench of the strategies runs them too
def test_a_run_beyond_the_limit_is_ended(kafka: dict[str, Contestant], kafka_folder: Path) -> None:
    """A single run that takes longer than the limit has no figure, and its process is gone."""
    slow = Point(1_000, 10, 100, "overlapping", "full").first()
    with Conversation(kafka["COOPERATIVE_STICKY"], kafka_folder) as conversation:
        assert conversation.ask(slow, Effort(), 0.2) is None


def test_a_contestant_that_dies_is_named(kafka_folder: Path) -> None:
    """A strategy that is not there ends the process; the error has its last words."""
    group = Point(2, 1, 1, "equal", "full").first()
    with pytest.raises(QueryDiedError, match=r"(?s)NOBODYS: its process died: .*NOBODYS"):
        ask_once(ours("NOBODYS"), [group], kafka_folder, PLENTY)


def test_groups_come_through() -> None:
    """A group is the same after it was written and read."""
    group = Point(10, 3, 3, "overlapping", "join").first()
    assert Group.read(json.loads(json.dumps(group.to_json()))) == group
