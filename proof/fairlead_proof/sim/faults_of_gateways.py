"""Faults of gateways. Each function tells whether it happened."""

from fairlead_proof.sim.gateway_process import GatewayProcess
from fairlead_proof.sim.world import SimulatedWorld

__all__ = ["OF_GATEWAYS"]


def _running(world: SimulatedWorld) -> list[GatewayProcess]:
    return [one for one in world.gateways if one.alive and not one.machine.stands]


def gateway_killed(world: SimulatedWorld) -> bool:
    """A gateway is killed; another process starts in its place."""
    running = _running(world)
    if not running:
        return False
    world.chance.pick(running).crash()
    world.timeline.after(world.chance.between(100, 1_500), world.start_gateway)
    return True


def gateway_frozen(world: SimulatedWorld) -> bool:
    """A gateway stands still, for less or for more than a lease."""
    running = _running(world)
    if len(running) < 2:  # noqa: PLR2004 - one shall answer
        return False
    wait_ms = world.scenario.lease_ms * world.chance.between(100, 1_800) // 1_000
    world.chance.pick(running).machine.freeze(wait_ms)
    return True


def gateway_reads_nothing(world: SimulatedWorld) -> bool:
    """A gateway reads nothing of the log for a while, and answers all the same."""
    running = _running(world)
    if not running:
        return False
    wait_ms = world.scenario.lease_ms * world.chance.between(100, 1_500) // 1_000
    gateway = world.chance.pick(running)
    gateway.stuck_until_ms = world.timeline.now_ms + wait_ms
    world.narrate(gateway.name, "reads nothing for", wait_ms, "ms")
    return True


def gateway_answer_lost(world: SimulatedWorld) -> bool:
    """The brokers' answer to a gateway is lost."""
    running = _running(world)
    if not running:
        return False
    world.chance.pick(running).weather.lost_answers += 1
    return True


OF_GATEWAYS = (
    (gateway_killed, 12),
    (gateway_frozen, 10),
    (gateway_reads_nothing, 10),
    (gateway_answer_lost, 4),
)
"""(what happens, how likely it is)."""
