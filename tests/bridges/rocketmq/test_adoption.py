"""`fairlead adopt` and `release` with groups of real brokers of both lines."""

from typing import Any

import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.cli.main import main
from fairlead.control.rocketmq_consumers import RocketMQConsumers
from fairlead.core.model import MessageQueue
from fairlead.errors import ExitCode
from tests.kit.awaiting import await_seen
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.command import document_of
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_heartbeat import join_group
from tests.kit.rocketmq_operator import RocketMQOperator


class _Terminal:
    """An operator's terminal."""

    def __init__(
        self,
        operator: RocketMQOperator,
        bootstrap: str,
        prefix: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self._place = ["--namesrv", operator.cluster.namesrv, "--cluster-name", "main"]
        self._place += ["--bootstrap", bootstrap, "--topic-prefix", prefix]
        self._capsys = capsys

    def run(
        self, *words: str, code: ExitCode, wait: bool = True
    ) -> tuple[list[dict[str, Any]], str]:
        """Run a command, a change with a short wait; return its rows, and what else it said."""
        self._capsys.readouterr()
        waits = ["--wait", "1"] if wait and "--wait" not in words else []
        with pytest.raises(SystemExit) as end:
            main([*words, *waits, "-o", "json", *self._place])
        output = self._capsys.readouterr()
        assert end.value.code == code, output.err
        return document_of(output.out) or [], output.err


def test_a_group_goes_over_and_back(
    ledger: Ledger,
    bootstrap: str,
    either: RocketMQOperator,
    topic: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It begins at its commits, and ends as commits of a group that nobody had made."""
    old, new, group = f"{topic}-old", f"{topic}-new", f"{topic}-readers"
    queue = MessageQueue(topic, "broker-a", 0)
    either.make(topic, 1, ["broker-a"])
    either.send(queue, 3)
    either.make_group(old, ["broker-a"])
    either.commit(old, queue, 2)
    prefix = ledger.names.prefix
    terminal = _Terminal(either, bootstrap, prefix, capsys)
    with running(rocketmq_bridge(either.cluster, bootstrap, prefix)):
        adopt = ("adopt", group, "--from", old)
        with Connections(ConnectionSettings()) as member:
            address = either.cluster.address("broker-b")
            join_group(member, address, "10.0.0.4@77", old, topic)
            # The bridge publishes the route because the command asks for it.
            terminal.run(*adopt, "--wait", "30", code=ExitCode.REFUSED)
            rows, said = terminal.run(*adopt, "--apply", code=ExitCode.REFUSED)
        assert rows == []
        assert "10.0.0.4@77" in said
        plane = RocketMQConsumers(either.plane(), old)
        await_seen(lambda: not plane.read_members().is_at_work, what="the member has left")
        rows, _ = terminal.run(*adopt, code=ExitCode.OK)
        assert [(row["native_offset"], row["to_offset"]) for row in rows] == [(2, 2)]
        # No engine runs: what was written stands in the log.
        terminal.run(*adopt, "--apply", code=ExitCode.ENVIRONMENT)
        release = ("release", group, "--to", new, "--topic", topic)
        rows, _ = terminal.run(*release, "--apply", code=ExitCode.OK)
        assert [row["answer"] for row in rows] == ["committed"]
        assert either.committed(new, queue) == 2
        reset = ("offsets", "reset", group, "--to", "earliest", "--topic", topic)
        terminal.run(*reset, "--apply", code=ExitCode.ENVIRONMENT)
        assert either.committed(group, queue) == 0
        (row,), _ = terminal.run("offsets", "show", group, wait=False, code=ExitCode.OK)
    assert (row["position"][1], row["why"], row["lag_messages"]) == (0, "reset", 3)


def test_a_group_that_pops_messages_is_refused(
    ledger: Ledger,
    bootstrap: str,
    rocketmq: Any,
    topic: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody owns a queue there; the words name the mode to set."""
    operator = RocketMQOperator(rocketmq)
    group = f"{topic}-old"
    operator.make(topic, 1, ["broker-a"])
    operator.make_group(group, ["broker-a"])
    body = b'{"topic":"%b","consumerGroup":"%b","mode":"POP"}' % (topic.encode(), group.encode())
    operator.ask("broker-a", Command(RequestCode.SET_MESSAGE_REQUEST_MODE, body=body))
    terminal = _Terminal(operator, bootstrap, ledger.names.prefix, capsys)
    _, said = terminal.run("adopt", group, code=ExitCode.REFUSED)
    operator.close()
    assert f"{group}: its consumers pop messages of {topic}" in said
    assert "setConsumeMode -m PULL" in said
