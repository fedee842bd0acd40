"""The real job, bridge and gateways: thin clients that stand by are taken over, and given back.

The test itself is the cluster of RocketMQ: it shares queues out by AVG, and tells, as a bridge
does, whom its brokers list.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import orjson
import pytest
from fairlead_client.model import Process, Queue, Subscription
from fairlead_client.session.clock import now_ms
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_json import (
    join_body,
    joined_of,
    leave_body,
    poll_body,
    polled_of,
)
from fairlead_client.thin.thin_words import Poll

from fairlead.wire.partition import partition_of_group
from tests.kit.followers import Cluster
from tests.kit.gateway_server import gateway_serving
from tests.kit.http_caller import Answer, Asking
from tests.kit.kafka_log import SHARDS
from tests.kit.live_system import BridgedSystem, bridged
from tests.kit.thin_follower import ThinFollower

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

pytestmark = pytest.mark.slow

QUEUES, MESSAGES = 4, 1_000
GROUP = "stands-by"
LONGEST_S = 120


@dataclass(slots=True)
class HttpPlace:
    """Two gateways, a group's clients, and the cluster of their data plane."""

    system: BridgedSystem
    gateways: list[Asking]
    chance: Random = field(default_factory=lambda: Random(24))
    end: int = MESSAGES
    cluster: Cluster = field(default_factory=Cluster)
    thins: list[ThinFollower] = field(default_factory=list)
    done: dict[Queue, int] = field(default_factory=dict)
    committed: dict[Queue, int] = field(default_factory=dict)
    bridge: str = field(default_factory=lambda: str(uuid4()))
    look: int = 0
    looked_ms: int = 0
    _asks: dict[str, tuple[str, str, Any, int]] = field(default_factory=dict)

    @property
    def now_ms(self) -> int:
        """The clock of all clients."""
        return now_ms()

    def share_of(self, consumer: str) -> list[Queue]:
        """Return what AVG gives to a consumer."""
        share = self.cluster.share_of(consumer, QUEUES)
        # On Kafka the cluster's name is the broker's, and the bridge says which that is.
        return [Queue(self.system.topic, self.broker, number) for _, _, number in share]

    @property
    def broker(self) -> str:
        """The broker name of the topic's route."""
        found = self.system.log.await_record("routes", lambda row: row.value is not None)
        return str(orjson.loads(found.value)["brokers"][0]["broker_name"])

    def start(self, client_id: str) -> ThinFollower:
        """Start a client: the brokers list it from now on."""
        thin = ThinFollower(client_id, self)
        self.cluster.ids.add(thin.consumer)
        self.thins.append(thin)
        return thin

    def gone(self, thin: ThinFollower) -> None:
        """The brokers list a client no more that has closed."""
        self.cluster.ids.discard(thin.consumer)

    def join_thin(self, thin: ThinFollower, number: int, joins: int) -> None:
        """Keep a join until it is this client's turn."""
        process = Process(1_781_000_000_000, str(uuid4()))
        member = {
            "client_id": thin.client_id,
            "consume_from": "first_offset",
            "process": {"start_ms": process.start_ms, "uuid": process.uuid, "joins": joins},
            "data_plane": {"kind": "rocketmq", "member": thin.consumer},
            "standby": {"follows": "AVG"},
        }
        body = join_body(member, [Subscription(self.system.topic)])
        path = f"/v1/groups/{GROUP}/members"
        self._asks[thin.client_id] = ("POST", path, orjson.loads(body), number)

    def poll(self, thin: ThinFollower, said: Poll, *, ending: bool) -> None:
        """Keep a poll until it is this client's turn; a later one takes its place."""
        path = f"/v1/sessions/{said.session}"
        if ending:
            request = ("DELETE", path, orjson.loads(leave_body(said)), said.sequence)
        else:
            body = orjson.loads(poll_body(said, wait_ms=20))
            request = ("POST", f"{path}/poll", body, said.sequence)
        self._asks[thin.client_id] = request

    def turn(self) -> None:
        """Let the bridge look, and each client do something and send its request."""
        if self.now_ms - self.looked_ms > 500:
            self._look()
        for thin in self.thins:
            thin.go_on(self.chance)
            self._check_owners()
            asked = self._asks.pop(thin.client_id, None)
            if asked is not None:
                method, path, body, number = asked
                answer = self.chance.choice(self.gateways)(method, path, body)
                self._hear(thin, number, path, answer)

    def _look(self) -> None:
        self.look, self.looked_ms = self.look + 1, self.now_ms
        ids = sorted(self.cluster.ids)
        brokers = [{"broker_name": name, "members": ids} for name in ("broker-a", "broker-b")]
        seen = {"v": 1, "kind": "members", "group": GROUP, "cluster": "main", "look": self.look}
        seen |= {"bridge": self.bridge, "complete": True, "brokers": brokers}
        seen |= {"at_ms": time.time_ns() // 1_000_000}
        key = orjson.dumps(["main", "members", GROUP])
        self.system.log.append("offsets", orjson.dumps(seen), key)

    def _hear(self, thin: ThinFollower, number: int, path: str, answer: Answer) -> None:
        session, at_ms = thin.session, self.now_ms
        body = orjson.dumps(answer.document)
        match answer.status:
            case 201:
                thin.do(session.joined(number, joined_of(body), at_ms))
            case 200:
                thin.do(session.answered(number, polled_of(body), at_ms))
            case 204:
                thin.do(session.left(at_ms))
            case 503:
                thin.do(session.failed(number, at_ms))
            case _:
                raise AssertionError((path, answer))

    def _check_owners(self) -> None:
        """Nobody works on a queue beside another one whom the engine has granted it."""
        for thin in self.thins:
            for queue, name in thin.names.items():
                owns = thin.session.standing is Standing.OWN and name is not None
                if owns and thin.may_work(queue):
                    others = [each for each in self.thins if each is not thin]
                    assert not any(queue in each.held and each.may_work(queue) for each in others)

    def until_all(self, standing: Standing, queues: list[int]) -> None:
        """Go on until all clients stand there, and have so many queues each."""
        until_ms = self.now_ms + LONGEST_S * 1_000
        while self.now_ms < until_ms:
            self.turn()
            at = [(thin.session.standing, len(thin.held)) for thin in self.thins]
            if at == [(standing, number) for number in queues] and not self._moving():
                return
        raise AssertionError([(thin.session.standing, thin.names) for thin in self.thins])

    def _moving(self) -> bool:
        return any(thin.stopping for thin in self.thins)

    def rule(self, value: str) -> None:
        """Be an operator who says when groups go over."""
        key = orjson.dumps([GROUP, "take_over"])
        rule = {"v": 1, "kind": "rule", "group": GROUP, "rule": "take_over", "value": value}
        partition = partition_of_group(GROUP, SHARDS)
        body = orjson.dumps({**rule, "by": "test"})
        self.system.log.append("control", body, key, partition)


@pytest.fixture
def place(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[HttpPlace]:
    """One run of job, bridge and two gateways with one key."""
    folder = tmp_path_factory.mktemp("job")
    key = folder / "key"
    key.write_bytes(os.urandom(32).hex().encode())
    with ExitStack() as stack:
        system = stack.enter_context(
            bridged(
                spark_of_the_run,
                kafka.bootstrap,
                folder,
                queues=QUEUES,
                messages=MESSAGES,
                group_defaults__strategy="AVG",
            )
        )
        prefix = system.settings.kafka.topic_prefix
        urls = [
            stack.enter_context(
                gateway_serving(kafka.bootstrap, prefix, gateway__key_file=str(key))
            )
            for _ in range(2)
        ]
        yield HttpPlace(system, [Asking(urlsplit(url).port or 0) for url in urls])


def test_over_and_back(place: HttpPlace) -> None:
    """Three are taken over with what they have, a fourth gets its share, and all go back."""
    for client_id in "abc":
        place.start(client_id)
    place.until_all(Standing.FOLLOW, [2, 1, 1])
    before = [set(thin.held) for thin in place.thins]
    place.until_all(Standing.OWN, [2, 1, 1])
    assert [set(thin.held) for thin in place.thins] == before
    assert sum(thin.starts + thin.stops for thin in place.thins) == 0
    place.start("d")
    place.until_all(Standing.OWN, [1, 1, 1, 1])
    moved = sum(thin.stops for thin in place.thins)
    assert place.thins[3].starts == 1
    place.rule("never")
    place.until_all(Standing.FOLLOW, [1, 1, 1, 1])
    assert sum(thin.stops for thin in place.thins) == moved
    causes = [
        cause["kind"]
        for decision in place.system.log.bodies("decisions")
        if decision["group"] == GROUP
        for cause in decision["cause"]
    ]
    steps = ["take_over_begins", "taken_over", "take_over_done", "giving_back", "given_back"]
    assert [kind for kind in causes if kind in steps] == steps
    # What began somewhere else began where the one before had stopped.
    assert sum(thin.repeats for thin in place.thins) == 0
    assert place.system.broken() == []
