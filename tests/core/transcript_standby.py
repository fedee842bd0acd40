"""The vocabulary of transcripts for groups that stand by.

``standby freeze a b``: these members heartbeat and say so. ``look a b 10.0.0.9@9``: both brokers
list the members, and others by their ids. ``former a 1.3 0:10 1:-``: a tells what it holds frozen,
``-`` for an unknown position.
"""

from typing import Any

from fairlead.core.model import DataPlane, Epoch, MemberProfile, Position
from fairlead.core.standby_records import BrokerMembers, Former, FormerQueue, MembersLook
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of

__all__ = ["former", "look", "standby"]

BRIDGE = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"


def standby(world: GroupWorld, words: list[str]) -> None:
    """Members that follow AVG heartbeat."""
    state: Any = words[0]
    for client in words[1:]:
        plane = DataPlane("rocketmq", f"10.0.0.{client}@1")
        profile = MemberProfile(consume_from="first_offset", data_plane=plane, follows="AVG")
        world.beat(client, profile=profile, standby=state)


def look(world: GroupWorld, words: list[str]) -> None:
    """A bridge tells whom the brokers list."""
    world.clock_ms += 1
    ids = tuple(sorted(word if "@" in word else f"10.0.0.{word}@1" for word in words))
    brokers = (BrokerMembers("broker-a", ids), BrokerMembers("broker-b", ids))
    number = world.offsets.get("offsets", 0) + 1
    seen = MembersLook(GROUP, "main", BRIDGE, number, True, brokers, world.clock_ms)  # noqa: FBT003
    world.add("offsets", seen)


def former(world: GroupWorld, words: list[str]) -> None:
    """A frozen member tells what it holds."""
    client, told, *held = words
    generation, number = told.split(".")
    queues = []
    for word in held:
        queue, offset = word.split(":")
        position = None if offset == "-" else Position(0, int(offset))
        queues.append(FormerQueue(queue_of(int(queue)), position))
    epoch = Epoch(int(generation), int(number))
    world.add("heartbeats", Former(GROUP, key_of(client), epoch, 0, 1, tuple(queues)))
