"""Changes on purpose, of routes and of rules. Each function tells whether it changed anything."""

from fairlead_client.model import Queue

from fairlead_proof.sim.faults_of_clients import client_joins
from fairlead_proof.sim.world import TOPIC, SimulatedWorld

__all__ = ["CHANGES"]

QUEUES_MAX = 20


def topic_grows(world: SimulatedWorld) -> bool:
    """The topic gets more queues."""
    topic = world.data.topics[TOPIC]
    if not 0 < topic.readable == topic.queues < QUEUES_MAX:
        return False
    world.resize(topic, topic.queues + world.chance.between(1, 3))
    return True


def topic_grows_unanswered(world: SimulatedWorld) -> bool:
    """The topic gets more queues, a bridge reports their bounds late, and a client joins."""
    if not topic_grows(world):
        return False
    world.bridge.late_answers = world.chance.between(1, 3)
    world.bridge.late_ms = world.chance.between(500, 4_000)

    def somebody_joins() -> None:
        client_joins(world)

    world.timeline.after(world.chance.between(100, 1_500), somebody_joins)
    return True


def topic_shrinks(world: SimulatedWorld) -> bool:
    """Some queues of the topic become unreadable for a while."""
    topic = world.data.topics[TOPIC]
    fewer = topic.readable - world.chance.between(1, 2)
    if fewer < 1 or topic.readable < topic.queues:
        return False
    world.resize(topic, fewer)
    wait_ms = world.chance.between(500, 6_000)
    version = topic.version

    def show_again() -> None:
        if topic.version == version and topic.readable:
            world.resize(topic, topic.queues)

    world.timeline.after(wait_ms, show_again)
    return True


def topic_deleted(world: SimulatedWorld) -> bool:
    """The topic is deleted, and later recreated."""
    topic = world.data.topics[TOPIC]
    if not topic.readable:
        return False
    world.resize(topic, 0)
    queues = world.chance.between(7, 12)
    wait_ms = world.chance.between(500, 4_000)

    def make() -> None:
        if not topic.readable:
            world.recreate(topic, queues)

    world.timeline.after(wait_ms, make)
    return True


def topic_made_anew(world: SimulatedWorld) -> bool:
    """The topic is deleted and recreated at once, so that nobody sees it missing."""
    topic = world.data.topics[TOPIC]
    if not topic.readable:
        return False
    world.recreate(topic, world.chance.between(7, 12))
    return True


def strategy_changed(world: SimulatedWorld) -> bool:
    """An operator chooses another strategy."""
    name = world.chance.pick(("AVG", "AVG_BY_CIRCLE", "STICKY", "CONSISTENT_HASH"))
    world.set_rule("strategy", (), {"name": name})
    return True


def trigger_changed(world: SimulatedWorld) -> bool:
    """An operator chooses another trigger period."""
    world.set_timing("trigger_ms", world.chance.pick((2_000, 5_000, 30_000)))
    return True


def client_drained(world: SimulatedWorld) -> bool:
    """An operator drains a client, and lets it work again after a while."""
    living = world.living
    if len(living) < 2:  # noqa: PLR2004 - of one client nothing can go to another
        return False
    client_id = world.chance.pick(living).who.client_id
    world.set_rule("drain", (client_id,), {"client_id": client_id})
    wait_ms = world.chance.between(2_000, 8_000)
    world.timeline.after(wait_ms, lambda: world.set_rule("drain", (client_id,), None))
    return True


def group_paused(world: SimulatedWorld) -> bool:
    """An operator pauses the group, and lets it go on after a while."""
    world.set_rule("pause", (), value=True)
    wait_ms = world.chance.between(1_000, 6_000)
    world.timeline.after(wait_ms, lambda: world.set_rule("pause", (), None))
    return True


def settling_changed(world: SimulatedWorld) -> bool:
    """An operator sets a settle window, or removes it."""
    world.set_timing("settle_ms", world.chance.pick((0, 500, 2_000)))
    return True


def grace_changed(world: SimulatedWorld) -> bool:
    """An operator sets a restart grace, or removes it."""
    world.set_timing("restart_grace_ms", world.chance.pick((0, 2_000, 5_000)))
    return True


def queue_reset_back(world: SimulatedWorld) -> bool:
    """An operator lets a queue be read again from an earlier offset."""
    return _reset(world, back=True)


def queue_reset_forward(world: SimulatedWorld) -> bool:
    """An operator lets messages of a queue be skipped."""
    return _reset(world, back=False)


def _reset(world: SimulatedWorld, *, back: bool) -> bool:
    topic = world.data.topics[TOPIC]
    known = [
        queue for queue in topic.readable_queues() if Queue(*queue) in world.judge.start_checks.done
    ]
    if not known:
        return False
    queue = world.chance.pick(known)
    done = world.judge.start_checks.done[Queue(*queue)][1]
    world.reset(queue, world.chance.below(done + 1) if back else done + world.chance.between(1, 20))
    return True


CHANGES = (
    (queue_reset_back, 5),
    (queue_reset_forward, 5),
    (group_paused, 4),
    (settling_changed, 4),
    (grace_changed, 4),
    (topic_grows, 6),
    (topic_grows_unanswered, 6),
    (topic_shrinks, 4),
    (topic_deleted, 3),
    (topic_made_anew, 3),
    (strategy_changed, 13),
    (trigger_changed, 3),
    (client_drained, 11),
)
"""(what happens, how likely it is)."""
