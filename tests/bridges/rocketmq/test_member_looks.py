"""Looks at a group show everybody whom a broker lists, whatever name it has."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

_NAMES = TopicNames("fairlead.")


class _Control:
    """Keeps what would be written to Fairlead's topics; ``confirms``: Kafka says that it has it."""

    def __init__(self) -> None:
        self.records: list[OutgoingRecord] = []
        self.confirms = True

    def write(self, records: Sequence[OutgoingRecord], **_: bool) -> list[bool]:
        self.records += records
        return [self.confirms for _ in records]


def _book(brokers: Mapping[str, str]) -> RocketMQRouteBook:
    book = RocketMQRouteBook("main", confirm_ms=1, away_ms=1, new_life=lambda: "life")
    served = tuple(
        RouteBroker(name, 6, 1, 1, "main", {"0": address}) for name, address in brokers.items()
    )
    book.note(RouteChanged("orders", Route("orders", "life", served)))
    return book


@contextlib.contextmanager
def _looking(control: _Control, *serves: Any) -> Iterator[MemberLooks]:
    """Return what looks at the brokers that answer so."""
    with contextlib.ExitStack() as held, Connections(ConnectionSettings()) as connections:
        entered = {
            f"broker-{'ab'[at]}": held.enter_context(serving(each))
            for at, each in enumerate(serves)
        }
        silent = held.enter_context(contextlib.closing(SilentServers(connections)))
        yield MemberLooks(
            "main",
            connections=connections,
            silent=silent,
            published=_book(entered),
            control=cast("ControlTopics", control),
            names=_NAMES,
            timeout_s=3,
        )


def _look(*bodies: object) -> MembersLook:
    """Return the look at a group when each broker answers with one of these bodies."""
    control = _Control()
    with _looking(control, *map(_saying, bodies)) as looks:
        looks.want("g", "orders", now_ms=0)
        looks.work(now_ms=0)
    (record,) = control.records
    return _told(record)


def _told(record: OutgoingRecord) -> MembersLook:
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


def test_no_look_begins_before_the_one_before_is_confirmed() -> None:
    """Kafka may append a look later that it did not confirm: it is written until it does (H32)."""
    control, asked = _Control(), [0]

    def serve(command: Command) -> list[Command]:
        asked[0] += 1
        return [response(command, json.dumps(_listing([f"10.0.0.4@{asked[0]}"])).encode())]

    with _looking(control, serve) as looks:
        looks.want("g", "orders", now_ms=0)
        control.confirms = False
        for now_ms in (0, 1_000, 2_000):
            looks.work(now_ms=now_ms)
        assert asked == [1]
        assert len(control.records) == 3
        assert len({*control.records}) == 1
        control.confirms = True
        looks.work(now_ms=3_000)
    assert asked == [2]
    assert control.records[3] == control.records[0]
    first, second = map(_told, control.records[3:])
    assert (first.bridge, first.look + 1) == (second.bridge, second.look)
    assert (first.brokers[0].members, second.brokers[0].members) == (
        ("10.0.0.4@1",),
        ("10.0.0.4@2",),
    )


def test_a_group_that_was_withdrawn_begins_another_row() -> None:
    """A look of before the withdrawal may be appended after it: none may follow it (rule H32)."""
    control = _Control()
    with _looking(control, _saying(_listing([]))) as looks:
        looks.want("g", "orders", now_ms=0)
        looks.work(now_ms=0)
        looks.work(now_ms=600_001)
        looks.want("g", "orders", now_ms=600_002)
        looks.work(now_ms=600_002)
    first, withdrawn, second = map(_told, control.records)
    assert withdrawn.look == 0
    assert first.bridge != second.bridge
