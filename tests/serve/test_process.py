"""``fairlead serve`` as a process: what it answers over HTTP, before and after there are topics."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition

from fairlead.broker.ports import free_ports
from fairlead.wire.topics import TopicNames
from tests.kit.awaiting import await_seen
from tests.kit.decision_bodies import CLIENT, encoded_decision
from tests.kit.kafka_topics import make_topic
from tests.kit.serve_process import WAIT_S, Served, serving

QUEUE = ["orders", "main", 2]

ROUTE = b"""{"v":1,"kind":"route","topic":"","identity":"W3XrV0pUSt2Qh0nHkS5ZtQ",
 "order_topic_conf":null,"brokers":[{"broker_name":"main","cluster":"main","perm":6,
 "read_queue_nums":2,"write_queue_nums":2,"addresses":{"0":"127.0.0.1:9092"},"leaders":null,
 "zones":null}]}"""


@pytest.mark.broker
def test_groups_are_told_over_http(bootstrap: str, topics: TopicNames, tmp_path: Path) -> None:
    """It lists and describes groups, tells decisions, and streams those that come, until TERM."""
    granted = {"queue": QUEUE, "stage": "granted", "client_id": CLIENT, "epoch": [3, 1]}
    with (
        contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer,
        serving(tmp_path, bootstrap, topics.prefix) as served,
    ):
        producer.send(topics.name("decisions"), key=b"orders", value=encoded_decision(1, [granted]))
        producer.flush()
        served.wait("/readyz", 200)
        served.wait("/api/v1/groups/orders", 200)
        (group,) = served.wait("/api/v1/groups", 200)["groups"]
        assert (group["group"], group["phase"], group["epoch"]) == ("orders", "stable", [3, 1])
        (told,) = served.wait("/api/v1/groups/orders/decisions", 200)["decisions"]
        assert told["at"] == [topics.name("decisions"), 0, 0]
        assert served.get("/api/v1/groups/orders/decisions?since_ms=x")[0] == 400
        assert "nearest is orders" in served.wait("/api/v1/groups/order", 404)["remedy"]
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", served.port)) as stream:
            stream.request("GET", "/api/v1/groups/orders/events")
            events = stream.getresponse()
            assert events.readline().startswith(b": connected")
            producer.send(topics.name("decisions"), key=b"orders", value=encoded_decision(2, []))
            producer.flush()
            lines = [events.readline() for _ in range(4)]
        assert_probes_beside_streams(served)
        assert lines[1:3] == [b"id: 1\n", b"event: decision\n"]
        assert json.loads(lines[3].removeprefix(b"data: "))["epoch"] == [3, 2]
        text = served.get("/metrics")[1].decode()
        assert 'fairlead_view_lag_records{topic="decisions"} 0.0' in text
        assert 'fairlead_api_requests_total{code="404",route="/api/v1/groups/{group}"} 1.0' in text
        assert 'fairlead_group_phase{group="orders",phase="stable"} 1.0' in text
        # The first decision stood there before it followed; the second did not.
        assert 'fairlead_rebalances_total{group="orders",trigger="client_joined"} 1.0' in text
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(WAIT_S) == 0


def assert_probes_beside_streams(served: Served) -> None:
    """More streams than connections: the surplus is refused, a probe is answered."""
    await_seen(
        lambda: served.get("/metrics")[1],
        lambda text: b"\nfairlead_sse_clients 0.0\n" in text,
        what="end of the stream that was closed",
    )
    asked = b"GET /api/v1/groups/orders/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with contextlib.ExitStack() as stack:
        answers = []
        for _ in range(256):
            address = ("127.0.0.1", served.port)
            caller = stack.enter_context(socket.create_connection(address, timeout=WAIT_S))
            caller.sendall(asked)
            answers.append(caller.recv(12)[9:])
        assert Counter(answers) == {b"200": 192, b"503": 64}
        assert served.get("/healthz")[0] == 200
        code, body = served.get("/api/v1/groups/orders/events")
        assert (code, json.loads(body)["remedy"]) == (503, "Close some, or raise http.connections.")


def test_without_a_cluster_it_says_so_and_lives(tmp_path: Path) -> None:
    """It is alive, not ready, names the address, has no groups, and is no site of somebody else."""
    lost = f"127.0.0.1:{free_ports(1)[0]}"
    few = "FAIRLEAD__HTTP__CONNECTIONS=8"
    with serving(tmp_path, lost, "fairlead.", few) as served, contextlib.ExitStack() as hanging:
        assert served.wait("/healthz", 200) == {"state": "alive"}
        # Bounds and names are those of the engine's server: tests/http has them all.
        assert served.get("/api/v1/groups", Host="evil.example")[0] == 421
        for _ in range(20):
            half = hanging.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            half.sendall(b"GET / HTTP/1.1\r\nX-Half")
        reason = served.wait("/readyz", 503)["reason"]
        deadline = time.monotonic() + WAIT_S
        while lost not in reason and time.monotonic() < deadline:
            reason = served.wait("/readyz", 503)["reason"]
        assert lost in reason
        found = served.wait("/api/v1/groups", 200)
        assert (found["ready"], found["groups"]) == (False, [])


@pytest.mark.parametrize(
    "asked",
    [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)],
    ids=lambda each: each.name,
)
def test_the_last_line_of_the_log_is_the_end(asked: signal.Signals, tmp_path: Path) -> None:
    """Whoever asks it to end finds as the last line of its log that it did."""
    with serving(tmp_path, "127.0.0.1:1", "fairlead.", "FAIRLEAD__LOG__FORM=json") as served:
        served.wait("/healthz", 200)
        served.process.send_signal(asked)
        assert served.process.wait(WAIT_S) == 0
    lines = [json.loads(line) for line in (tmp_path / "serve.log").read_bytes().splitlines()]
    (begun,) = (line for line in lines if line["event"] == "serving")
    assert (lines[-1]["event"], lines[-1]["url"]) == ("serving_stopped", begun["url"])


def test_a_gateway_that_is_not_ready_keeps_no_connection(tmp_path: Path) -> None:
    """Behind a balancer the next request can reach another gateway, before the lease is over."""
    on = "FAIRLEAD__GATEWAY__ENABLED=true"
    with serving(tmp_path, "127.0.0.1:1", "fairlead.", on) as served:
        served.wait("/healthz", 200)
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=WAIT_S)
        with contextlib.closing(connection):
            body = json.dumps({"client_id": "a", "topics": [{"topic": "orders"}]})
            headers = {"content-type": "application/json"}
            connection.request("POST", "/v1/groups/orders/members", body, headers)
            stream = connection.sock
            answer = connection.getresponse()
            assert (answer.status, answer.headers["connection"]) == (503, "close")
            assert json.loads(answer.read())["type"] == "urn:fairlead:not_ready"
            assert stream.fileno() == -1 or stream.recv(1) == b""


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    """Two on one port: the second ends with the code of the environment and names the setting."""
    with serving(tmp_path, "127.0.0.1:1", "fairlead.") as served:
        served.wait("/healthz", 200)
        command = [sys.executable, "-m", "fairlead", "serve", "--port", str(served.port)]
        second = subprocess.run(command, capture_output=True, timeout=WAIT_S, check=False)
    assert second.returncode == 3
    assert b"serve.port" in second.stderr


@pytest.mark.broker
def test_lag_of_a_group_without_members_is_asked_for(
    bootstrap: str, topics: TopicNames, tmp_path: Path
) -> None:
    """Nobody heartbeats: its commits and the ends of its topic tell how far it is behind."""
    source = f"{topics.prefix}source"
    group = f"{topics.prefix}orders"
    make_topic(bootstrap, source, partitions=2)
    place = TopicPartition(source, 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False)
    with contextlib.closing(consumer):
        consumer.assign([place])
        consumer.commit({place: OffsetAndMetadata(1, "", -1)})
    queues = [{"queue": [source, "main", n], "stage": "granted"} for n in range(2)]
    granted = [{**queue, "client_id": CLIENT, "epoch": [3, 1]} for queue in queues]
    made = json.loads(encoded_decision(1, granted))
    route = json.loads(ROUTE)
    with (
        contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer,
        serving(
            tmp_path, bootstrap, topics.prefix, "FAIRLEAD__SERVE__LAG_PERIOD_MS=1000"
        ) as served,
    ):
        for number in range(5):
            producer.send(source, value=b"%d" % number, partition=number % 2)
        body = json.dumps({**made, "group": group}).encode()
        producer.send(topics.name("decisions"), key=group.encode(), value=body)
        told = json.dumps({**route, "topic": source}).encode()
        producer.send(topics.name("routes"), key=source.encode(), value=told)
        producer.flush()
        deadline = time.monotonic() + WAIT_S
        lag = None
        while lag is None and time.monotonic() < deadline:
            (found,) = served.wait("/api/v1/groups", 200)["groups"] or [{"lag_messages": None}]
            lag = found["lag_messages"]
    assert (lag, found["members"]) == (2, 0)
