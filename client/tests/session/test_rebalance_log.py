"""The line that RocketMQ's clients write: per topic, when what the client is to have changed."""

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fairlead_client.model import Position, Queue
from fairlead_client.session.rebalance_log import RebalanceLog
from fairlead_client.session.records import Add, Assigned, Drop

if TYPE_CHECKING:
    from tests.session.conftest import Script

GROUP = "orders"
QUEUE = Queue("orders", "main", 1)
OTHER = Queue("payments", "main", 0)
HEAD = f"rebalanced result changed. group={GROUP}, topic="


class Told:
    """A session that logs its share after every record, as its thread does."""

    def __init__(self, script: "Script", caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "fairlead_client")
        self._script = script
        self._caplog = caplog
        self.log = RebalanceLog(GROUP, "me")

    def lines(self, number: int) -> list[str]:
        """Return what is logged on the record of this epoch, which the session has read."""
        self._caplog.clear()
        self.log.log_share(self._script.session.share, self._script.epoch(number))
        return list(self._caplog.messages)


@pytest.fixture
def told(script: "Script", caplog: pytest.LogCaptureFixture) -> Told:
    """A running client and its log."""
    return Told(script, caplog)


def test_the_line_has_the_keys_of_rocketmq_and_the_epoch(script: "Script", told: Told) -> None:
    """Its keys are RocketMQ's but for what only the engine knows; the epoch leads to that."""
    script.add(3)
    [line] = told.lines(3)
    assert line == (
        f"{HEAD}orders, clientId=me, rebalanceResultSize=1, rebalanceResultSet="
        "[MessageQueue [topic=orders, brokerName=main, queueId=1]], epoch=1.3"
    )


def test_only_a_change_has_a_line(script: "Script", told: Told) -> None:
    """A gated add is a change, the grant that opens it is none; a drop is one at once."""
    script.add(3, after=(script.holder("you", 2),))
    assert len(told.lines(3)) == 1
    script.add(3)
    assert script.starts == [(3, 0)]
    assert told.lines(4) == []
    script.drop(3, 5)
    assert told.lines(5) == [
        f"{HEAD}orders, clientId=me, rebalanceResultSize=0, rebalanceResultSet=[], epoch=1.5"
    ]
    script.stopped(3, 7)
    assert told.lines(5) == []


def test_each_changed_topic_has_a_line_of_its_own(script: "Script", told: Told) -> None:
    """Each topic has a line of its own, and one that did not change has none."""
    both = (QUEUE, OTHER)
    script.assign(
        3,
        add=tuple(Add(queue, script.epoch(3), Position(0, 0)) for queue in both),
        assigned=tuple(Assigned(queue, script.epoch(3), "held") for queue in both),
    )
    assert [line.removeprefix(HEAD).split(",")[0] for line in told.lines(3)] == [
        "orders",
        "payments",
    ]
    script.assign(
        4,
        drop=(Drop(OTHER, script.epoch(3)),),
        assigned=(
            Assigned(QUEUE, script.epoch(3), "held"),
            Assigned(OTHER, script.epoch(3), "draining"),
        ),
    )
    assert [line.removeprefix(HEAD).split(",")[0] for line in told.lines(4)] == ["payments"]


def test_a_part_alone_changes_nothing(script: "Script", told: Told) -> None:
    """A part of a record changes nothing before the others are there."""
    add = Add(QUEUE, script.epoch(3), Position(0, 0))
    held = Assigned(QUEUE, script.epoch(3), "held")
    script.assign(3, part=0, parts=2, add=(add,), assigned=(held,))
    assert told.lines(3) == []
    script.assign(3, part=1, parts=2)
    assert len(told.lines(3)) == 1


def test_after_a_lost_lease_the_same_queues_have_a_line(script: "Script", told: Told) -> None:
    """A client that lost everything with its lease says so when it has the same queues again."""
    script.add(3)
    assert len(told.lines(3)) == 1
    told.log.forget()
    assert len(told.lines(4)) == 1


def test_a_broadcast_member_knows_how_many_queues_there_are(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    """A member that reads every queue knows how many there are."""
    told.log.log_all([OTHER, Queue("payments", "main", 1)])
    told.log.log_all([Queue("payments", "main", 1), OTHER])
    [line] = caplog.messages
    assert "clientId=me, mqAllSize=2, rebalanceResultSize=2, rebalanceResultSet=[Mess" in line
    assert line.endswith("messageModel=BROADCASTING")


UNCONFIGURED = """
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.rebalance_log import RebalanceLog
from fairlead_client.session.waiting import WaitingKind, WaitingReason
from fairlead_client.session.waiting_log import WaitingLog

RebalanceLog("orders", "me").log_share([Queue("orders", "main", 0)], Epoch(1, 1))
log, reason = WaitingLog("orders", "me"), WaitingReason(WaitingKind.TOPIC, "ordrs is not there")
for now_ms in range(0, 130_000, 500):
    log.update(reason, now_ms, now_ms)
"""


def test_an_application_without_a_log() -> None:
    """Who sets up no log sees what is wrong on the standard error, and nothing else."""
    ran = subprocess.run(
        [sys.executable, "-c", UNCONFIGURED], capture_output=True, text=True, check=True, timeout=60
    )
    words = "me of orders has waited {} s for topic: ordrs is not there"
    assert ran.stderr.splitlines() == [words.format(seconds) for seconds in (5, 65, 125)]
    assert ran.stdout == ""
