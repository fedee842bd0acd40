"""The end of a schedule: faults stop, and the whole group must come to rest within a bound."""

from fairlead_client.model import Queue
from fairlead_client.session.states import SessionState

from fairlead.codec.shard import open_shard
from fairlead_proof.sim.violation import BreachError
from fairlead_proof.sim.world import TOPIC, SimulatedWorld

__all__ = ["heal", "settle"]

LOOKS_EVERY_MS = 250
HEAL_BACK_OFF_MS = 32_000
"""After four heals in vain a member waits this long for the next."""
REQUEST_BACK_OFF_MS = 16_000
QUIET_MS = 1_500
GRACE_MS = 7_000
"""The longest restart grace and settle window together."""


def heal(world: SimulatedWorld) -> None:
    """End all faults."""
    world.narrate("operator", "lets everything heal")
    world.kafka.up = world.heals = True
    world.bridge.away_until_ms = world.bridge.late_answers = 0
    topic = world.data.topics[TOPIC]
    if not topic.readable:
        world.recreate(topic, topic.queues or world.scenario.queues)
    elif topic.readable < topic.queues:
        world.resize(topic, topic.queues)
    for rule, subject in [key for key in world.rules if key[0] in ("drain", "pause")]:
        world.set_rule(rule, subject, None)
    for client in world.living:
        client.machine.thaw()
        client.following.stuck_until_ms = 0
        client.application.slow_times = client.commits_fail = 0
        client.weather.lost_answers = client.weather.late_answers = client.weather.repeated = 0
        client.speak()
    for gateway in world.gateways:
        gateway.machine.thaw()
        gateway.stuck_until_ms = 0
        gateway.slowness = 1
        gateway.weather.lost_answers = 0
    if not world.living:
        world.join()
    for driver in world.drivers:
        driver.stands_until_ms = driver.slow_ms = driver.ticks_late = 0
        driver.death = None
        driver.loses = driver.retries = 0
    world.start_if_none()


def settle(world: SimulatedWorld) -> int:
    """Wait until the group has been at rest for a while; return how long it took.

    At rest means: every queue has an owner, the engine waits for nothing, and it has written
    nothing for long enough to notice every death.

    Raises:
        BreachError: the group is not at rest within the bound.
    """
    begun_ms = rested_ms = world.timeline.now_ms
    bound_ms, quiet_ms = bound(world), world.scenario.gone_ms + QUIET_MS
    while True:
        if not world.living:
            # The last client was leaving.
            world.join()
        before = world.judge.grants.written
        world.timeline.run_until(world.timeline.now_ms + LOOKS_EVERY_MS)
        now_ms = world.timeline.now_ms
        missing = unsettled(world)
        if missing is not None or world.judge.grants.written != before:
            rested_ms = now_ms
        if now_ms - rested_ms >= quiet_ms:
            world.narrate("group", "has been at rest since", rested_ms, "ms")
            return rested_ms - begun_ms
        if now_ms - begun_ms > bound_ms + quiet_ms:
            raise BreachError(
                "STUCK", f"after {bound_ms} ms without a fault: {missing or 'still told things'}"
            )


def bound(world: SimulatedWorld) -> int:
    """Return how long the group may take to come to rest, in milliseconds."""
    scenario = world.scenario
    return (
        2 * scenario.gone_ms
        + 2 * min(scenario.drain_deadline_ms, 10_000)
        + HEAL_BACK_OFF_MS
        + REQUEST_BACK_OFF_MS
        + GRACE_MS
    )


def unsettled(world: SimulatedWorld) -> str | None:
    """Return what is not at rest yet; None: everything is at rest."""
    for client in world.living:
        if client.session.state is not SessionState.RUNNING:
            return f"{client.name} is {client.session.state.value}"
    owned: set[Queue] = set()
    for client in world.living:
        for work in client.application.works.values():
            if work.stops_ms is not None or not client.owns(work):
                return f"{client.name} lets go of {work.queue}"
            owned.add(work.queue)
    wanted = {
        Queue(*queue)
        for name in {name for client in world.living for name in client.topics}
        for queue in world.data.topics[name].readable_queues()
    }
    if wanted - owned:
        return f"nobody works on {sorted(wanted - owned)}"
    if owned - wanted:
        return f"somebody works on {sorted(owned - wanted)}"
    unfollowed = [queue for queue in world.judge.start_checks.unfollowed() if queue in wanted]
    if unfollowed:
        return f"nobody has followed the newest reset of {unfollowed}"
    phase = _phase(world)
    return None if phase == "stable" else f"the engine's group is in the phase {phase}"


def _phase(world: SimulatedWorld) -> str:
    stored = world.checkpoint.newest.stored
    if stored is None:
        return "unknown"
    return open_shard(stored).slots[world.scenario.group].phase
