"""A pitfall of RocketMQ up to 4.7.1: with latency tolerance it retries where it just failed."""

from pathlib import Path
from typing import Any, Final

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.target import Target

from tests.judge.cases import Case
from tests.judge.fault_sequences import answered
from tests.judge.real_classes import RocketMQ, judged

pytestmark = pytest.mark.java

BROKERS: Final = ("broker-a", "broker-b", "broker-c")
RETRIES: Final = 12


def _case(version: str, *, isolated: bool) -> Case:
    """All three brokers are known to be fast; then a sending to the first one fails."""
    known: list[list[Any]] = [
        ["update", name, 10 + at, False, True] for at, name in enumerate(BROKERS)
    ]
    failed = ["update", BROKERS[0], 20, isolated, True]
    return {
        "id": version,
        "kind": "fault_strategy",
        "version": version,
        "scale": 1_000,
        "queues": [["orders", name, number] for name in BROKERS for number in range(2)],
        "route": {
            "queueDatas": [
                {"brokerName": name, "perm": 6, "writeQueueNums": 2} for name in BROKERS
            ],
            "brokerDatas": [],
        },
        "start_index": 0,
        "worst_index": 0,
        "steps": [*known, failed, *[["select", BROKERS[0]] for _ in range(RETRIES)]],
    }


def _retried(answer: Case) -> list[str]:
    return [step[0][1] for step in answer["result"][-RETRIES:]]


@pytest.mark.parametrize("jars, version", [("rocketmq-4.7", "4.3"), ("rocketmq-5", "5")])
def test_a_retry_after_a_failure(jars: RocketMQ, version: str, tmp_path: Path) -> None:
    """4.7.1 sends every retry to the broker that just failed; 5, and ours by it, to the others."""
    (rocketmq,) = judged([case := _case(version, isolated=False)], tmp_path, jars)
    assert answered(case) == rocketmq
    expected = {BROKERS[0]} if version == "4.3" else {BROKERS[1], BROKERS[2]}
    assert set(_retried(rocketmq)) == expected


def test_a_retry_after_an_isolation(tmp_path: Path) -> None:
    """Where the failed broker is avoided, 4.7.1 takes the fastest one it knows, and that alone."""
    (rocketmq,) = judged([case := _case("4.3", isolated=True)], tmp_path, "rocketmq-4.7")
    assert answered(case) == rocketmq
    assert set(_retried(rocketmq)) == {BROKERS[1]}


def test_a_retry_of_ours(tmp_path: Path) -> None:
    """A Producer's own selection never takes the broker that failed while there is another."""
    case = _case("4.3", isolated=False)
    (rocketmq,) = judged([case], tmp_path, "rocketmq-4.7")
    assert set(_retried(rocketmq)) == {BROKERS[0]}
    targets = [Target(Queue(*queue), queue[1]) for queue in case["queues"]]
    for start in range(len(targets)):
        turns = FairRoundRobin(targets, start)
        taken = [turns.select(tried=(BROKERS[0],)).broker for _ in range(RETRIES)]
        assert taken.count(BROKERS[1]) == taken.count(BROKERS[2]) == RETRIES / 2
