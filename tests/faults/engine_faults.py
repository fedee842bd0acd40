"""Faults of the engine: killed, standing still, twice on one checkpoint, an old checkpoint."""

import contextlib
import os
import random
import re
import shutil
import signal
import time
from typing import Final

from fairlead_proof.local.child import Child
from fairlead_proof.local.processes import family_of

from fairlead.errors import ExitCode
from tests.faults.stage import JOIN_STARTS_MAX, LEASE_SECONDS, RATE, Stage
from tests.faults.standstill import Standstill, thread_states
from tests.faults.trial import Trial
from tests.kit.engine_process import copy_checkpoint

KILLED: Final = ("all", "driver", "jvm")
"""Which process of the engine is killed: driver and JVM at once, or one of them."""
_END_SECONDS_MAX: Final = 60.0


def killed(
    stage: Stage, chance: random.Random, what: str, down_seconds: float = LEASE_SECONDS
) -> None:
    """SIGKILL at any moment of a join, and a start when every lease could have ended since."""
    quick = stage.quick
    with stage.trial(f"engine killed: {what}") as trial:
        with stage.phase(trial, "killed in a join", starts_max=JOIN_STARTS_MAX):
            quick.reinforce()
            # Any moment of the decision, which takes some tenths of a second, or after it.
            quick.await_processed(chance.randrange(RATE))
            kill_engine(stage, what)
            dead_ns = time.monotonic_ns()
            # With the start itself, longer than lease and margin.
            quick.await_processed(round(down_seconds * RATE))
            stage.start_engine()
            assert time.monotonic_ns() - dead_ns > down_seconds * 1e9
        one_leaves(stage, trial, chance)


def joined_without_one(stage: Stage, chance: random.Random) -> None:
    """Who joins while no engine runs says that none answers, and works once one does."""
    quick = stage.quick
    with stage.trial("joined without an engine") as trial:
        with stage.phase(trial, "joined without one", starts_max=JOIN_STARTS_MAX):
            kill_engine(stage, "all")
            newcomer = quick.reinforce()
            said = re.compile(rf"{newcomer} of \S+ has waited \d+ s for engine: no engine has a")
            quick.await_floor(
                lambda _: said.search(quick.fleet.log_tail(newcomer)) is not None,
                f"{newcomer} says that no engine answers",
            )
            stage.start_engine()
        assert quick.queues_of(newcomer)
        one_leaves(stage, trial, chance)


def stood_still(stage: Stage, chance: random.Random) -> None:
    """SIGSTOP of driver, JVM and workers for one and a half leases: nobody lapses."""
    with stage.trial("engine stood still") as trial:
        with (
            stage.phase(trial, "stood still", owners=set()),
            Standstill(stage.system.engine.pid) as still,
        ):
            assert len(still.pids) > 1
            still.hold(1.5 * LEASE_SECONDS)
        # The engine has read on, and says so.
        stage.reinforce(trial)
        one_leaves(stage, trial, chance)


def second_on_its_checkpoint(stage: Stage, _chance: random.Random) -> None:
    """A second engine on the checkpoint in use is refused, and disturbs nobody."""
    with (
        stage.trial("two engines on one checkpoint") as trial,
        stage.phase(trial, "refused", owners=set()),
    ):
        flags = ("--checkpoint", str(stage.checkpoint), "--metrics-port", "0")
        second = stage.system.fairlead("second", "run", *flags)
        try:
            assert second.wait(_END_SECONDS_MAX) == ExitCode.REFUSED
            assert "is in use by the driver" in second.log.read_text(encoding="utf-8")
        finally:
            second.kill()


def second_on_a_copy(stage: Stage, chance: random.Random) -> None:
    """A second engine on a copy takes over; the first, which stood still meanwhile, gives way."""
    quick = stage.quick
    with stage.trial("two engines on two checkpoints") as trial:
        first, copy = stage.system.engine, stage.plan.folder / f"copy-{stage.generation}"
        with stage.phase(trial, "taken over", starts_max=JOIN_STARTS_MAX):
            with Standstill(first.pid) as still:
                # What the first has begun of the join it may yet write.
                quick.reinforce()
                copy_checkpoint(stage.checkpoint, copy)
                stage.checkpoint = copy
                stage.start_engine()
                assert still.is_complete()
            assert first.wait(_END_SECONDS_MAX) == ExitCode.SUPERSEDED
        one_leaves(stage, trial, chance)


def old_checkpoint(stage: Stage, chance: random.Random) -> None:
    """The driver is killed, and starts on a checkpoint from before its last decisions."""
    with stage.trial("yesterday's checkpoint") as trial:
        copy = stage.plan.folder / f"yesterday-{stage.generation}"
        copy_checkpoint(stage.checkpoint, copy)
        stage.reinforce(trial)
        one_leaves(stage, trial, chance)
        kill_engine(stage, "driver")
        stage.is_told_anew(trial)
        shutil.rmtree(stage.checkpoint)
        copy.rename(stage.checkpoint)
        with stage.phase(trial, "started on the old state", owners=set()):
            stage.start_engine()


def one_leaves(stage: Stage, trial: Trial, chance: random.Random) -> None:
    """A client of the quick group leaves: its queues alone may move."""
    leaving = chance.choice(stage.quick.members())
    with stage.phase(trial, "one leaves", owners={stage.quick.client_id(leaving)}):
        stage.quick.fleet.leave(leaving)


def lost_checkpoint(stage: Stage, chance: random.Random) -> None:
    """The JVM is killed in a join and all state is gone: the next engine asks who works on what."""
    with stage.trial("checkpoint lost") as trial:
        with stage.phase(trial, "lost in a join", starts_max=JOIN_STARTS_MAX):
            stage.quick.reinforce()
            stage.quick.await_processed(chance.randrange(RATE))
            kill_engine(stage, "jvm")
            shutil.rmtree(stage.checkpoint)
            stage.is_told_anew(trial)
            stage.start_engine()
        one_leaves(stage, trial, chance)


def kill_engine(stage: Stage, what: str) -> None:
    """SIGKILL to some of the engine's processes; return when all of them are gone.

    The driver ends without its JVM, and the JVM without its driver.
    """
    stage.engine_down = True
    engine = stage.system.engine
    driver, *others = [process.pid for process in family_of(engine.pid)]
    assert others, "the engine has no JVM"
    targets = {"all": [driver, *others], "driver": [driver], "jvm": others}[what]
    for pid in targets:
        # A worker ends by itself when its JVM is gone.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert engine.wait(_END_SECONDS_MAX) == (
        ExitCode.QUERY_DIED if what == "jvm" else -signal.SIGKILL
    )
    _await_gone(stage, engine, others)


def _await_gone(stage: Stage, engine: Child, pids: list[int]) -> None:
    engine.kill()
    stage.quick.await_floor(
        lambda _: not any(set(thread_states(pid)) - set("ZX") for pid in pids),
        "end of the engine's processes",
    )
