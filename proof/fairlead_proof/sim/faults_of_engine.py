"""Faults of the engine. Each function tells whether it happened.

Deaths within a batch, tasks that run twice and lost records count when they strike.
"""

from fairlead_proof.sim.checkpoint import Checkpoint
from fairlead_proof.sim.driver import Death, Driver
from fairlead_proof.sim.world import SimulatedWorld

__all__ = ["OF_ENGINE"]

DOWN_MS = 60_000


def _running(world: SimulatedWorld) -> Driver | None:
    driver = world.driver
    if driver is None or not driver.generation or driver.stands_until_ms > world.timeline.now_ms:
        return None
    return driver


def _dies(world: SimulatedWorld, death: Death) -> None:
    driver = _running(world)
    if driver is not None:
        driver.death = death


def engine_dies_before_sink(world: SimulatedWorld) -> None:
    """A driver dies after its cut is fixed and before it writes anything."""
    _dies(world, Death.BEFORE_SINK)


def engine_dies_partly_written(world: SimulatedWorld) -> None:
    """A driver dies while it writes."""
    _dies(world, Death.PARTLY_WRITTEN)


def engine_dies_after_sink(world: SimulatedWorld) -> None:
    """A driver dies after it wrote and before it commits."""
    _dies(world, Death.AFTER_SINK)


def task_run_twice(world: SimulatedWorld) -> None:
    """A task dies, perhaps after it wrote something, and is run again by the same driver."""
    driver = _running(world)
    if driver is not None:
        driver.retries += world.chance.between(1, 2)


def record_lost(world: SimulatedWorld) -> None:
    """A client never gets to see a record that was written for it."""
    driver = _running(world)
    if driver is not None:
        driver.loses += world.chance.between(1, 4)


def engine_down_for_a_minute(world: SimulatedWorld) -> bool:
    """The engine is killed, and started again after a minute."""
    driver = _running(world)
    if driver is None:
        return False
    driver.kill()
    world.timeline.after(DOWN_MS, world.start_if_none)
    return True


def engine_paused(world: SimulatedWorld) -> bool:
    """The driver stands still for longer than a lease."""
    driver = _running(world)
    if driver is None:
        return False
    driver.freeze(world.scenario.lease_ms * world.chance.pick((600, 1_500)) // 1_000)
    return True


def batch_slow(world: SimulatedWorld) -> bool:
    """The next batch takes seconds."""
    driver = _running(world)
    if driver is None:
        return False
    driver.slow_ms = world.chance.between(1_000, world.scenario.lease_ms)
    return True


def ticks_late(world: SimulatedWorld) -> bool:
    """The next ticks are late, and then come all at once."""
    driver = _running(world)
    if driver is None:
        return False
    driver.ticks_late = world.chance.between(1, 6)
    driver.ticks_late_ms = world.chance.between(1, 6) * world.scenario.tick_ms
    return True


def old_checkpoint(world: SimulatedWorld) -> bool:
    """The engine is killed, and an older checkpoint is put in place of the newest."""
    driver = _running(world)
    back = world.chance.between(1, 10)
    if driver is None or not world.checkpoint.can_go_back(back):
        return False
    driver.kill()
    world.narrate("operator", "puts back the checkpoint of", back, "batches ago")
    world.checkpoint.put_back(back)
    world.timeline.after(world.chance.between(100, 1_000), world.start_if_none)
    return True


def second_engine_same_checkpoint(world: SimulatedWorld) -> bool:
    """Another driver starts on the checkpoint of one that stands still, and later goes on."""
    driver = _running(world)
    if driver is None:
        return False
    driver.deaf = True
    driver.freeze(world.chance.between(500, world.scenario.lease_ms * 3 // 2))
    world.start_driver()
    return True


def second_engine_other_checkpoint(world: SimulatedWorld) -> bool:
    """Another driver starts on a copy of the checkpoint, older perhaps, while one runs."""
    driver = _running(world)
    back = world.chance.between(0, 3)
    if driver is None or not world.checkpoint.can_go_back(back):
        return False
    world.narrate("operator", "copies the checkpoint of", back, "batches ago")
    driver.deaf = world.chance.happens(0.5)
    world.start_driver(world.checkpoint.copied(back))
    return True


def checkpoint_lost(world: SimulatedWorld) -> bool:
    """The engine is killed, and its checkpoint is lost."""
    driver = _running(world)
    if driver is None or (driver.generation == 1 and world.checkpoint.newest.stored is None):
        return False
    driver.kill()
    world.narrate("operator", "loses the checkpoint")
    world.checkpoint = Checkpoint()
    world.timeline.after(world.chance.between(100, 1_000), world.start_if_none)
    return True


def second_engine_without_state(world: SimulatedWorld) -> bool:
    """Another driver starts on an empty checkpoint of its own, while one runs."""
    driver = _running(world)
    if driver is None:
        return False
    driver.deaf = world.chance.happens(0.5)
    world.start_driver(Checkpoint())
    return True


OF_ENGINE = (
    (checkpoint_lost, 3),
    (second_engine_without_state, 3),
    (engine_dies_before_sink, 3),
    (engine_dies_partly_written, 3),
    (engine_dies_after_sink, 3),
    (task_run_twice, 4),
    (record_lost, 6),
    (engine_down_for_a_minute, 2),
    (engine_paused, 3),
    (batch_slow, 3),
    (ticks_late, 3),
    (old_checkpoint, 3),
    (second_engine_same_checkpoint, 3),
    (second_engine_other_checkpoint, 3),
)
"""(what happens, how likely it is)."""
