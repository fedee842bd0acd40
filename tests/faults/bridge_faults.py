"""Faults of the bridge: killed, and a topic grows before another one runs."""

import time
from typing import Final

from fairlead.core.model import MessageQueue
from tests.faults.stage import PATIENT, QUEUES, QUICK, RATE, Stage
from tests.faults.trial import Phase
from tests.kit.awaiting import LONGEST_SECONDS

GROWN: Final = QUEUES + 6
_SHARED_SECONDS_MAX: Final = 60.0
"""From the start of the next bridge; on an idle machine it takes three or four."""
_ASKED: Final = (
    ("group", "check", QUICK.group, "-o", "json"),
    ("group", "check", "--all", "-o", "json"),
    ("doctor", "-o", "json"),
)


def grown_meanwhile(stage: Stage) -> None:
    """SIGKILL; queues are added and filled; told by commands; granted by the next bridge, once."""
    quick, system = stage.quick, stage.system
    added = [MessageQueue(stage.plan.source, "main", number) for number in range(QUEUES, GROWN)]
    with stage.trial("grown while the bridge was dead") as trial:
        with stage.phase(trial, "the bridge is dead", owners=set(), settles=False):
            stage.bridge_down = True
            system.bridge.kill()
            stage.grow(GROWN)
            # By then the producer writes to the new queues as well, and nobody reads them.
            quick.await_processed(10 * RATE)
        told = [_says(stage, *command) for command in _ASKED]
        assert not [queue for queue in added if quick.owner(queue)]
        begun_ns = time.monotonic_ns()
        more = GROWN - QUEUES
        with stage.phase(trial, "another bridge", starts_max=more):
            system.start_bridge()
            stage.bridge_down = False
        stage.patient.await_settled()
        ended_ns = time.monotonic_ns()
        phase = Phase(PATIENT.group, "another bridge", begun_ns, ended_ns, starts_max=more)
        trial.phases.append(phase)
        stage.look_anew()
    words = f"{GROWN - QUEUES} of its {GROWN} queues have no owner"
    assert [each for each in told if words not in each] == []
    assert ended_ns - begun_ns < _SHARED_SECONDS_MAX * 1e9
    for troop in stage.troops:
        _assert_from_the_first(stage, troop.plan.group, added)


def _says(stage: Stage, *command: str) -> str:
    """Return what a command of Fairlead writes, as an operator of this system runs it."""
    child = stage.system.fairlead("-".join(command[:3]), *command)
    try:
        assert child.wait(LONGEST_SECONDS) is not None, command
    finally:
        child.kill()
    return child.log.read_text(encoding="utf-8")


def _assert_from_the_first(stage: Stage, group: str, added: list[MessageQueue]) -> None:
    """Each added queue was granted once, from its first message."""
    stage.read_on()
    granted = [
        (MessageQueue(*move["queue"]), move["position"][0])
        for _, body in stage.bodies("decisions")
        if body["group"] == group
        for move in body.get("moves", ())
        if move["stage"] == "granted"
    ]
    assert sorted(each for each in granted if each[0] in added) == [(each, 0) for each in added]
