"""Faults and changes of clients. Each function tells whether it happened."""

from fairlead_client.session.states import SessionState

from fairlead_proof.sim.client import Client
from fairlead_proof.sim.thin_client import ThinClient
from fairlead_proof.sim.world import OTHER_TOPIC, TOPIC, SimulatedWorld

__all__ = ["OF_CLIENTS"]

CLIENTS_MAX = 7


def _awake(world: SimulatedWorld) -> list[Client | ThinClient]:
    """Return the processes that run now and have joined."""
    return [
        client
        for client in world.living
        if not client.machine.stands and client.session.state is SessionState.RUNNING
    ]


def client_joins(world: SimulatedWorld) -> bool:
    """A new process starts."""
    if len(world.living) >= CLIENTS_MAX:
        return False
    world.join()
    return True


def client_leaves(world: SimulatedWorld) -> bool:
    """A process is closed by its application."""
    awake = _awake(world)
    if len(awake) < 2:  # noqa: PLR2004 - somebody shall stay
        return False
    world.chance.pick(awake).leave()
    return True


def client_crashes(world: SimulatedWorld) -> bool:
    """A process is killed."""
    living = world.living
    if len(living) < 2:  # noqa: PLR2004 - somebody shall stay
        return False
    world.chance.pick(living).crash()
    return True


def client_restarts(world: SimulatedWorld) -> bool:
    """A process is killed, and started again under its client id."""
    awake = _awake(world)
    if not awake:
        return False
    client = world.chance.pick(awake)
    client.crash()
    wait_ms = world.chance.between(100, 2_000)
    client_id, topics = client.who.client_id, client.topics
    world.timeline.after(wait_ms, lambda: world.join_again(client_id, topics))
    return True


def _paused(world: SimulatedWorld, permille: int) -> bool:
    awake = _awake(world)
    if not awake:
        return False
    client = world.chance.pick(awake)
    client.freeze(world.scenario.lease_ms * permille // 1_000)
    return True


def client_paused_within_lease(world: SimulatedWorld) -> bool:
    """A process stands still for half a lease."""
    return _paused(world, 500)


def client_paused_past_lease(world: SimulatedWorld) -> bool:
    """A process stands still for one and a half leases."""
    return _paused(world, 1_500)


def client_paused_for_long(world: SimulatedWorld) -> bool:
    """A process stands still for three leases."""
    return _paused(world, 3_000)


def client_id_used_twice(world: SimulatedWorld) -> bool:
    """Another process starts under the client id of one that runs."""
    awake = _awake(world)
    if not awake or len(world.living) >= CLIENTS_MAX:
        return False
    client = world.chance.pick(awake)
    world.join(client.who.client_id, client.topics)
    return True


def client_reads_nothing(world: SimulatedWorld) -> bool:
    """The reader of a process is stuck for longer than a third of the lease."""
    awake = _awake(world)
    if not awake:
        return False
    client, lease_ms = world.chance.pick(awake), world.scenario.lease_ms
    wait_ms = world.chance.between(lease_ms // 2, lease_ms * 3 // 2)
    client.following.stuck_until_ms = world.timeline.now_ms + wait_ms
    world.narrate(client.name, "reads nothing for", wait_ms, "ms")
    return True


def client_reads_again(world: SimulatedWorld) -> bool:
    """A process reads an old assignment once more."""
    awake = _awake(world)
    return bool(awake) and world.chance.pick(awake).read_again()


def client_is_mute(world: SimulatedWorld) -> bool:
    """A process stops nothing for a while, although it heartbeats."""
    awake = [client for client in _awake(world) if not client.mute]
    if not awake:
        return False
    client = world.chance.pick(awake)
    wait_ms = world.chance.between(2_000, 8_000)
    if world.scenario.on_mute == "force":
        wait_ms += world.scenario.drain_deadline_ms + world.scenario.lease_ms
    world.narrate(client.name, "is mute for", wait_ms, "ms")
    client.mute = True
    world.timeline.after(wait_ms, client.speak)
    return True


def application_slow(world: SimulatedWorld) -> bool:
    """An application takes up to two seconds to stop."""
    awake = _awake(world)
    if not awake:
        return False
    application = world.chance.pick(awake).application
    application.slow_ms, application.slow_times = 2_000, world.chance.between(1, 4)
    return True


def application_past_deadline(world: SimulatedWorld) -> bool:
    """An application takes longer to stop than the drain deadline allows."""
    awake = [client for client in _awake(world) if client.application.works]
    if not awake or world.scenario.client_deadline_ms > DEADLINE_SHORT_MS:
        return False
    client = world.chance.pick(awake)
    application = client.application
    application.slow_ms = world.scenario.client_deadline_ms + 1_500
    application.slow_times = world.chance.between(1, 3)
    return True


DEADLINE_SHORT_MS = 6_000


def subscription_changes(world: SimulatedWorld) -> bool:
    """A process subscribes to another topic as well, or no longer."""
    awake = _awake(world)
    if not awake:
        return False
    client = world.chance.pick(awake)
    client.subscribe((TOPIC,) if OTHER_TOPIC in client.topics else (TOPIC, OTHER_TOPIC))
    return True


def commits_fail(world: SimulatedWorld) -> bool:
    """The data plane refuses a few commits, or keeps them and does not say so."""
    awake = _awake(world)
    if not awake or not world.scenario.commits:
        return False
    world.chance.pick(awake).commits_fail = world.chance.between(1, 5)
    return True


OF_CLIENTS = (
    (client_joins, 30),
    (client_leaves, 28),
    (client_crashes, 6),
    (client_restarts, 10),
    (client_paused_within_lease, 4),
    (client_paused_past_lease, 4),
    (client_paused_for_long, 3),
    (client_id_used_twice, 3),
    (client_reads_nothing, 3),
    (client_reads_again, 3),
    (client_is_mute, 3),
    (application_slow, 3),
    (application_past_deadline, 4),
    (subscription_changes, 5),
    (commits_fail, 3),
)
"""(what happens, how likely it is)."""
