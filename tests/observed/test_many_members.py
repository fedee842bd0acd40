"""Whoever may write heartbeats may invent clients of a group: no more is kept than it may have."""

from typing import Any

import orjson
import pytest

from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.members import HeardMember, Members
from fairlead.observed.memory_share import GROUP_BYTES, MemoryShare
from tests.kit.client import Client
from tests.kit.live_group import GROUP, heard_alone, rule, set_rules
from tests.kit.memory_topics import START_MS, shard_of
from tests.kit.observed_world import Reader, empty_view
from tests.kit.world import World, world_of

QUOTA = {"members": 10, "state_bytes": 100_000}
KEPT = 4


class Bounded:
    """A group of small quotas, and a view that knows of them."""

    def __init__(self, *client_ids: str) -> None:
        self.world = world_of(*client_ids)
        set_rules(self.world, rule("quota", QUOTA))
        self._reader, self._view = Reader(self.world), empty_view()
        self._view.apply(self._reader.rows())

    def members(self) -> Members:
        """What the view keeps of the group's members by now."""
        self._view.apply(self._reader.rows())
        return self._view._groups.by_name[GROUP].members  # noqa: SLF001 - nothing else shows it


def told(world: World, client_id: str, **said: Any) -> Client:
    """A client heartbeats that no engine has read."""
    client = Client(world.topics, GROUP, client_id)
    client.beat(**said)
    return client


def subscription(**said: Any) -> dict[str, Any]:
    """A subscription as a heartbeat says it."""
    usual = {"topic": "orders", "expression_type": "tag", "expression": "", "tags": []}
    return {**usual, "sub_version": START_MS, **said}


def tags_of(heard: HeardMember) -> tuple[Any, ...]:
    """What the member subscribes to."""
    return heard.member.subscriptions


def test_what_is_no_field_is_not_kept() -> None:
    """Of a heartbeat only that is kept which it says of its member."""
    group = Bounded("c1")
    process = {"start_ms": START_MS, "uuid": "u", "incarnations": 1, "x": [{}] * 20_000}
    told(group.world, "fat", process=process, y=["z"] * 1_000)
    (fat,) = [each for key, each in group.members().heard.items() if key.client_id == "fat"]
    assert len(repr(fat)) < 4_000


@pytest.mark.parametrize("field", ["ordered", "language", "consume_timestamp_ms", "capacity"])
def test_what_is_no_value_is_not_kept(field: str) -> None:
    """A field of another type makes nobody a member, as in the engine: none is kept as it came."""
    group = Bounded("c1")
    told(group.world, "fat", **{field: [{}] * 20_000})
    assert {key.client_id for key in group.members().heard} == {"c1"}


def test_invented_clients_are_bounded() -> None:
    """They are bounded, and those at work are none of them, whoever came first."""
    group = Bounded("c1", "c2")
    for number in range(200):
        told(group.world, f"invented-{number:03d}")
    for client in group.world.clients:
        client.beat()
    members = group.members()
    assert len(members.heard) == KEPT * QUOTA["members"]
    assert {"c1", "c2"} <= {key.client_id for key in members.heard}


@pytest.mark.parametrize("late", [False, True])
def test_clients_with_much_to_remember(late: bool) -> None:  # noqa: FBT001 - a parameter
    """What they subscribe to is bounded too, also when they say so later; they stay members."""
    group = Bounded("c1")
    tags = [f"tag-{number:04d}" for number in range(1_000)]
    about = {"topic": "orders", "expression_type": "tag", "expression": "*", "tags": tags}
    invented = [told(group.world, f"invented-{number:02d}") for number in range(20)] if late else []
    for number in range(20):
        fat = [{**about, "sub_version": START_MS + 1}]
        if late:
            invented[number].beat(subscriptions=fat)
        else:
            told(group.world, f"invented-{number:02d}", subscriptions=fat)
    members = group.members()
    with_tags = [each for each in members.heard.values() if tags_of(each)[0].tags]
    assert 1 < len(with_tags) < 8
    assert len(members.heard) == (21 if late else 1 + len(with_tags))


def test_room_is_made() -> None:
    """Who has lapsed makes room for who comes."""
    group = Bounded("c1")
    for number in range(100):
        told(group.world, f"invented-{number:03d}")
    heard_alone(group.world, 30, group.world.clients[0])
    told(group.world, "honest")
    assert {key.client_id for key in group.members().heard} == {"c1", "honest"}


def test_many_groups_together_are_bounded() -> None:
    """Of groups together no more is kept than there is room for, and a small one has its place."""
    share = MemoryShare(most=100_000)
    crowds = [Members(share) for _ in range(3)]
    world = world_of()
    for number in range(200):
        told(world, f"invented-{number}", subscriptions=[subscription(tags=["t" * 200] * 10)])
    beats = [orjson.loads(row.value or b"") for row in world.topics.rows_of(shard_of(GROUP))]
    said = [beat for beat in beats if beat["kind"] == "heartbeat"]
    for members in crowds:
        for body in said:
            members.take_heartbeat(body, START_MS, START_MS, GroupRules())
    assert 90_000 < share.used <= 100_000 + 2 * GROUP_BYTES
    assert [len(members.heard) < 60 for members in crowds] == [True] * 3
    assert all(members.heard for members in crowds)
    for members in crowds:
        members.forget_all()
    assert share.used == 0


def test_an_expression_of_no_type() -> None:
    """What the protocol has no word for is not kept, however long it is."""
    group = Bounded("a")
    said = [subscription(expression_type="x" * 60_000)]
    for number in range(5):
        told(group.world, f"long-{number}", subscriptions=said)
    assert {key.client_id for key in group.members().heard} == {"a"}
