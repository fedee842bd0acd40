"""What an observed group is, read from a world: its standing, findings, holders."""

from fairlead.observed.finding import Finding
from fairlead.observed.findings import standing_findings
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.queue_standing import QueueStanding
from fairlead.observed.reading import read_standing
from fairlead.wire.topics import ALL_TOPICS
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.live_group import GROUP, TICK_MS, orders, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import START_MS
from tests.kit.world import World, world_of

__all__ = [
    "clients_of",
    "deafened",
    "forced",
    "found_in",
    "handing_over",
    "listed_in",
    "orders_of",
    "standing_of",
    "started_again",
    "stubborn",
]

HISTORY_MS = 86_400_000


def standing_of(world: World, group: str = GROUP) -> GroupStanding:
    """Return how a group of a world stands."""
    source = MemorySource(world.topics)
    return read_standing(source, group, STRATEGIES, TICK_MS, history_ms=HISTORY_MS)


def found_in(world: World, group: str = GROUP) -> list[Finding]:
    """Return what is wrong with a group of a world."""
    return list(standing_findings(standing_of(world, group)))


def listed_in(world: World) -> dict[str, tuple[str, ...]]:
    """Return what a list of all groups says is wrong with each of them."""
    source = MemorySource(world.topics)
    view = ObservedGroups(source.names, source.partitions, HISTORY_MS, tick_ms=TICK_MS)
    for suffix in ALL_TOPICS:
        view.apply(source.read(suffix, source.partitions_of(suffix)))
    return {each.group: each.problems for each in view.groups(source.now_ms())}


def orders_of(found: GroupStanding, number: int) -> QueueStanding:
    """Return a queue of orders."""
    (queue,) = [each for each in found.queues if each.queue == orders(number)]
    return queue


def clients_of(found: GroupStanding, number: int) -> tuple[list[str], list[str], list[str]]:
    """Return who holds a queue of orders, who gives it up, and who waits for it."""
    queue = orders_of(found, number)
    held, draining, gated = (
        [holder.member.client_id for holder in holders]
        for holders in (queue.held, queue.draining, queue.gated)
    )
    return held, draining, gated


def stubborn(world: World, client_id: str) -> None:
    """Let a client give nothing up any more."""
    for client in world.clients:
        if client.client_id == client_id:
            client.stubborn = True


def deafened(world: World, client_id: str) -> None:
    """Let a client read nothing any more."""
    for client in world.clients:
        if client.client_id == client_id:
            client.deaf = True


def started_again(world: World, client_id: str, start: int, address: str = "") -> None:
    """Let a new process of a client join, and end at its first record."""
    process = {
        "start_ms": START_MS + start,
        "uuid": f"6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1{start:03}",
        "incarnations": 1,
    }
    client = Client(world.topics, GROUP, client_id, life=100 + start)
    client.beat(process=process, address=address)
    world.pass_seconds(1)
    client.leave()
    world.pass_seconds(1)


def handing_over(queues: int = 6) -> World:
    """Return a world in which a member has not released yet what others wait for."""
    world = world_of("c1", "c2", queues=queues)
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(2)
    return world


def forced() -> World:
    """Return a world in which a member hangs, and the engine has granted its queues to others."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rule("on_mute", "force"), rule("timing", {"drain_deadline_ms": 1_000}))
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(30)
    return world
