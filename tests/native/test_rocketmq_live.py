"""A look at real consumers on real brokers: what it shows, and that it leaves no trace."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.core.model import MessageQueue
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.errors import ExitCode
from fairlead.rocketmq.broker_groups import groups_of, groups_request
from fairlead.rocketmq.group_connections import (
    GroupConnections,
    connections_request,
    connections_seen,
)
from fairlead.rocketmq.group_offsets import committed_offsets, offset_table_request
from tests.answers.schema import assert_command
from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_operator import RocketMQOperator
from tests.native.java_consumers import java_consumers

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_TOPIC, _GROUP, _QUEUES = "seen", "lookers", 8


def _look(namesrv: str, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    command = ["observe", "rocketmq", "--namesrv", namesrv, "--group", _GROUP, *more]
    run = subprocess.run(
        [sys.executable, "-m", "fairlead", *command, "-o", "json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    groups: list[dict[str, Any]] = json.loads(run.stdout or "[]")
    assert_command(command, groups)
    return run.returncode, groups, run.stderr


def _topic(connections: Connections, brokers: list[str]) -> None:
    fields = {
        "topic": _TOPIC,
        "defaultTopic": "TBW102",
        "perm": "6",
        "topicSysFlag": "0",
        "readQueueNums": str(_QUEUES),
        "writeQueueNums": str(_QUEUES),
        "topicFilterType": "SINGLE_TAG",
        "order": "false",
    }
    for broker in brokers:
        connections.call(broker, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields))


def _committed(connections: Connections, broker: str) -> dict[tuple[str, str], dict[int, int]]:
    answer = connections.call(broker, offset_table_request())
    return {
        place: dict(each) for place, each in committed_offsets(answer).items() if place[1] == _GROUP
    }


def _traces(connections: Connections, brokers: list[str]) -> list[Any]:
    """Return what each broker keeps: members, offsets, groups."""
    kept: list[Any] = []
    for broker in brokers:
        answer = connections.call(broker, connections_request(_GROUP))
        members = connections_seen(broker, answer)
        assert isinstance(members, GroupConnections)
        kept += [
            members.connections,
            _committed(connections, broker),
            groups_of(connections.call(broker, groups_request())),
        ]
    return kept


@pytest.mark.parametrize("line", ["rocketmq", "rocketmq_4"])
def test_a_look_shows_owners_and_leaves_no_trace(
    line: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Two consumers share 16 queues as AVG says; members and offsets are the same after looks."""
    rocketmq: EmbeddedRocketMQ = request.getfixturevalue(line)
    brokers = [rocketmq.address(name) for name in ("broker-a", "broker-b")]
    with (
        Connections(ConnectionSettings()) as connections,
        java_consumers(rocketmq.namesrv, tmp_path) as consumers,
    ):
        _topic(connections, brokers)
        for name in ("one", "two"):
            consumers.start(_GROUP, _TOPIC, name)

        def shared() -> list[dict[str, Any]]:
            _, groups, _ = _look(rocketmq.namesrv)
            owned = [each for each in groups[0]["queue_list"] if each["queue"][0] == _TOPIC]
            alone = [each for each in owned if len(each["owner_ids"]) == 1]
            return groups if len(alone) == 2 * _QUEUES else []

        await_seen(shared, what="each queue has one owner", pause=0.5)
        # RocketMQ's clients commit for the first time after 10 s; what comes later is not theirs.
        await_seen(
            lambda: [_committed(connections, broker) for broker in brokers],
            lambda seen: all(
                len(each.get((_TOPIC, _GROUP), {})) == _QUEUES
                and (f"%RETRY%{_GROUP}", _GROUP) in each
                for each in seen
            ),
            what="the consumers have committed",
            pause=0.5,
        )
        before = _traces(connections, brokers)
        for _ in range(3):
            group = shared()[0]
        assert _traces(connections, brokers) == before
        assert group["assignors"] == ["AllocateMessageQueueAveragely"]
        assert [each["client_id"].partition("@")[2] for each in group["member_list"]] == [
            "one",
            "two",
        ]
        assert {each["client_version"] for each in group["member_list"]} == {"V4_9_8"}
        assert all(len(each["seen_by"]) == 2 for each in group["member_list"])
        owners = {
            tuple(each["queue"][1:]): each["owner_ids"][0].partition("@")[2]
            for each in group["queue_list"]
            if each["queue"][0] == _TOPIC
        }
        assert owners == {
            (broker, number): owner
            for broker, owner in (("broker-a", "one"), ("broker-b", "two"))
            for number in range(_QUEUES)
        }
        code, _, says = _look(rocketmq.namesrv, "--group", "nobodys")
        assert code == ExitCode.USAGE
        assert "the cluster has no group 'nobodys'" in says


@pytest.mark.parametrize("line", ["rocketmq", "rocketmq_4"])
def test_messages_wait_for_a_group_without_members(
    line: str, request: pytest.FixtureRequest
) -> None:
    """Each line of RocketMQ tells what a group without members has read, so it is offline."""
    rocketmq: EmbeddedRocketMQ = request.getfixturevalue(line)
    brokers, group = ("broker-a", "broker-b"), "gone"
    queues = [MessageQueue(group, each, 0) for each in brokers]
    with contextlib.closing(RocketMQOperator(rocketmq)) as operator:
        operator.make(group, 1, brokers)
        operator.make_group(group, brokers)
        for queue in queues:
            operator.send(queue, 3)
            operator.commit(group, queue, 1)
        code, (seen,), _ = _look(rocketmq.namesrv, "--group", group)
    assert code == ExitCode.VERDICT_NEGATIVE
    assert [each["problem"] for each in seen["problem_list"]] == ["offline"]
    assert [(each["queue"], each["lag_messages"]) for each in seen["queue_list"]] == [
        ([group, each, 0], 2) for each in brokers
    ]
