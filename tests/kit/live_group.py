"""A live group in memory: its rules, its plans, and what commands read of it."""

from collections.abc import Mapping

from fairlead.core.model import MessageQueue
from fairlead.core.records import RuleSet
from fairlead.core.state import GroupState
from fairlead.observed.group_notes import plan_notes
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.reading import read_live_group
from fairlead.planning.changes import Changes, records_of
from fairlead.planning.plan import Plan, plan
from fairlead.wire.control_records import rule_key
from fairlead.wire.encode import encode_rule
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import shard_of
from tests.kit.world import World

GROUP = "orders"
TICK_MS = 1_000


def rule(name: str, value: object) -> RuleSet:
    """Return a rule of the group, for the queue or client that its value names."""
    subject: tuple[str, ...] = ()
    if isinstance(value, dict) and "queue" in value:
        subject = tuple(map(str, value["queue"]))
    elif isinstance(value, dict) and "client_id" in value:
        subject = (value["client_id"],)
    return RuleSet(GROUP, name, subject, value, by="test")


def set_rules(world: World, *rules: RuleSet) -> None:
    """Be an operator who sets rules of the group."""
    for each in rules:
        key = rule_key(each.group, each.rule, each.subject)
        value = encode_rule(each)
        world.topics.append("control", shard_of(GROUP), key, value)


def claimed(world: World) -> None:
    """Let the claim of the engine's generation stand in the log, as every start writes it."""
    for generation in range(1, world.generation + 1):
        world.topics.append("generations", 0, None, {"kind": "generation", "number": generation})


def look(world: World, group: str = GROUP) -> LiveGroup:
    """Return the group as its topics tell it."""
    return read_live_group(MemorySource(world.topics), group, STRATEGIES, TICK_MS)


def remarks(world: World, group: str = GROUP) -> tuple[str, ...]:
    """Return what is said of the group, by a clock that goes right."""
    return plan_notes(look(world, group), world.topics.now_ms)


def owners_of(state: GroupState) -> dict[MessageQueue, str]:
    """Return who holds what in the engine's state and was not told to give it up."""
    return {
        queue: value.chain[-1].member.client_id
        for queue, value in state.queues.items()
        if value.chain and not value.chain[-1].dropped
    }


def planned(world: World, changes: Changes) -> Plan:
    """Return the plan of some changes of the live group."""
    before = look(world).planned
    return plan(before, records_of(before, changes))


def after_of(found: Plan) -> dict[MessageQueue, str]:
    """Return who would have what."""
    return {queue: member.client_id for member in found.members for queue in member.after}


def heard_alone(world: World, seconds: int, *clients: Client, ticking: bool = True) -> None:
    """Let time pass in which only these clients heartbeat and no engine reads."""
    for _ in range(seconds):
        world.topics.now_ms += 1_000
        if ticking:
            world.topics.tick(world.generation)
        for client in clients:
            client.beat()


def worked(world: World, seconds: int, rates: Mapping[int, int]) -> None:
    """Let time pass in which so many messages a second come to each queue of orders."""
    for _ in range(seconds):
        world.pass_seconds(1)
        now_s = world.topics.now_ms // 1_000
        for client in world.clients:
            told = [
                {"queue": [*queue], "epoch": epoch, "position": [0, end], "end": end}
                for queue, (epoch, state) in sorted(client.held.items())
                if state == "held" and queue[0] == "orders"
                for end in [rates.get(queue[2], 10) * now_s]
            ]
            sender = {"group": GROUP, "client_id": client.client_id}
            sender["incarnation"] = client.incarnation
            record = {"kind": "progress", **sender, "queues": told}
            world.topics.append_of("heartbeats", GROUP, record)


def orders(number: int) -> MessageQueue:
    """Return a queue of orders."""
    return MessageQueue("orders", "main", number)
