"""Looks at real groups of a real broker: kafka-python's consumers, and members of KIP-848."""

import contextlib
import json
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.cli.main import main
from fairlead.errors import EnvironmentMissingError
from fairlead.native.group_look import GroupLook
from fairlead.native.kafka_groups import KafkaGroups
from fairlead.native.rebalances import Rebalance
from tests.answers.schema import assert_answer
from tests.kit.awaiting import await_seen
from tests.kit.kafka_topics import fill, make_topic
from tests.kit.kip848_member import Kip848Member


@pytest.fixture
def groups(bootstrap: str) -> Iterator[KafkaGroups]:
    """The reader of the cluster."""
    reader = KafkaGroups(DataCluster(bootstrap, timeout_ms=5_000, options={}), "main")
    with contextlib.closing(reader):
        yield reader


@contextlib.contextmanager
def _consuming(bootstrap: str, topic: str, group: str, *clients: str) -> Iterator[None]:
    """Consumers of kafka-python at work, each on a thread of its own."""
    stop = threading.Event()

    def work(client_id: str) -> None:
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            client_id=client_id,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=100,
        )
        while not stop.is_set():
            consumer.poll(100)
        consumer.close()

    threads = [threading.Thread(target=work, args=(each,)) for each in clients]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join()


def _settled(groups: KafkaGroups, group: str, members: int, lag: int | None = None) -> GroupLook:
    """Wait until so many members share all queues; ``lag``: and until this much waits in each."""

    def seen() -> list[GroupLook]:
        try:
            return [*groups.look(lambda name: name == group).groups]
        except EnvironmentMissingError:
            return []  # the coordinator is still loading what it remembers

    found = await_seen(
        seen,
        lambda seen: (
            bool(seen)
            and seen[0].settled
            and len(seen[0].members) == members
            and bool(seen[0].queues)
            and all(each.owners and (lag is None or each.lag == lag) for each in seen[0].queues)
        ),
        what=f"{group} with {members} members at its end",
    )
    return found[0]


def test_a_classic_group_is_seen_whole_and_left_as_it_is(
    bootstrap: str, groups: KafkaGroups
) -> None:
    """Members, owners, commits and ends; ten looks change neither members nor offsets."""
    topic = group = f"classic-{uuid.uuid4().hex[:6]}"
    make_topic(bootstrap, topic, partitions=4)
    for partition in range(4):
        fill(bootstrap, topic, partition, [1_000, 2_000])
    with (
        _consuming(bootstrap, topic, group, "one", "two"),
        contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin,
    ):
        look = _settled(groups, group, 2, lag=0)
        assert (look.protocol, look.state, look.assignors) == ("classic", "Stable", ("range",))
        assert sorted(each.client_id for each in look.members) == ["one", "two"]
        assert [len(each.owns) for each in look.members] == [2, 2]
        assert [(each.committed, each.end) for each in look.queues] == [(2, 2)] * 4
        before = _as_told(admin, group)
        for _ in range(10):
            groups.look(lambda _: True)
        assert _as_told(admin, group) == before


def _as_told(admin: KafkaAdminClient, group: str) -> tuple[Any, Any]:
    described = admin.describe_groups([group])[group]
    members = sorted(each["member_id"] for each in described["members"])
    return (described["group_state"], members), admin.list_group_offsets(group)[group]


def test_a_group_of_kip_848_has_its_epoch(bootstrap: str, groups: KafkaGroups) -> None:
    """The new protocol's members, what they own and the number of the assignment."""
    topic = group = f"kip848-{uuid.uuid4().hex[:6]}"
    make_topic(bootstrap, topic, partitions=4)
    first = Kip848Member(bootstrap, group, [topic], "one")
    second = Kip848Member(bootstrap, group, [topic], "two")

    def beat() -> list[GroupLook]:
        first.heartbeat()
        second.heartbeat()
        return [*groups.look(lambda name: name == group).groups]

    try:
        look = await_seen(
            beat,
            lambda seen: seen[0].settled and [len(one.owns) for one in seen[0].members] == [2, 2],
            what="two members with two queues each",
        )[0]
        assert (look.protocol, look.assignors) == ("consumer", ("uniform",))
        assert look.generation is not None
        assert look.generation >= 2
        assert {each.member_id for each in look.members} == {first.member_id, second.member_id}
        assert all(each.topics == (topic,) for each in look.members)
        epoch = first.heartbeat()
        groups.look(lambda _: True)
        assert first.heartbeat() == epoch
    finally:
        first.close()
        second.close()


def test_the_command_shows_a_group_and_ends_by_what_it_found(
    bootstrap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON with plans; an idle member is a note; exit code 2 for a group that is not there."""
    topic = group = f"idle-{uuid.uuid4().hex[:6]}"
    make_topic(bootstrap, topic)
    fill(bootstrap, topic, 0, [1_000])
    asked = ["observe", "kafka", "--bootstrap", bootstrap, "--group", group]
    with _consuming(bootstrap, topic, group, "one", "two"):
        reader = KafkaGroups(DataCluster(bootstrap, timeout_ms=5_000, options={}), "main")
        with contextlib.closing(reader):
            _settled(reader, group, 2)
        document = _ended(capsys, [*asked, "-o", "json"], 0)
        (found,) = json.loads(document)
        assert_answer("NativeGroup", found)
        assert [each["problem"] for each in found["note_list"]] == ["idle_member"]
        assert found["what_if"]["shape"] == "AVG"
        table = _ended(capsys, asked, 0)
        assert "idle_member" in table
        assert "one at 127.0.0.1" in table
    _ended(capsys, [*asked[:-1], f"{group}-not"], 2)


def _ended(capsys: pytest.CaptureFixture[str], words: list[str], code: int) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(words)
    output = capsys.readouterr()
    assert end.value.code == code, output.err
    return output.out


def test_watching_tells_who_came_and_what_moved(bootstrap: str, groups: KafkaGroups) -> None:
    """A second consumer takes half of the queues."""
    from fairlead.cli.observe.look_options import LookOptions
    from fairlead.cli.observe.looks import rebalances_seen

    topic = group = f"watched-{uuid.uuid4().hex[:6]}"
    make_topic(bootstrap, topic, partitions=4)
    fill(bootstrap, topic, 0, [1_000])
    for partition in range(1, 4):
        fill(bootstrap, topic, partition, [1_000])
    with _consuming(bootstrap, topic, group, "one"):
        _settled(groups, group, 1)
        stop = threading.Event()
        rows: list[Rebalance] = []

        def watch() -> None:
            rows.extend(rebalances_seen(groups, LookOptions(group=group, interval=0.2), stop))

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            with _consuming(bootstrap, topic, group, "two"):
                await_seen(
                    lambda: [each for each in rows if each.joined and each.moved],
                    bool,
                    what="the rebalance of the second consumer",
                    seconds=30,
                )
        finally:
            stop.set()
            watching.join()
    assert_answer("NativeRebalance", rows[0].to_json())
    assert any(each.joined == ("two at 127.0.0.1",) and each.moved == 2 for each in rows)
