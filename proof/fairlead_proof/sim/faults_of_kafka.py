"""Faults of the broker and of the network. Each function tells whether it happened.

A fault of somebody's next request counts when it strikes.
"""

from fairlead_proof.sim.client import Client
from fairlead_proof.sim.thin_client import ThinClient
from fairlead_proof.sim.world import SimulatedWorld

__all__ = ["OF_KAFKA"]


def broker_away_within_lease(world: SimulatedWorld) -> bool:
    """The broker answers nobody for less than a lease."""
    return _away(world, world.chance.between(200, 600))


def broker_away_past_lease(world: SimulatedWorld) -> bool:
    """The broker answers nobody for longer than a lease: every client stops by itself."""
    return _away(world, world.chance.between(1_200, 1_800))


def _away(world: SimulatedWorld, permille: int) -> bool:
    if not world.kafka.up:
        return False
    wait_ms = world.scenario.lease_ms * permille // 1_000
    world.narrate("broker", "is away for", wait_ms, "ms")
    world.kafka.up = False

    def come_back() -> None:
        world.narrate("broker", "is back")
        world.kafka.up = True

    world.timeline.after(wait_ms, come_back)
    return True


def clock_jumps_ahead(world: SimulatedWorld) -> bool:
    """The broker's clock jumps ahead; once within a lease is what the margin bears."""
    if world.timeline.now_ms < world.next_jump_ms:
        return False
    world.next_jump_ms = world.timeline.now_ms + 2 * world.scenario.gone_ms
    jump_ms = world.chance.pick((1_500, 5_000, 60_000, 3_600_000))
    world.narrate("broker", "has its clock jump ahead by", jump_ms, "ms")
    world.kafka.skew_ms += jump_ms
    return True


def clock_jumps_back(world: SimulatedWorld) -> bool:
    """The broker's clock jumps back."""
    jump_ms = world.chance.pick((1_000, 5_000, 60_000))
    world.narrate("broker", "has its clock jump back by", jump_ms, "ms")
    world.kafka.skew_ms -= jump_ms
    return True


def log_compacted(world: SimulatedWorld) -> bool:
    """Compaction removes records with a newer record of the same key."""
    partitions = [world.kafka.partition("assignments", number) for number in range(4)]
    partitions += [world.kafka.partition(suffix) for suffix in ("control", "routes", "offsets")]
    taken = sum(partition.compact() for partition in partitions)
    if taken:
        world.narrate("broker", "compacts away", taken, "records")
    return taken > 0


def _struck(world: SimulatedWorld) -> Client | ThinClient | None:
    living = world.living
    return world.chance.pick(living) if living else None


def answer_lost(world: SimulatedWorld) -> None:
    """The answer to a request is lost: the client sends again, or counts it as failed."""
    client = _struck(world)
    if client is not None:
        client.weather.lost_answers += world.chance.pick((1, 1, 3))


def answer_late(world: SimulatedWorld) -> None:
    """The answer to a request is late."""
    client = _struck(world)
    if client is not None:
        client.weather.late_answers += world.chance.between(1, 3)
        client.weather.late_ms = world.chance.between(200, world.scenario.lease_ms)


def record_repeated(world: SimulatedWorld) -> None:
    """A request is appended twice."""
    client = _struck(world)
    if client is not None:
        client.weather.repeated += world.chance.between(1, 4)


def malformed_record(world: SimulatedWorld) -> bool:
    """Somebody writes a malformed record."""
    suffix = world.chance.pick(("heartbeats", "releases", "control", "offsets"))
    value = world.chance.pick((b"{", b"null", b'{"v":9,"kind":"heartbeat"}', b"\xff", b"[]", None))
    world.kafka.append(world.kafka.partition(suffix), world.scenario.group.encode(), value)
    return True


def bridge_away(world: SimulatedWorld) -> bool:
    """The bridge answers nothing for a while."""
    wait_ms = world.chance.between(1_000, 5_000)
    world.bridge.away_until_ms = world.timeline.now_ms + wait_ms
    world.narrate("bridge", "is away for", wait_ms, "ms")
    return True


def bridge_late(world: SimulatedWorld) -> bool:
    """The next answers of the bridge are late."""
    world.bridge.late_answers = world.chance.between(1, 3)
    world.bridge.late_ms = world.chance.between(500, 4_000)
    return True


OF_KAFKA = (
    (broker_away_within_lease, 3),
    (broker_away_past_lease, 2),
    (clock_jumps_ahead, 4),
    (clock_jumps_back, 3),
    (log_compacted, 3),
    (answer_lost, 4),
    (answer_late, 4),
    (record_repeated, 3),
    (malformed_record, 3),
    (bridge_away, 3),
    (bridge_late, 3),
)
"""(what happens, how likely it is)."""
