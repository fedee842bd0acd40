"""Clients restarted one after another, or several at once, as a deployment does it."""

from collections.abc import Sequence
from typing import Any, Final

from tests.faults.judgement import read_lives
from tests.faults.stage import Stage
from tests.faults.troop import TroopPlan

CLIENTS: Final = 40
QUEUES_EACH: Final = 2
_CLIENT: Final[dict[str, Any]] = {"progress_ms": 300, "commit_ms": 1_000}
FORTY: Final = TroopPlan(
    "quick", "q", CLIENTS, {**_CLIENT, "lease_ms": 15_000, "heartbeat_ms": 3_000}
)
GRACE_MS: Final = 60_000


def rolled(stage: Stage, together: int, *, grace: bool) -> int:
    """Stop every client and start it again under its client id, so many at once.

    Its queues go to others and its share comes back: both moves are needed, unless the group waits
    for who restarts. Nothing else may move.

    Returns:
        How many queues were started.
    """
    quick = stage.quick
    needed = CLIENTS * QUEUES_EACH * (1 if grace else 2)
    if grace:
        stage.set_rule("timing", {"restart_grace_ms": GRACE_MS})
    with stage.trial(f"{CLIENTS} clients restarted, {together} at once") as trial:
        before = _starts(stage)
        with stage.phase(trial, "restarted", starts_max=needed):
            names = quick.members()
            for at in range(0, len(names), together):
                _restart(stage, names[at : at + together])
                # Forty clients write much: at the end it would take minutes to read.
                stage.read_on()
        started = _starts(stage) - before
    if grace:
        stage.set_rule("timing", None)
    return started


def _restart(stage: Stage, names: Sequence[str]) -> None:
    quick = stage.quick
    again = [quick.launch(quick.client_id(name)) for name in names]
    seats = quick.fleet.floor.seats
    quick.await_floor(lambda _: all(seats[each].state == "ready" for each in again), "processes")
    for name in names:
        quick.fleet.terminate(name)
    for name in names:
        assert quick.await_end(name) == 0
    quick.join(*again)
    quick.await_floor(lambda floor: all(map(floor.queues_of, again)), "queues of their own")


def _starts(stage: Stage) -> int:
    """Return how many queues the group's clients have started so far, by their journals."""
    return sum(map(len, read_lives(stage.quick.lives(), stage.log).by_queue.values()))
