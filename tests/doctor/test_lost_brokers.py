"""A broker that is gone or silent is named, and the others are asked in its place."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

import pytest
from fairlead_client.transport.connection_fault import Contact
from kafka.admin import ConfigResource
from kafka.errors import KafkaTimeoutError, UnknownBrokerIdError

from fairlead.doctor import Answer, CheckContext, Status, broker, examine_all, lease, topics
from fairlead.doctor.catalogue import Check, Scope
from fairlead.doctor.nodes import Lost, Nodes, look_at_nodes
from fairlead.settings import load_settings
from fairlead.wire.topics import TopicNames

PLACES: Final = {1: "a:9092", 2: "b:9092", 3: "c:9092"}


class Admin:
    """An admin client of three brokers; it knows nothing of those that are fenced."""

    def __init__(self, *fenced: int) -> None:
        self.fenced = fenced

    def describe_cluster(self) -> dict[str, Any]:
        """All that belong to the cluster, whether they are in service or not."""
        brokers = [
            {
                "broker_id": number,
                "host": place[0],
                "port": 9092,
                "is_fenced": number in self.fenced,
            }
            for number, place in PLACES.items()
        ]
        return {"cluster_id": "one", "controller_id": 1, "brokers": brokers}

    def get_broker_version_data(self, number: int) -> Any:
        """The version of one that is in service."""
        if number in self.fenced:
            raise UnknownBrokerIdError(number)
        return SimpleNamespace(broker_version=(4, 1))

    def describe_configs(self, resources: Sequence[ConfigResource], **_how: Any) -> dict[str, Any]:
        """Kafka's own settings of those that are in service."""
        for resource in resources:
            if int(resource.name) in self.fenced:
                raise UnknownBrokerIdError(resource.name)
        settings = {"process.roles": {"value": "broker"}}
        return {"broker": {resource.name: settings for resource in resources}}


def _context(
    admin: Admin,
    monkeypatch: pytest.MonkeyPatch,
    silent: Sequence[int] = (),
    bootstrap: str = "a:9092,b:9092,c:9092",
    **told: Any,
) -> CheckContext:
    """CheckContext of these brokers; `silent` are in service, and do not answer."""
    context = CheckContext(load_settings(overrides={"kafka.bootstrap": bootstrap}))
    context.cluster = SimpleNamespace(admin=admin, names=TopicNames(), **told)  # type: ignore[assignment]

    def contact(options: Mapping[str, Any]) -> Contact:
        (server,) = options["bootstrap_servers"]
        if server in {PLACES[number] for number in silent}:
            return Contact(taken=False, silent=(server,))
        return Contact(taken=True)

    def look(described: Mapping[str, Any], options: Mapping[str, Any]) -> Nodes:
        return look_at_nodes(described, options, contact)

    monkeypatch.setattr("fairlead.doctor.context.look_at_nodes", look)
    monkeypatch.setattr("fairlead.doctor.broker.require_reachable", lambda _options: None)
    return context


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_broker_out_of_service_is_named(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of three is out of service: the cluster answers, and this one is named."""
    there, gone = broker.broker(_context(Admin(number), monkeypatch))
    others = ", ".join(str(each) for each in PLACES if each != number)
    assert there.status is Status.OK
    assert f"nodes {others}," in there.says
    assert gone.status is Status.WARN
    assert gone.says.startswith(f"broker {number} at {PLACES[number]} is gone or silent: ")


def test_a_frozen_broker_is_found_by_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the others still count in is found out by a connection to it."""
    there, gone = broker.broker(_context(Admin(), monkeypatch, silent=[1]))
    assert "nodes 2, 3," in there.says
    assert gone.says == "broker 1 at a:9092 is gone or silent: it does not answer"


def test_one_address_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address alone, of a cluster with several brokers, is warned of; the remedy names them."""
    there, alone = broker.broker(_context(Admin(), monkeypatch, bootstrap="b:9092"))
    assert (there.status, alone.status) == (Status.OK, Status.WARN)
    assert "names one address of a cluster with 3 brokers" in alone.says
    assert "kafka.bootstrap to a:9092,b:9092,c:9092" in alone.remedy
    (there,) = broker.broker(_context(Admin(), monkeypatch, bootstrap="a:9092,b:9092"))
    assert there.status is Status.OK


def test_none_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers that listen nowhere where they say so are a failure, though an address answers."""
    (answer,) = broker.broker(_context(Admin(), monkeypatch, silent=[1, 2, 3]))
    assert answer.status is Status.FAIL
    assert "advertised.listeners" in answer.remedy


@pytest.mark.parametrize("number", [1, 2, 3])
def test_leases_by_the_others(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker out of service is not asked for its settings; what the others say is judged."""
    unasked, judged = lease.lease(_context(Admin(number), monkeypatch))
    assert unasked.status is Status.UNKNOWN
    assert unasked.says.startswith(f"broker {number} is gone or silent")
    assert judged.status is Status.OK


def _described(*in_sync: Sequence[int]) -> dict[str, dict[str, Any]]:
    """A topic with three copies of each partition; the arguments are the copies in sync."""
    partitions = [
        {
            "partition_index": number,
            "error_code": 0,
            "leader_id": copies[0],
            "replica_nodes": [1, 2, 3],
            "isr_nodes": list(copies),
        }
        for number, copies in enumerate(in_sync)
    ]
    return {"routes": {"name": "fairlead.routes", "partitions": partitions}}


@pytest.mark.parametrize(
    "fenced, why", [((3,), "broker 3 is gone or silent"), ((), "broker 3 is behind")]
)
def test_copies_out_of_sync_are_a_warning(
    fenced: tuple[int, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies that are not in sync are a warning that names whose they are, and no ok beside it."""
    configs = {"fairlead.routes": {"min.insync.replicas": "2"}}
    monkeypatch.setattr(topics, "configs_of", lambda _admin, _names: configs)
    told = _described([1, 2], [2, 1], [1, 2, 3])
    context = _context(Admin(*fenced), monkeypatch, described=told)
    (answer,) = topics.copies(context)
    assert answer.status is Status.WARN
    assert answer.says == f"1 of 3 replicas of 2 partitions is not in sync: {why}"


def test_what_nobody_serves_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that fails while a broker is lost is not known: no right is blamed for it."""

    def ask(_context: CheckContext) -> Any:
        raise KafkaTimeoutError("too late")

    context = _context(Admin(), monkeypatch)
    context.seen = Nodes({1: "a:9092", 2: "b:9092"}, (Lost(3, "c:9092", "it is silent"),))
    monkeypatch.setattr("fairlead.doctor.examination.connection_error", lambda _options: None)
    (found,) = examine_all(context, [Check("lease", Scope.CLUSTER, 5, ask, "about", "fails")])
    answer: Answer = found.answer
    assert (answer.status, answer.remedy) == (Status.UNKNOWN, "see: broker")
    assert answer.says.startswith("broker 3 is gone or silent")
