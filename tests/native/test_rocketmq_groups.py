"""What a look asks, of a cluster that a test leads by hand."""

import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.cli.main import main
from fairlead.cli.render.native import write_native_groups
from fairlead.cli.render.output import OutputFormat
from fairlead.core.model import MessageQueue
from fairlead.errors import ExitCode
from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from fairlead.native.native_sources import native_sources
from fairlead.native.observation import observed
from fairlead.native.rocketmq_groups import RocketmqGroups
from fairlead.rocketmq.name_servers import NameServers
from fairlead.settings import load_settings
from fairlead.wire.limits import ROUTE_QUEUES_MAX
from tests.access.certificates import Authority
from tests.kit.remoting_server import response, serving
from tests.native.scripted_cluster import CLIENTS, ScriptedCluster

_NOWHERE = "127.0.0.1:1"


def _seen(cluster: ScriptedCluster, looks: int = 1, *, sparing: bool = False) -> GroupLook:
    with serving(cluster.serve) as address, Connections(ConnectionSettings()) as connections:
        cluster.address = address
        groups = RocketmqGroups(
            connections, NameServers(connections, (address,)), client_s=0.3, sparing=sparing
        )
        for _ in range(looks):
            (seen,) = groups.look(lambda name: name == "g").groups
    return seen


def _whole_look(cluster: ScriptedCluster) -> ClusterLook:
    """Look once at all groups."""
    with serving(cluster.serve) as address, Connections(ConnectionSettings()) as connections:
        cluster.address = address
        servers = NameServers(connections, (address,))
        return RocketmqGroups(connections, servers, client_s=0.3).look(lambda _: True)


def _queue(number: int) -> MessageQueue:
    return MessageQueue("orders", "broker-a", number)


def test_each_trap_is_seen_for_what_it_is() -> None:
    """Dropped queues, offsets that were never committed, and three kinds of silence."""
    seen = _seen(ScriptedCluster())
    assert seen.owners() == {_queue(0): (), _queue(1): ("answers",)}
    assert [(each.queue, each.end, each.committed) for each in seen.queues] == [
        (_queue(0), 9, None),
        (_queue(1), 9, 0),
    ]
    assert (seen.lag, seen.protocol, seen.kind) == (9, "clustering", "rocketmq")
    silences = {each.client_id: each.silence for each in seen.members}
    assert silences.pop("unknown").endswith("not online")
    assert silences == {"answers": "", "frozen": "frozen", "silent": "frozen"}


def test_looks_that_follow_each_other_spare_the_members() -> None:
    """After two equal answers a member is left alone for half a minute."""
    cluster = ScriptedCluster()
    seen = _seen(cluster, 5, sparing=True)
    assert cluster.asked.count(RequestCode.GET_CONSUMER_RUNNING_INFO) == 2 * len(CLIENTS)
    assert cluster.asked.count(RequestCode.GET_CONSUME_STATS) == 5
    assert seen.owners()[_queue(1)] == ("answers",)


def test_a_name_server_that_is_away_is_told_and_not_asked_again() -> None:
    """What the other one says is the whole; only the first question waits for the absent one."""
    cluster = ScriptedCluster()
    with serving(cluster.serve) as address, Connections(ConnectionSettings()) as connections:
        cluster.address = address
        servers = NameServers(connections, (_NOWHERE, address))
        look = RocketmqGroups(connections, servers, client_s=0.3).look(lambda _: True)
        assert servers.without(servers.cluster_info().unheard).addresses == (address,)
    assert [each.startswith(f"name server {_NOWHERE}: ") for each in look.unheard] == [True]
    (group,) = look.groups
    assert (group.unread, group.settled, len(group.queues)) == ((), None, 2)


def test_a_broker_that_is_away_leaves_a_part_unknown() -> None:
    """The group says so; nobody counts as gone meanwhile, and the other broker's part is there."""
    look = _whole_look(ScriptedCluster(other_broker=_NOWHERE))
    assert [each.startswith(f"broker broker-b: {_NOWHERE}") for each in look.unheard] == [True]
    (group,) = look.groups
    assert group.unread == ("the broker broker-b does not answer",)
    assert (group.settled, len(group.members), group.knows["broker-b"]) == (False, 4, None)
    assert next(each.problem for each in look_findings(group)) == "unread"


@pytest.mark.parametrize("said", ["[]", '{"mqTable":{"x":1}}', '{"subscriptionSet":[7]}', "\x00"])
def test_a_consumer_that_says_nonsense_is_the_only_one_unseen(said: str) -> None:
    """Every client library writes what it says of itself by itself, and the broker passes it on."""
    seen = _seen(ScriptedCluster(said=said))
    assert seen.owners() == {_queue(0): (), _queue(1): ("answers",)}
    silences = {each.client_id: each.silence for each in seen.members}
    assert "unreadable answer" in silences["unknown"]


def test_a_broker_that_says_nonsense_leaves_a_part_unknown() -> None:
    """It is named, and the other broker's part is there."""
    with serving(lambda asked: [response(asked, b'{"subscriptionGroupTable":7}')]) as broken:
        look = _whole_look(ScriptedCluster(other_broker=broken))
    assert [each.startswith(f"broker broker-b: {broken}") for each in look.unheard] == [True]
    (group,) = look.groups
    assert (group.unread, len(group.members)) == (("the broker broker-b does not answer",), 4)


def test_messages_wait_for_a_group_without_members() -> None:
    """The group has no subscription any more; what it has read tells its topics."""
    seen = _seen(ScriptedCluster(deserted=True))
    assert (seen.members, [each.queue for each in seen.queues]) == ((), [_queue(0), _queue(1)])
    assert [each.problem for each in look_findings(seen)] == ["offline"]


def test_a_group_without_members_whose_offsets_nobody_tells_is_unread() -> None:
    """A group with messages that wait is not one without a problem."""
    seen = _seen(ScriptedCluster(deserted=True, mute=(RequestCode.GET_CONSUME_STATS,)))
    assert seen.unread == ("the broker broker-a does not say what the group has read",)
    assert [each.problem for each in look_findings(seen)] == ["unread"]


def test_a_topic_with_more_queues_than_any_is_not_counted_out() -> None:
    """Whoever may make a topic gives it any number of queues; memory does not follow it."""
    seen = _seen(ScriptedCluster(queues=2**31 - 1))
    assert len(seen.queues) <= ROUTE_QUEUES_MAX
    assert seen.unread == ("orders has more than 100000 queues; those above are left out",)


def test_a_client_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Clients of RocketMQ name themselves as they like, and a table has a line for each."""
    forged = "x\nerror: 0 problems"
    seen = _seen(ScriptedCluster())
    members = (replace(seen.members[0], member_id=forged, client_id=forged),)
    look = observed(replace(seen, members=members)).to_json()
    write_native_groups([look], OutputFormat.TABLE, whole=True)
    shown = capsys.readouterr().out
    assert "x\\nerror: 0 problems" in shown
    assert not [line for line in shown.splitlines() if line.startswith("error")]


def test_a_look_sends_questions_alone() -> None:
    """It sends no heartbeat, commits nothing, and asks each consumer once."""
    cluster = ScriptedCluster()
    _seen(cluster)
    assert set(cluster.asked) == {
        RequestCode.GET_BROKER_CLUSTER_INFO,
        RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        RequestCode.GET_CONSUMER_CONNECTION_LIST,
        RequestCode.GET_ROUTEINFO_BY_TOPIC,
        RequestCode.GET_CONSUME_STATS,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.GET_CONSUMER_RUNNING_INFO,
    }
    assert cluster.asked.count(RequestCode.GET_CONSUMER_RUNNING_INFO) == len(CLIENTS)


def test_tls_and_a_login_reach_a_cluster_that_asks_for_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The secret stands in a file or the environment; without it the broker says why."""
    authority = Authority(tmp_path)
    pair = authority.server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    login = tmp_path / "tools.yml"
    login.write_text("accessKey: fairlead\nsecretKey: '12345678'\n")
    cluster = ScriptedCluster(login=Credentials("fairlead", "12345678"))
    with serving(cluster.serve, context) as address:
        cluster.address = address
        asked = ["--namesrv", address, "--tls-ca", str(authority.file), "--client-timeout", "0.3"]
        assert "no such login" in _ended(capsys, asked, ExitCode.ENVIRONMENT)
        _ended(capsys, [*asked, "--acl-file", str(login)], ExitCode.VERDICT_NEGATIVE)
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("ROCKETMQ_ACCESS_KEY", "fairlead")
            patched.setenv("ROCKETMQ_SECRET_KEY", "12345678")
            _ended(capsys, asked, ExitCode.VERDICT_NEGATIVE)
            settings = load_settings(
                overrides={"observe.namesrv": address, "observe.tls_ca": str(authority.file)}
            )
            (source,) = native_sources(settings)
            with source.reading() as reader:
                (seen,) = reader.look(lambda _: True).groups
        assert len(seen.members) == len(CLIENTS)


def _ended(capsys: pytest.CaptureFixture[str], words: list[str], code: ExitCode) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["observe", "rocketmq", *words])
    output = capsys.readouterr()
    assert end.value.code == code, output.err
    return output.err
