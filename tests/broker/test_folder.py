"""The data folder: what it remembers, who may start in it, which ports it takes."""

import socket
from pathlib import Path

import pytest

from fairlead.broker import (
    ClusterState,
    NodeState,
    default_data_dir,
    ports,
    read_state,
    read_status,
)
from fairlead.broker.folder import new_state, sole_starter, with_ports
from fairlead.broker.ports import free_ports, is_free, is_listening
from fairlead.broker.processes import ProcessIdentity
from fairlead.broker.properties import server_properties
from fairlead.broker.state import write_state
from fairlead.errors import EnvironmentMissingError, RefusedError


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A cluster of three comes back whole although one broker never ran."""
    nodes = (
        NodeState(1, 20_001, 21_001, ProcessIdentity(4, 99)),
        NodeState(2, 20_002, 21_002, ProcessIdentity(5, 99)),
        NodeState(3, 20_003, 21_003),
    )
    state = ClusterState("id", nodes)
    write_state(tmp_path, state)
    assert read_state(tmp_path) == state
    assert state.bootstrap == "127.0.0.1:20001,127.0.0.1:20002,127.0.0.1:20003"
    assert [one.pid for one in state.processes()] == [4, 5]


def test_an_empty_folder_has_no_cluster(tmp_path: Path) -> None:
    """Nothing was ever started there."""
    assert read_state(tmp_path) is None
    assert read_status(tmp_path) is None


@pytest.mark.parametrize("text", ["{", '{"v": 2, "nodes": []}', '{"v": 1}', "[]"])
def test_a_record_that_cannot_be_understood_is_named(tmp_path: Path, text: str) -> None:
    """Cut off, of another version, incomplete or of another shape: the error names the file."""
    (tmp_path / "cluster.json").write_text(text)
    with pytest.raises(EnvironmentMissingError, match=r"cluster\.json cannot be read"):
        read_state(tmp_path)


def test_of_two_starts_one_is_refused(tmp_path: Path) -> None:
    """While a start is under way, another one in the same folder does not wait for it."""
    with (
        sole_starter(tmp_path),
        pytest.raises(RefusedError, match="another start"),
        sole_starter(tmp_path),
    ):
        raise AssertionError("two starts at once")
    with sole_starter(tmp_path):
        pass


def test_recorded_ports_are_kept_while_they_are_free() -> None:
    """Clients that know an address find the cluster there again, unless somebody took it."""
    state = with_ports(new_state(1), None, keep=True)
    assert with_ports(state, None, keep=True) == state
    with socket.create_server(("127.0.0.1", state.nodes[0].port)):
        moved = with_ports(state, None, keep=True)
    assert moved.nodes[0].port != state.nodes[0].port
    assert with_ports(state, None, keep=False).nodes[0].port != state.nodes[0].port


def test_given_ports_follow_each_other() -> None:
    """Three nodes take the given port and the next two; controllers take others."""
    first = next(port for port in range(30_000, 31_000) if all(map(is_free, range(port, port + 3))))
    state = with_ports(new_state(3), first, keep=True)
    assert [node.port for node in state.nodes] == [first, first + 1, first + 2]
    controllers = {node.controller_port for node in state.nodes}
    assert len(controllers) == 3
    assert controllers.isdisjoint({first, first + 1, first + 2})


def test_free_ports_are_different_and_free() -> None:
    """Nobody listens there, and no port comes twice."""
    found = free_ports(20)
    assert len(set(found)) == 20
    assert not any(map(is_listening, found))


def test_when_no_port_is_free_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the range and how to give a port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        monkeypatch.setattr(ports, "_FIRST", taken)
        monkeypatch.setattr(ports, "_LAST", taken)
        with pytest.raises(EnvironmentMissingError, match="fewer than 1 free ports") as error:
            free_ports(1)
    assert "--port" in error.value.remedy


def test_a_taken_port_is_not_free() -> None:
    """A listener is seen from both sides."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
        assert is_listening(port)
    assert is_free(port)
    assert not is_listening(port)


@pytest.mark.parametrize("nodes, in_sync", [(1, "1"), (3, "2")])
def test_a_record_counts_when_most_replicas_have_it(nodes: int, in_sync: str) -> None:
    """Three nodes keep three copies of everything and need two; one node has one."""
    state = with_ports(new_state(nodes), None, keep=True)
    text = server_properties(state, state.nodes[0], Path("/data"), {"num.io.threads": "7"})
    properties = dict(line.split("=", 1) for line in text.splitlines())
    assert properties["default.replication.factor"] == str(nodes)
    assert properties["offsets.topic.replication.factor"] == str(nodes)
    assert properties["min.insync.replicas"] == in_sync
    assert properties["controller.quorum.voters"].count("@") == nodes
    assert properties["num.io.threads"] == "7"


def test_cluster_ids_differ_and_are_no_options() -> None:
    """Each is 22 characters, and none looks like an option to Kafka's command line."""
    ids = {new_state(1).cluster_id for _ in range(200)}
    assert len(ids) == 200
    assert {len(one) for one in ids} == {22}
    assert not any(one.startswith("-") for one in ids)


def test_the_default_folder_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """XDG_STATE_HOME, then the home folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_data_dir() == tmp_path / "fairlead" / "broker"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_data_dir() == tmp_path / "home" / ".local" / "state" / "fairlead" / "broker"
