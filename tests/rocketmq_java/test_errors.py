"""RocketMQ's own consumers on a real cluster when something goes wrong."""

import json
import ssl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client.model import Queue
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.queue_offsets import QueueOffsets
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from tests.fixtures.certificates import make_certificates
from tests.java_client.scripted_gateway import scripted_gateway
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.rocketmq_java.consumer import JavaConsumer, java_consumer
from tests.rocketmq_java.moves import BROKER, Member, Moves, moves
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.broker, pytest.mark.slow]

INVOKE_BROKER_TO_RESET_OFFSET = 222
BEYOND = 1_000_000


@contextmanager
def _moves(cluster: "EmbeddedRocketMQ", folder: Path, **settings: Any) -> Iterator[Moves]:
    with moves(built_rocketmq_java("rocketmq-5"), cluster.namesrv, folder, **settings) as world:
        yield world


def _await_done(world: Moves, messages: int) -> None:
    await_seen(
        lambda: len({call.message for call in world.journal().calls if call.ended}),
        lambda done: done == messages,
        what=f"{messages} messages",
        seconds=LONGEST_SECONDS,
    )


def _await_last(world: Moves, offset: int) -> None:
    await_seen(
        lambda: {call.message for call in world.journal().calls if call.ended},
        lambda done: (0, offset) in done,
        what=f"message {offset}",
    )


def _await_count(process: JavaConsumer, name: str, least: int = 1) -> None:
    await_seen(
        lambda: process.counters()[name],
        lambda count: count >= least,
        what=name,
        seconds=LONGEST_SECONDS,
        pause=0.5,
    )


def _lines(member: Member, kind: str) -> list[Any]:
    text = member.process.journal.read_text(encoding="utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]


@contextmanager
def _brokers(cluster: "EmbeddedRocketMQ") -> Iterator[Brokers]:
    brokers = Brokers(rocketmq_settings(cluster.namesrv, {}))
    try:
        yield brokers
    finally:
        brokers.close()


@pytest.mark.parametrize("batch", [1, 4])
def test_what_fails_is_sent_back_once(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path, batch: int
) -> None:
    """Also of a batch what its ackIndex leaves out, and while queues move: no more, no less."""
    messages = 400
    with _moves(rocketmq, tmp_path, fail_every=10, batch=batch) as world:
        world.write(2, messages)
        here, there = world.member("a"), world.member("b")
        here.group.give(0, 1)
        for queue in (0, 1):
            await_seen(lambda: len(world.journal().calls) > 30, what="work")
            world.move(queue, here, there)
        _await_done(world, messages)
        journal = world.journal()
        failed = sum(call.failed for call in journal.calls)
        counts = [each.process.counters() for each in (here, there)]
        sent_back = sum(count["sent_back"] for count in counts)
        retry = f"%RETRY%{world.group}"
        with _brokers(rocketmq) as brokers:
            route = brokers.route(retry)
            assert route is not None
            offsets = QueueOffsets(brokers, world.group)
            ends = [offsets.end(Queue(retry, each.broker_name, 0)) for each in route.queue_datas]
        passed = [line for each in (here, there) for line in _lines(each, "passed")]
    assert journal.begun_again() == []
    assert failed >= messages // 10
    assert sent_back == failed == len(passed)
    # What is sent back waits at the broker until its delay is over.
    assert sum(ends) <= failed
    assert sum(count["failed_send_backs"] for count in counts) == 0


def test_an_offset_that_the_broker_does_not_have_is_put_right(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path
) -> None:
    """The queue goes on where the broker ends, and the gateway hears of it."""
    with _moves(rocketmq, tmp_path) as world:
        world.write(1, 10)
        member = world.member("a")
        member.group.give(0, offset=BEYOND)
        _await_count(member.process, "taken_away")
        member.group.await_position(0, (10, None))
        world.write(1, 5)
        _await_done(world, 5)
    assert [call.message[1] for call in world.journal().calls] == [10, 11, 12, 13, 14]


@pytest.mark.parametrize("line", ["rocketmq", "rocketmq_4"])
def test_a_reset_forward_is_followed_and_one_backward_is_refused(
    request: pytest.FixtureRequest, tmp_path: Path, line: str
) -> None:
    """RocketMQ's dashboard may skip messages, but never bring processed ones again by itself."""
    cluster: EmbeddedRocketMQ = request.getfixturevalue(line)
    with _moves(cluster, tmp_path, work_ms=200, threads=1) as world, _brokers(cluster) as brokers:
        world.write(1, 500)
        member = world.member("a")
        member.group.give(0)
        await_seen(lambda: len(world.journal().calls) > 5, what="work")
        _reset(cluster, brokers, world, timestamp_ms=-1)
        member.group.await_position(0, (500, 500))
        assert [line["why"] for line in _lines(member, "passed")] == ["moved"]
        world.write(1, 10)
        _await_last(world, 509)
        _reset(cluster, brokers, world, timestamp_ms=0)
        _await_count(member.process, "refused_resets")
        world.write(1, 10)
        _await_last(world, 519)
        journal = world.journal()
    assert journal.begun_again() == []


def _reset(cluster: "EmbeddedRocketMQ", brokers: Brokers, world: Moves, timestamp_ms: int) -> None:
    fields = {
        "topic": world.topic,
        "group": world.group,
        "timestamp": str(timestamp_ms),
        "isForce": "true",
    }
    offsets = QueueOffsets(brokers, world.group)
    # 4.9 resets only what has been committed.
    await_seen(lambda: offsets.committed(Queue(world.topic, BROKER, 0)), what="a commit")
    brokers.call(cluster.address(BROKER), Command(INVOKE_BROKER_TO_RESET_OFFSET, fields), 20.0)


def test_a_lost_lease_stops_the_work(rocketmq: "EmbeddedRocketMQ", tmp_path: Path) -> None:
    """A gateway that is silent: nothing begins behind the lease; then the member joins again."""
    with _moves(rocketmq, tmp_path, lease_ms=3_000, threads=1) as world:
        world.write(1, 1_000)
        member = world.member("a")
        member.group.give(0)
        await_seen(lambda: len(world.journal().calls) > 5, what="work")
        member.group.be_silent()
        _await_count(member.process, "lost")
        calls = len(world.journal().calls)
        stopped = _lines(member, "stop")
        assert len(stopped) == 1
        member.group.be_silent(silent=False)
        await_seen(lambda: member.group.joins, lambda joins: joins > 1, what="a join")
        assert len(world.journal().calls) == calls
        member.group.give(0, offset=stopped[0]["offset"])
        await_seen(lambda: len(world.journal().calls) > calls + 5, what="work again")
        journal = world.journal()
    assert journal.begun_again() == []


def test_who_prefers_repeats_keeps_its_queues(rocketmq: "EmbeddedRocketMQ", tmp_path: Path) -> None:
    """With onOutage keep the work goes on without a lease, until a gateway answers again."""
    with _moves(rocketmq, tmp_path, lease_ms=3_000, threads=1, on_outage="keep") as world:
        world.write(1, 1_000)
        member = world.member("a")
        member.group.give(0)
        await_seen(lambda: len(world.journal().calls) > 5, what="work")
        member.group.be_silent()
        _await_count(member.process, "kept")
        calls = len(world.journal().calls)
        await_seen(lambda: len(world.journal().calls) > calls + 50, what="work without a lease")
        member.group.be_silent(silent=False)
        await_seen(lambda: _lines(member, "stop"), what="a stop")
        offset = _lines(member, "stop")[0]["offset"]
        member.group.give(0, offset=offset)
        await_seen(lambda: (0, offset + 5) in world.journal().seen(), what="work again")
        journal = world.journal()
    assert journal.begun_again() == []


def test_the_lock_of_a_killed_owner_is_awaited(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path
) -> None:
    """A broker keeps the lock of a dead ordered owner for 60 s; the next one says that it waits."""
    with _moves(rocketmq, tmp_path, ordered=True) as world:
        world.write(1, 1_000)
        killed, after = world.member("a"), world.member("b")
        killed.group.give(0)
        await_seen(lambda: len(world.journal().calls) > 5, what="work")
        killed.process.child.kill()
        after.group.give(0, offset=2)
        _await_count(after.process, "lock_waits")
        assert "a broker still keeps its lock for another client" in after.process.log()
        await_seen(
            lambda: after.process.counters()["adopted"],
            what="the lock",
            seconds=LONGEST_SECONDS,
            pause=1,
        )


def test_the_token_goes_along_over_tls(rocketmq: "EmbeddedRocketMQ", tmp_path: Path) -> None:
    """An attached consumer shows its token to a gateway that its authority vouches for."""
    certificates = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    token = tmp_path / "token"
    token.write_text("first-token\n", encoding="utf-8")
    java = built_rocketmq_java("rocketmq-5")
    flags = {"namesrv": rocketmq.namesrv, "topic": "TBW102", "group": f"g-{uuid.uuid4().hex}"}
    flags |= {"token-file": str(token), "ca-file": str(certificates.authority)}
    with (
        scripted_gateway(context) as gateway,
        java_consumer(java, tmp_path, "a", gateway=gateway.address, **flags) as consumer,
    ):
        consumer.join()
        asked = gateway.next("/members")
        asked.answer(503)
    assert asked.headers["authorization"] == "Bearer first-token"
    assert asked.body["client_id"] == "a"
