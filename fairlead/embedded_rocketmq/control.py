"""Finds and stops an embedded RocketMQ that another process has started, from its folder."""

from dataclasses import dataclass
from pathlib import Path

from fairlead.broker.processes import terminate
from fairlead.embedded_rocketmq.cluster import STOP_SECONDS_MAX
from fairlead.embedded_rocketmq.plan_file import read_plan
from fairlead.embedded_rocketmq.readiness import in_service

__all__ = ["ServerStatus", "read_servers", "stop_servers"]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server, seen from outside.

    Attributes:
        name: its name.
        address: its host:port.
        pid: the process that runs it or ran it last; None: it never ran.
        running: the process lives.
        in_service: it answers, and a broker is registered.
        log_file: its log file.
    """

    name: str
    address: str
    pid: int | None
    running: bool
    in_service: bool
    log_file: Path


def read_servers(folder: Path) -> tuple[ServerStatus, ...]:
    """Return how the servers of a folder's cluster are; none: there never was one."""
    plan = read_plan(folder)
    if plan is None:
        return ()
    return tuple(
        ServerStatus(
            each.name,
            each.address,
            None if each.process is None else each.process.pid,
            each.is_running,
            in_service(plan, each),
            folder / each.name / "server.log",
        )
        for each in plan.servers
    )


def stop_servers(folder: Path, timeout_s: float = STOP_SECONDS_MAX) -> tuple[int, ...] | None:
    """Stop a folder's cluster, whoever started it.

    Returns:
        The pids that had to be killed after this time; None: nothing ran.
    """
    plan = read_plan(folder)
    if plan is None or not plan.is_running:
        return None
    # Brokers say good-bye to the name servers, which therefore end last.
    killed: tuple[int, ...] = ()
    for servers in (plan.brokers, plan.name_servers):
        killed += terminate([each.process for each in servers if each.process], timeout_s)
    return killed
