"""The whole job under other strategies than AVG, a user's own among them, one group for each."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.errors import ExitCode
from fairlead.settings import Settings, load_settings
from fairlead.wire.partition import partition_of_group
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.engine_process import EngineProcess, children_of
from tests.kit.fleet import Fleet
from tests.kit.kafka_log import SHARDS, Log, body_of
from tests.packaging.installed import install, origins

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord

pytestmark = [pytest.mark.system, pytest.mark.spark]

COMPANY: Final = Path(__file__).parent / "company"
QUEUES: Final = tuple(MessageQueue("orders", "main", number) for number in range(4))
CONF: Final = """
[engine]
strategies = ["company_allocation:LastCome", "company_allocation:Inventive"]
[group.sticky]
strategy = "STICKY"
[group.ring]
strategy = "CONSISTENT_HASH"
strategy_options = { virtual_nodes = 2 }
[group.rooms]
strategy = "MACHINE_ROOM_NEARBY"
[group.own]
strategy = "LAST_COME"
[group.refused]
strategy = "INVENTIVE"
"""


def _ring(*clients: str) -> Mapping[str, list[int]]:
    """Return who should own what in the group under CONSISTENT_HASH."""
    request = AllocationRequest(
        "ring",
        tuple(Candidate(client_id, frozenset({"orders"})) for client_id in clients),
        {"orders": QUEUES},
        options={"virtual_nodes": 2},
    )
    shares = STRATEGIES["CONSISTENT_HASH"].allocate(request).topics["orders"]
    return {name: [queue.queue_id for queue in owned] for name, owned in shares.items()}


FIRST: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ring", "own", "refused", "designated"), "c1"),
    "sticky": "c2",
    "rooms": "main-1",
}
"""Group -> the client that comes first, and has all queues."""

SECOND: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ring", "own", "refused", "designated"), "c2"),
    "sticky": "c1",
    "rooms": "else-1",
}
"""Group -> the client that comes second."""

ALL: Final = [0, 1, 2, 3]
BOTH: Final[Mapping[str, Mapping[str, list[int]]]] = {
    # Under AVG c1, which is first in order, would have 0 and 1, and every queue would move.
    "sticky": {"c2": [0, 1], "c1": [2, 3]},
    "ring": _ring("c1", "c2"),
    # The brokers' name is their room.
    "rooms": {"main-1": ALL, "else-1": []},
    "own": {"c1": [], "c2": ALL},
    "refused": {"c1": ALL, "c2": []},
    "designated": {"c1": ALL, "c2": []},
}
"""Group -> client id -> its queues once both are there."""


def _holding(group: str, client_id: str, numbers: list[int]) -> "Callable[[ConsumerRecord], bool]":
    """Return what recognises the record by which a client may work on these queues, no others."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (body.get("group"), body.get("client_id")) == (group, client_id) and [
            (each["queue"][2], each["state"]) for each in body.get("assigned", ())
        ] == [(number, "held") for number in numbers]

    return wanted


def _decision(log: Log, group: str, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Wait for a decision of a group."""
    return body_of(
        log.await_record(
            "decisions",
            lambda each: body_of(each)["group"] == group and bool(wanted(body_of(each))),
        )
    )


def _held(log: Log, group: str, client_id: str) -> list[int]:
    """Return the queues that a client may work on by its newest record."""
    records = [
        body for body in log.bodies("assignments")
        if (body["group"], body["client_id"]) == (group, client_id) and "assigned" in body
    ]  # fmt: skip
    return [each["queue"][2] for each in records[-1]["assigned"] if each["state"] == "held"]


def _designate(log: Log, group: str, client_id: str) -> None:
    """Let one client alone consume, as an operator does; the others if it is gone."""
    rule = {"kind": "rule", "group": group, "rule": "designated", "by": "test"}
    value = {"only": [client_id], "if_nobody": "all"}
    log.append(
        "control",
        orjson.dumps({"v": 1, **rule, "value": value}),
        orjson.dumps([group, "designated"]),
        partition_of_group(group, SHARDS),
    )


def _start(
    settings: Settings, folder: Path, conf: str, python: Path | str = sys.executable
) -> EngineProcess:
    written = folder / "conf.toml"
    written.write_text(conf, encoding="utf-8")
    return EngineProcess(
        settings, folder / "engine.log", "--config", str(written), python=python, folder=folder
    )


def _workers(engine: EngineProcess) -> list[str]:
    """Return the Pythons that the engine's JVM has started, by the paths of their commands."""
    started = [child for jvm in children_of(engine.pid) for child in children_of(jvm)]
    commands = [Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0") for child in started]
    return [words[0].decode() for words in commands if b"-m" in words]


@pytest.mark.slow
def test_every_group_under_its_strategy(
    settings: Settings, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group is shared as its strategy says, where Fairlead is installed from its wheels."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    python = install(tmp_path, COMPANY / "company_allocation.py")
    packages = ("fairlead", "strategies", "streaming", "sinks", "company_allocation")
    found = origins(python, tmp_path, *packages)
    assert [path.is_relative_to(tmp_path) for path in found] == [True] * len(packages)
    _designate(log, "designated", "c1")
    with Fleet(settings.kafka) as fleet, _start(settings, tmp_path, CONF, python) as engine:
        log.check = engine.check
        first = _join_all(fleet, FIRST)
        for group, client_id in FIRST.items():
            log.await_record("assignments", _holding(group, client_id, ALL))
        _join_all(fleet, SECOND)
        for group, client_id in SECOND.items():
            log.await_record("assignments", _holding(group, client_id, BOTH[group][client_id]))
        refused = _decision(log, "refused", lambda body: body["failures"])
        for group, shares in BOTH.items():
            assert {client_id: _held(log, group, client_id) for client_id in shares} == shares
        assert [each["code"] for each in refused["failures"]] == ["unknown_queue"]
        assert refused["moves"] == []
        assert {*_workers(engine)} == {str(python)}
        _last_designated_leaves(fleet, log, first["designated"])


def _last_designated_leaves(fleet: Fleet, log: Log, designated: Client) -> None:
    """Check that the decision about the leave is the one that lets the others consume."""
    fleet.leave(designated)
    decision = _decision(log, "designated", lambda body: "client_left" in body["triggers"])
    assert decision["members"] == ["c2"]
    assert decision["alarms"] == ["designation_empty"]
    log.await_record("assignments", _holding("designated", "c2", ALL))
    granted = {move["client_id"] for move in decision["moves"] if move["stage"] == "granted"}
    assert granted <= {"c2"}
    assert decision["state"]["unassigned"] == 0


def _join_all(fleet: Fleet, clients: Mapping[str, str]) -> dict[str, Client]:
    return {group: fleet.join(client_id, group) for group, client_id in clients.items()}


@pytest.mark.parametrize(
    "named, said",
    [
        pytest.param(
            "company_allocation:Averagely",
            "has the name 'AVG', which another strategy has",
            marks=pytest.mark.slow,
        ),
        ("no_such_company:LastCome", "cannot be loaded"),
    ],
)
def test_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    """A name that is taken and a module that is not there end the start, with the key and text."""
    monkeypatch.setenv("PYTHONPATH", str(COMPANY))
    settings = load_settings(overrides={"engine.checkpoint": str(tmp_path / "checkpoint")})
    with _start(settings, tmp_path, f'[engine]\nstrategies = ["{named}"]\n') as engine:
        assert engine.await_end() == ExitCode.USAGE
        assert f"engine.strategies: {named} {said}" in " ".join(engine.text().split())
