"""What goes wrong with real consumers of RocketMQ, as looks at 4.9.7 servers see it."""

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.cli.observe.look_options import LookOptions
from fairlead.cli.observe.looks import rebalances_seen
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from fairlead.native.rebalances import Rebalance
from fairlead.native.rocketmq_groups import RocketmqGroups
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import WAIT, RocketMQTopic
from tests.native.java_consumers import java_consumers

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_QUEUES = 8
"""Queues of the topic at each of the two brokers."""


@contextlib.contextmanager
def _looking(namesrv: str, *, sparing: bool = False) -> Iterator[RocketmqGroups]:
    with Connections(ConnectionSettings()) as connections:
        servers = NameServers(connections, addresses_of(namesrv))
        yield RocketmqGroups(connections, servers, client_s=1.0, sparing=sparing)


def _problems(look: GroupLook) -> dict[str, str | None]:
    return {each.problem: each.subject for each in look_findings(look)}


def test_a_frozen_client_and_twins(rocketmq_4: EmbeddedRocketMQ, tmp_path: Path) -> None:
    """One look suspects a stopped process; addresses tell processes with one id apart."""
    name = f"ill-{uuid.uuid4().hex[:6]}"
    topic = RocketMQTopic(rocketmq_4, name, _QUEUES)
    namesrv = rocketmq_4.namesrv
    folders = [tmp_path / each for each in ("one", "two")]
    for each in folders:
        each.mkdir()
    with (
        _looking(namesrv) as groups,
        java_consumers(namesrv, folders[0]) as first,
        java_consumers(namesrv, folders[1]) as second,
    ):

        def look() -> GroupLook:
            found = groups.look(lambda group: group == name).groups
            return found[0] if found else GroupLook(name, "rocketmq", None, shares=False)

        def shared(members: int) -> GroupLook:
            return await_seen(
                look,
                lambda seen: (
                    len(seen.members) == members
                    and len([each for each in seen.queues if len(each.owners) == 1]) >= 2 * _QUEUES
                ),
                what=f"{members} members share all queues",
                seconds=60,
                pause=0.5,
            )

        first.start(name, name, "stays")
        second.start(name, name, "freezes")
        assert _problems(shared(2)) == {}
        second.freeze()
        seen = look()
        assert _problems(seen) == {"frozen": seen.members[0].client_id}
        assert seen.members[0].client_id.endswith("@freezes")
        second.thaw()
        assert _problems(shared(2)) == {}
        second.stop("freezes")
        shared(1)
        second.start(name, name, "stays")
        twins = await_seen(
            look,
            lambda seen: seen.members[0].processes == 2,
            what="both processes are connected",
            pause=0.5,
        )
        assert _problems(twins)["duplicate_client_id"] == twins.members[0].client_id
    topic.close()


def _awaited(seen: list[Rebalance], wanted: Callable[[Rebalance], bool]) -> Rebalance:
    found = await_seen(
        lambda: [each for each in seen if wanted(each)],
        bool,
        what="a rebalance",
        seconds=60,
        pause=0.5,
    )
    return found[0]


def test_watching_tells_who_joined_and_left(rocketmq_4: EmbeddedRocketMQ, tmp_path: Path) -> None:
    """A second consumer takes half of the queues, and gives them back."""
    name = f"watched-{uuid.uuid4().hex[:6]}"
    topic = RocketMQTopic(rocketmq_4, name, _QUEUES)
    seen: list[Rebalance] = []
    stop, looked = threading.Event(), threading.Event()
    with (
        _looking(rocketmq_4.namesrv, sparing=True) as groups,
        java_consumers(rocketmq_4.namesrv, tmp_path) as consumers,
    ):
        consumers.start(name, name, "one")
        await_seen(
            lambda: groups.look(lambda group: group == name).groups,
            lambda looks: (
                bool(looks)
                and len([each for each in looks[0].queues if each.owners]) >= 2 * _QUEUES
            ),
            what="the first consumer has all queues",
            seconds=60,
            pause=0.5,
        )

        class Told:
            """The same reader; says when it has looked."""

            kind = groups.kind

            def look(self, wanted: Callable[[str], bool]) -> ClusterLook:
                found = groups.look(wanted)
                looked.set()
                return found

        def watch() -> None:
            options = LookOptions(group=name, interval=0.5)
            seen.extend(rebalances_seen(Told(), options, stop))

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            assert looked.wait(WAIT)
            consumers.start(name, name, "two")
            joined = _awaited(seen, lambda each: bool(each.joined))
            consumers.stop("two")
            left = _awaited(seen, lambda each: bool(each.left))
        finally:
            stop.set()
            watching.join()
    assert [each.partition("@")[2] for each in (*joined.joined, *left.left)] == ["two", "two"]
    # The queue of the retry topic at one of the brokers may move too.
    assert max(each.moved for each in seen) in (_QUEUES, _QUEUES + 1)
    topic.close()
