"""The producer's demo as a user runs it: three brokers, one slow, one killed; and its judge."""

import sys

import orjson
import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.outgoing import SendResult
from fairlead_proof.demo.sending_judge import Phase, judge_sending
from fairlead_proof.demo.sent_messages import FIRST, Ledger, Sent

from fairlead.errors import ExitCode
from fairlead.kafka.topic_content import TopicContent
from fairlead.wire.raw import RawRecord
from tests.kit.awaiting import run_talking


@pytest.mark.system
@pytest.mark.broker
@pytest.mark.slow
def test_the_producer_goes_around_slow_and_killed_brokers() -> None:
    """The producer goes around a slow broker and a killed one, and loses no message."""
    command = [sys.executable, "-m", "fairlead", "proof", "demo-producer", "--check", "-o", "json"]
    ended = run_talking(command)
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    document = orjson.loads(ended.stdout)
    assert document["passed"] is True
    assert document["messages"] > 4_000
    assert [check["passed"] for check in document["checks"]] == [True] * 8


def ledger_of(brokers: str) -> Ledger:
    """Return a ledger of a message a second to each of these brokers in turn, from second 0 on."""
    ledger = Ledger()
    for number, broker in enumerate(brokers):
        result = SendResult(Queue("orders", "main", int(broker)), number, broker)
        ledger.sent.append(Sent(number, result, float(number), 5.0))
    return ledger


def content_of(ledger: Ledger, *more: tuple[int, int, bytes]) -> TopicContent:
    """Return the topic as the ledger says, and these records (partition, offset, value)."""
    said = [
        (sent.result.queue.queue_id, sent.result.offset, b"%d" % sent.number)
        for sent in ledger.sent
    ]
    records = tuple(
        RawRecord("orders", partition, offset, 0, append_time_is_log=False, key=None, value=value)
        for partition, offset, value in (*said, *more)
    )
    return TopicContent("orders", (1, 2, 3), records)


WELL = Phase("well", None, 0.0, 100.0)


def test_judge_is_content() -> None:
    """A history in which nothing is wrong passes; messages before the load do not count."""
    ledger = ledger_of("123" * 4 + "13" * 4)
    phases = [Phase("well", None, 0.0, 12.0), Phase("slow", "2", 12.0, 20.0)]
    content = content_of(ledger, (1, 90, FIRST), (1, 91, FIRST))
    checks = judge_sending(ledger, 20, content, phases)
    assert [check.passed for check in checks] == [True] * 5


def test_judge_finds_the_unanswered() -> None:
    """A message that failed, or never had an answer, is one too few."""
    ledger = ledger_of("123")
    ledger.failures.append((3, "SendFailedError: gone"))
    check, *_ = judge_sending(ledger, 4, content_of(ledger), [])
    assert (check.passed, check.measured) == (False, "3 of 4")
    assert check.findings == ("message 3: SendFailedError: gone",)
    assert not judge_sending(Ledger(), 0, content_of(Ledger()), [])[0].passed


def test_judge_finds_the_misplaced() -> None:
    """A message that is not where it was said to be is found, whatever else stands there."""
    ledger = ledger_of("123")
    right = content_of(ledger)
    wrong = TopicContent("orders", right.partitions, right.records[1:])
    check = judge_sending(ledger, 3, wrong, [])[1]
    assert not check.passed
    assert check.findings == ("message 0 is not at 1@0",)


def test_judge_counts_copies() -> None:
    """A copy needs an attempt that was not answered."""
    ledger = ledger_of("123")
    content = content_of(ledger, (1, 50, b"0"))
    assert not judge_sending(ledger, 3, content, [])[2].passed
    ledger.attempt_failed("2", 1_000, "unreachable")
    assert judge_sending(ledger, 3, content, [])[2].passed


@pytest.mark.parametrize("brokers, passed", [("123" * 3, True), ("12" * 5, False), ("", False)])
def test_judge_wants_all_brokers_at_work(brokers: str, passed: bool) -> None:  # noqa: FBT001 - a parameter
    """Where nobody is in trouble all three have their share."""
    ledger = ledger_of(brokers)
    assert judge_sending(ledger, 0, content_of(ledger), [WELL])[-1].passed is passed


@pytest.mark.parametrize("brokers, passed", [("13" * 9 + "2", True), ("123", False), ("", False)])
def test_judge_wants_a_way_around(brokers: str, passed: bool) -> None:  # noqa: FBT001 - a parameter
    """A broker in trouble has a tenth at most, and somebody must have sent at all."""
    ledger = ledger_of(brokers)
    trouble = Phase("slow", "2", 0.0, 100.0)
    assert judge_sending(ledger, 0, content_of(ledger), [trouble])[-1].passed is passed
