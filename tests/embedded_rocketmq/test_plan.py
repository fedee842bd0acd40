"""What an embedded RocketMQ consists of, and the record of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.broker.ports import is_free
from fairlead.broker.processes import ProcessIdentity
from fairlead.embedded_rocketmq import ClusterPlan, EmbeddedRocketMQ, read_plan
from fairlead.embedded_rocketmq.plan_file import write_plan
from fairlead.errors import EnvironmentMissingError, UsageError


def test_ports_are_free_and_do_not_meet() -> None:
    """A broker listens on three ports, none of them another server's."""
    plan = ClusterPlan.new("5.3.3", 2, 2, "main").with_ports(None)
    ports = [port for each in plan.servers for port in each.ports]
    assert len({*ports}) == len(ports) == 8
    assert all(map(is_free, ports))
    assert plan.namesrv == ";".join(each.address for each in plan.name_servers)


def test_ports_stay_while_they_are_free() -> None:
    """A cluster that starts again is found where it was."""
    plan = ClusterPlan.new("4.9.7", 1, 1, "main").with_ports(None)
    assert plan.with_ports(None) == plan


def test_the_record_is_read_as_written(tmp_path: Path) -> None:
    """Version, names, ports and processes come back."""
    plan = ClusterPlan.new("4.9.7", 2, 1, "east").with_ports(None)
    servers = (replace(plan.servers[0], process=ProcessIdentity(7, 9)), *plan.servers[1:])
    plan = replace(plan, servers=servers)
    write_plan(tmp_path, plan)
    assert read_plan(tmp_path) == plan
    assert read_plan(tmp_path / "none") is None


@pytest.mark.parametrize("text", ["", "{}", '{"v":2}', '{"v":1,"version":"5.3.3"}', "[]"])
def test_a_record_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    """A foreign file is not taken for a cluster, and nothing is deleted."""
    (tmp_path / "rocketmq.json").write_text(text)
    with pytest.raises(EnvironmentMissingError, match=r"rocketmq\.json cannot be read"):
        read_plan(tmp_path)


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda folder: EmbeddedRocketMQ(folder, version="4.2.0"), "version"),
        (lambda folder: EmbeddedRocketMQ(folder, brokers=3), "brokers"),
        (lambda folder: EmbeddedRocketMQ(folder, name_servers=0), "name-servers"),
    ],
)
def test_what_cannot_be_started_is_refused(
    tmp_path: Path, make: Callable[[Path], EmbeddedRocketMQ], field: str
) -> None:
    """The error names the option and what it may be."""
    with pytest.raises(UsageError, match=f"^{field}: ") as raised:
        make(tmp_path)
    assert "Choose" in raised.value.remedy
