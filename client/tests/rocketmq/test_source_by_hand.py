"""The source of RocketMQ's queues against servers that the test leads: which machine is asked."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest
from fairlead_client import Queue, Subscription
from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq import rocketmq_source
from fairlead_client.rocketmq.rocketmq_source import RocketMQSource
from fairlead_client.settings.client_settings import Settings

from tests.kit.remoting_server import response, serving

QUEUE = Queue("orders", "A", 0)
WAIT = 20.0
NOT_FOUND, RETRY, MOVED, BUSY = 19, 20, 21, 2


class Broker:
    """A master and its slave; each answers pulls as the test says.

    Attributes:
        says: role -> the code and the fields of its answers; none: it is silent.
        asked: the role and the offset of every pull, in order.
    """

    def __init__(self, stack: ExitStack) -> None:
        self.says: dict[str, tuple[int, dict[str, str]] | None] = {}
        self.asked: list[tuple[str, int]] = []
        self.addresses = {
            role: stack.enter_context(serving(self._machine(role))) for role in ("master", "slave")
        }
        self.namesrv = stack.enter_context(serving(self._name_server))

    def _machine(self, role: str) -> Any:
        def serve(command: Command) -> list[Command]:
            self.asked.append((role, int(command.fields["queueOffset"])))
            said = self.says.get(role)
            if said is None:
                return []
            code, fields = said
            bounds = {"minOffset": "0", "maxOffset": "9", "suggestWhichBrokerId": "0"}
            return [replace(response(command, code=code, remark="as said"), fields=bounds | fields)]

        return serve

    def _name_server(self, command: Command) -> list[Command]:
        route = {
            "queueDatas": [{"brokerName": "A", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}],
            "brokerDatas": [
                {
                    "brokerName": "A",
                    "cluster": "c",
                    "brokerAddrs": {"0": self.addresses["master"], "1": self.addresses["slave"]},
                }
            ],
        }
        return [response(command, json.dumps(route).encode())]


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A broker of two machines, both silent."""
    with ExitStack() as stack:
        yield Broker(stack)


@pytest.fixture
def source(broker: Broker) -> Iterator[RocketMQSource]:
    """A connected source that follows the broker's queue."""
    settings = Settings(
        bootstrap="unused:1",
        group="readers",
        topics=[Subscription("orders")],
        data_plane="rocketmq",
        namesrv=broker.namesrv,
        rocketmq={"suspend_ms": 100},
    )
    one = RocketMQSource(settings)
    one.connect()
    one.follow([QUEUE])
    yield one
    one.close()


def _pulled(source: RocketMQSource, offset: int) -> PullResult:
    deadline = monotonic() + WAIT
    while monotonic() < deadline:
        result = source.pull({QUEUE: offset}, 200).get(QUEUE)
        if result is not None:
            return result
    raise TimeoutError(f"no answer to a pull of {QUEUE}@{offset}")


def test_the_machine_that_a_broker_suggests(broker: Broker, source: RocketMQSource) -> None:
    """The next pull goes to the slave that the master names, and back when that one names it."""
    broker.says = {
        "master": (RETRY, {"nextBeginOffset": "4", "suggestWhichBrokerId": "1"}),
        "slave": (RETRY, {"nextBeginOffset": "6", "suggestWhichBrokerId": "0"}),
    }
    assert _pulled(source, 0).next_offset == 4
    assert _pulled(source, 4).next_offset == 6
    broker.says["master"] = (RETRY, {"nextBeginOffset": "8"})
    # The pull of the offset 6 left when the answer before it was taken.
    assert _pulled(source, 6).status is PullStatus.NO_MATCHED_MSG
    assert broker.asked[:3] == [("master", 0), ("slave", 4), ("master", 6)]


def test_another_machine_while_one_refuses(broker: Broker, source: RocketMQSource) -> None:
    """The error is reported once, and the next pull goes to the slave."""
    broker.says = {
        "master": (BUSY, {}),
        "slave": (NOT_FOUND, {"nextBeginOffset": "0", "suggestWhichBrokerId": "0"}),
    }
    refused = _pulled(source, 0)
    assert "response code 2: as said" in str(refused.error)
    assert _pulled(source, 0).error is None
    assert broker.asked[:2] == [("master", 0), ("slave", 0)]


def test_a_machine_that_is_silent(
    broker: Broker, source: RocketMQSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some time after its hold its pull is given up, and the slave is asked."""
    monkeypatch.setattr(rocketmq_source, "MARGIN_MS", 100)
    broker.says = {"slave": (NOT_FOUND, {"nextBeginOffset": "0"})}
    silent = _pulled(source, 0)
    assert "no answer to a pull" in str(silent.error)
    assert _pulled(source, 0).error is None
    assert [role for role, _ in broker.asked[:2]] == ["master", "slave"]


def test_a_slave_that_has_less_than_its_master(broker: Broker, source: RocketMQSource) -> None:
    """It names the offset that it was asked for, and the consumer does not go back."""
    broker.says = {"master": (MOVED, {"nextBeginOffset": "9", "maxOffset": "5"})}
    result = _pulled(source, 9)
    assert (result.status, result.next_offset) == (PullStatus.NO_NEW_MSG, 9)


def test_a_message_wakes_who_waits(broker: Broker, source: RocketMQSource) -> None:
    """An answer ends the wait at once, long before the time that the caller gave."""
    broker.says = {"master": (RETRY, {"nextBeginOffset": "1"})}
    begun = monotonic()
    assert source.pull({QUEUE: 0}, int(WAIT * 1_000))[QUEUE].next_offset == 1
    assert monotonic() - begun < WAIT / 2
