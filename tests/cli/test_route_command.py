"""`fairlead route` on a real broker: a name server's answer becomes a record, and goes again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.core.model import RouteBroker
from fairlead.core.records import RouteChanged
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import raw_record
from tests.cli.told_route import PRINTED_ROUTE
from tests.kit.command import Command

if TYPE_CHECKING:
    from tests.kit.kafka_log import Log

pytestmark = pytest.mark.broker


@pytest.fixture
def command(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command of the test."""
    return Command("route", settings, capsys)


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """A file with what RocketMQ tells of a topic, as its own tool prints it."""
    file = tmp_path / "route.json"
    file.write_text(PRINTED_ROUTE, encoding="utf-8")
    return file


def routes(log: "Log") -> list[RouteChanged]:
    """What the engine reads from the routes topic."""
    read = [decode("routes", raw_record(record), WireLimits(1)) for record in log.records("routes")]
    assert all(isinstance(each, RouteChanged) for each in read)
    return [each for each in read if isinstance(each, RouteChanged)]


def test_the_life_of_a_route(command: Command, log: "Log", told: Path) -> None:
    """Put, put again, grown, taken away and put anew: one record a change, each life its own."""
    (row,) = command("put", "orders", str(told))
    assert (row["answer"], row["perm"]) == ("written", 6)
    assert row["addresses"] == {"0": "10.0.0.1:10911"}
    (again,) = command("put", "orders", str(told))
    assert (again["answer"], again["identity"]) == ("unchanged", row["identity"])
    told.write_text(
        PRINTED_ROUTE.replace('"readQueueNums":4', '"readQueueNums":8'), encoding="utf-8"
    )
    (dry,) = command("put", "orders", str(told), "--dry-run")
    assert dry["answer"] == "not_written"
    (grown,) = command("put", "orders", str(told))
    assert (grown["identity"], grown["read_queue_nums"]) == (row["identity"], 8)
    (shown,) = command("show", "orders")
    assert shown == {**grown, "answer": None}
    (kept,) = command("delete", "orders", "--dry-run")
    assert kept["answer"] == "not_written"
    (gone,) = command("delete", "orders")
    assert gone["answer"] == "deleted"
    command("show", "orders", code=ExitCode.VERDICT_NEGATIVE)
    command("delete", "orders", code=ExitCode.VERDICT_NEGATIVE)
    (anew,) = command("put", "orders", str(told))
    assert anew["identity"] != row["identity"]
    first, second, deleted, last = routes(log)
    assert first.route is not None
    assert first.route.identity == row["identity"]
    address = {"0": "10.0.0.1:10911"}
    assert first.route.brokers == (RouteBroker("broker-a", 6, 4, 4, "c", address),)
    assert second.route is not None
    assert second.route.brokers[0].read_queue_nums == 8
    assert deleted.route is None
    assert last.route is not None
    assert last.route.identity == anew["identity"]


def test_a_mistyped_topic_is_refused_with_near_names(command: Command, told: Path) -> None:
    """The refusal of a mistyped topic names the nearest known ones, if there are any."""
    command("show", "order", code=ExitCode.VERDICT_NEGATIVE)
    assert "nearest" not in command.text
    command("put", "orders", str(told))
    command("show", "order", code=ExitCode.VERDICT_NEGATIVE)
    assert "TOPIC: no route of 'order' is known" in command.text
    assert "The nearest that are known: orders." in command.text


def test_an_identity_of_ones_own(command: Command, told: Path) -> None:
    """Whoever made the topic anew says so: the route is written although nothing else changed."""
    command("put", "orders", str(told), "--identity", "life-1")
    (row,) = command("put", "orders", str(told), "--identity", "life-2")
    assert (row["answer"], row["identity"]) == ("written", "life-2")


def test_risky_routes_are_warned_about(command: Command, told: Path) -> None:
    """The command warns of queues that nobody would read, and of a broker without its master."""
    odd = json.loads(
        PRINTED_ROUTE.replace("{0:", '{"1":').replace('"writeQueueNums":4', '"writeQueueNums":6')
    )
    told.write_text(json.dumps(odd), encoding="utf-8")
    command("put", "orders", str(told))
    assert "broker-a: queues 4 to 5 are written to and read by nobody" in command.text
    assert "broker-a: it has no master" in command.text


@pytest.mark.parametrize(
    "text, said",
    [
        ("{", "FILE: route: no JSON"),
        ("{}", "FILE: queueDatas: it is missing"),
        ('{"queueDatas":[{"perm":6}]}', "FILE: queueDatas[0].brokerName"),
        ('{"queueDatas":[{"brokerName":"a b"}]}', "FILE: brokers[0].broker_name"),
        ('{"queueDatas":[{"brokerName":"b"}],"orderTopicConf":"b:x"}', "FILE: orderTopicConf"),
    ],
)
def test_what_is_no_route_is_refused(
    command: Command, log: "Log", told: Path, text: str, said: str
) -> None:
    """What is no route is refused with the field, and nothing is written."""
    told.write_text(text, encoding="utf-8")
    assert command("put", "orders", str(told), code=ExitCode.USAGE) == []
    assert said in command.text
    assert routes(log) == []


def test_a_missing_file_is_named(command: Command, tmp_path: Path) -> None:
    """A file that is not there is named."""
    command("put", "orders", str(tmp_path / "none.json"), code=ExitCode.USAGE)
    assert "none.json cannot be read" in command.text
