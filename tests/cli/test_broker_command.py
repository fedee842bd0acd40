"""`fairlead broker` where no broker is needed: what its flags mean together."""

import os
from pathlib import Path

import pytest

from fairlead.broker import ClusterState, NodeState
from fairlead.broker.processes import ProcessIdentity
from fairlead.broker.state import write_state
from fairlead.cli.main import main
from fairlead.errors import ExitCode


@pytest.mark.parametrize(
    "flags",
    [["--brokers", "1"], ["--port", "9092"], ["--data-dir", "kafka"], ["--foreground"]],
    ids=lambda flags: str(flags[0]),
)
def test_an_existing_cluster_is_not_started(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside --bootstrap whatever says how to start a cluster is a usage error that names it."""
    with pytest.raises(SystemExit) as end:
        main(["broker", "start", "--bootstrap", "localhost:9", *flags])
    assert end.value.code == ExitCode.USAGE
    assert f"so {flags[0]} has no effect" in capsys.readouterr().err


def test_a_cluster_nobody_answers_for_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster that does not answer is named, and nothing is shown as done."""
    with pytest.raises(SystemExit) as end:
        main(["broker", "start", "--bootstrap", "127.0.0.1:9"])
    assert end.value.code == ExitCode.ENVIRONMENT
    output = capsys.readouterr()
    assert "127.0.0.1:9" in output.err
    assert output.out == ""


def test_a_node_that_does_not_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three nodes one was killed: who starts the cluster again learns what brings it back."""
    alive = ProcessIdentity(os.getpid(), 0)
    nodes = tuple(NodeState(number, 9, 9, alive if number != 2 else None) for number in range(1, 4))
    write_state(tmp_path, ClusterState("mine", nodes))
    with pytest.raises(SystemExit):
        main(["broker", "start", "--brokers", "3", "--data-dir", str(tmp_path)])
    says = capsys.readouterr().err
    assert "a cluster of 3 runs already" in says
    assert "node 2 does not run: fairlead broker stop, then start, brings it back" in says
    assert "node 1 does not" not in says
