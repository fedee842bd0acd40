"""What a gateway finds when it has stood still: requests whose callers have gone."""

import asyncio
import json
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.gateway.callers import unless_gone
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from tests.faults.standstill import Standstill
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen
from tests.kit.http_caller import Asking
from tests.kit.kafka_log import Log
from tests.kit.serve_process import Served, serving

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

MEMBERS = "/v1/groups/given-up/members"


@pytest.fixture
def gateway(kafka: "EmbeddedKafka", tmp_path: Path) -> Iterator[tuple[Served, Log]]:
    """A gateway in a process of its own, and the log that it writes."""
    prefix = f"given-up-{uuid.uuid4().hex[:8]}."
    create_topics(
        {"bootstrap_servers": kafka.bootstrap},
        prefix,
        topic_specs(load_settings(overrides=FEW_PARTITIONS).topics),
        1,
    )
    settings = load_settings(
        overrides={"kafka.bootstrap": kafka.bootstrap, "kafka.topic_prefix": prefix}
    ).kafka
    on = "FAIRLEAD__GATEWAY__ENABLED=true"
    with serving(tmp_path, kafka.bootstrap, prefix, on) as served, Log(settings) as log:
        served.wait("/readyz", 200)
        yield served, log


def joined(served: Served, client_id: str) -> dict[str, str]:
    """Join; return the answer."""
    body = {"client_id": client_id, "topics": [{"topic": "orders"}]}
    answer = Asking(served.port)("POST", MEMBERS, body)
    assert answer.status == 201
    document: dict[str, str] = answer.document
    return document


def test_work_of_a_caller_who_has_gone_is_not_begun() -> None:
    """After a standstill a request and the end of its connection are read together."""
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    assert asyncio.run(unless_gone(work(), receive, look_first=True)) is None
    assert begun == []


@pytest.mark.broker
def test_a_poll_that_was_given_up_meanwhile_is_not_executed(gateway: tuple[Served, Log]) -> None:
    """Its heartbeat would prolong a session whose client has gone."""
    served, log = gateway
    answer = joined(served, "a")
    body = json.dumps({"state": answer["state"], "sequence": 1, "wait_ms": 3_000}).encode()
    head = (
        f"POST /v1/sessions/{answer['session']}/poll HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with Standstill(served.process.pid) as standstill:
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(head.encode() + body)
        # No client gives up sooner.
        over_ns = standstill.since_ns + 1_500_000_000
        await_seen(time.monotonic_ns, lambda now_ns: now_ns > over_ns, what="time to give it up")
    joined(served, "b")
    polls = [(each["client_id"], each["gateway"]["poll"]) for each in log.bodies("heartbeats")]
    assert polls == [("a", 0), ("b", 0)]
