"""Looks at a group show everybody whom a broker lists, whatever name it has."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.rocketmq.member_looks import MemberLooks
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.silent_servers import SilentServers
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.core.standby_records import MembersLook
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.topics import TopicNames
from tests.kit.remoting_server import response, serving

_BRIDGE = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"
_NAMES = TopicNames("fairlead.")


class _Control:
    """Keeps what would be written to Fairlead's topics."""

    def __init__(self) -> None:
        self.records: list[OutgoingRecord] = []

    def write(self, records: Sequence[OutgoingRecord], **_: bool) -> list[bool]:
        self.records += records
        return [True for _ in records]


def _book(brokers: Mapping[str, str]) -> RocketMQRouteBook:
    book = RocketMQRouteBook("main", confirm_ms=1, away_ms=1, new_life=lambda: "life")
    served = tuple(
        RouteBroker(name, 6, 1, 1, "main", {"0": address}) for name, address in brokers.items()
    )
    book.note(RouteChanged("orders", Route("orders", "life", served)))
    return book


def _look(*bodies: object) -> MembersLook:
    """Return the look at a group when each broker answers with one of these bodies."""
    control = _Control()
    with contextlib.ExitStack() as held, Connections(ConnectionSettings()) as connections:
        entered = {
            f"broker-{'ab'[at]}": held.enter_context(serving(_saying(each)))
            for at, each in enumerate(bodies)
        }
        silent = SilentServers(connections)
        looks = MemberLooks(
            "main",
            _BRIDGE,
            connections=connections,
            silent=silent,
            published=_book(entered),
            control=cast("ControlTopics", control),
            names=_NAMES,
            timeout_s=3,
        )
        looks.want("g", "orders", now_ms=0)
        looks.work(now_ms=0)
        silent.close()
        connections.close()
    (record,) = control.records
    raw = RawRecord(
        record.topic,
        0,
        0,
        1_781_000_000_000,
        append_time_is_log=True,
        key=record.key,
        value=record.value,
    )
    told = decode("offsets", raw, WireLimits(shards=1))
    assert isinstance(told, MembersLook)
    return told


def _saying(body: object) -> Any:
    def serve(asked: Command) -> list[Command]:
        assert asked.code == RequestCode.GET_CONSUMER_CONNECTION_LIST
        return [response(asked, json.dumps(body).encode())]

    return serve


def _listing(client_ids: Iterable[str]) -> dict[str, object]:
    return {"connectionSet": [{"clientId": each, "clientAddr": "h:1"} for each in client_ids]}


@pytest.mark.parametrize("strange", ["10.0.0.9@order service", "10.0.0.9@订单", "x" * 256, ""])
def test_who_has_a_name_that_records_cannot_carry_is_listed_all_the_same(strange: str) -> None:
    """An engine that does not see a consumer takes its group over, and two read its queues."""
    look = _look(_listing(["10.0.0.4@77", strange]))
    ((_, members),) = look.brokers
    assert look.complete
    assert "10.0.0.4@77" in members
    assert len(members) == 2


def test_two_strange_names_are_two_members() -> None:
    """What stands in for a name differs as the names do."""
    ((_, members),) = _look(_listing(["a b", "a\tb", "ab"])).brokers
    assert len(members) == 3
    assert "ab" in members


def test_a_second_client_of_the_same_id_is_listed_too() -> None:
    """Of two processes with one id one may be attached, and the other not."""
    ((_, members),) = _look(_listing(["10.0.0.4@1", "10.0.0.4@1"])).brokers
    assert len(members) == 2
    assert "10.0.0.4@1" in members
