"""Many groups from one reading: each is seen as it is alone, and one that fails stops no other."""

from typing import Any

import orjson
import pytest

from fairlead.cli.group import check
from fairlead.core.records import TopicAbsent
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.reading import observe_all
from fairlead.observed.verdict import worst_verdict
from fairlead.wire.encode_bridge import encode_absent
from strategies.registry import STRATEGIES
from tests.kit.live_group import TICK_MS, heard_alone, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES, bounds
from tests.kit.observations import HISTORY_MS, standing_of
from tests.kit.world import World

GROUPS = ["billing", "orders", "payments"]


def _world() -> World:
    world = World(queues={"orders": 4})
    for group in GROUPS:
        for client_id in ("c1", "c2"):
            world.join(client_id, group)
    set_rules(world, rule("drain", {"client_id": "c1"}))
    world.pass_seconds(8)
    return world


def _all(world: World) -> ObservedGroups:
    source = MemorySource(world.topics)
    return observe_all(source, STRATEGIES, TICK_MS, history_ms=HISTORY_MS)


def _names(world: World) -> list[str]:
    return _all(world).names()


def test_each_as_it_is_alone() -> None:
    """What one reading of all groups tells of a group is what a reading of it alone tells."""
    world = _world()
    groups = _all(world)
    assert _names(world) == GROUPS
    for group in GROUPS:
        one, alone = groups.any_group(group, world.topics.now_ms), standing_of(world, group)
        assert one.to_full_json() == alone.to_full_json()


def test_who_is_offline_counts() -> None:
    """A group that nobody is in any more is one of them, while a bridge's word of it stands."""
    world = _world()
    for client in world.clients:
        if client.group == "billing":
            client.leave()
    world.pass_seconds(3)
    world.topics.now_ms += 3_600_000
    for place in [place for place in world.topics.rows if place[0] == "t.heartbeats"]:
        del world.topics.rows[place]
    assert _names(world) == GROUPS


def test_who_has_read_all_and_gone_counts() -> None:
    """A check names a group that nobody is in and that waits for nothing; a list leaves it out."""
    world = _world()
    told = bounds("done", "orders", 1)
    told["queues"][0] |= {"max": 10, "committed": [0, 10]}
    value, key = orjson.dumps({"v": 1, **told}), orjson.dumps(["orders", "done"])
    world.topics.append("offsets", 0, key, value)
    groups, now_ms = _all(world), world.topics.now_ms
    assert groups.names() == sorted([*GROUPS, "done"])
    assert [each.group for each in groups.groups(now_ms)] == GROUPS
    verdict = check.verdict_on("done", groups, now_ms)
    assert (verdict.word, verdict.findings) == ("nobody", ())


def test_a_producer_that_mistypes_its_topic() -> None:
    """The answer that a topic is absent makes no group of who asked; nor does one that is gone."""
    world = _world()
    for asking in ("DEFAULT_PRODUCER", "orders"):
        absent = encode_absent(TopicAbsent(asking, "odrers", "main"), NAMES)
        world.topics.append("offsets", 0, absent.key, absent.value)
    world.topics.append("offsets", 0, orjson.dumps(["orders", "gone"]), None)
    world.topics.append("offsets", 0, orjson.dumps(["orders", "nonsense"]), b"{")
    assert _names(world) == GROUPS


def test_each_topic_is_read_once() -> None:
    """However many groups there are, no topic is read a second time."""
    source = MemorySource(_world().topics)
    groups = observe_all(source, STRATEGIES, TICK_MS, history_ms=1_000)
    for group in GROUPS:
        check.verdict_on(group, groups, source.now_ms())
    read = [suffix for suffix, _ in source.reads]
    assert sorted(read) == sorted(set(read))


def test_a_member_with_a_long_lease() -> None:
    """A member that heartbeats seldom is in the list of all groups as in a check of its own."""
    world = _world()
    patient = world.join("c3", "orders", lease_ms=600_000)
    world.pass_seconds(8)
    patient.beat()
    heard_alone(world, 150, *(each for each in world.clients if each is not patient))
    (listed,) = [each for each in _all(world).groups() if each.group == "orders"]
    assert listed.members == len(standing_of(world, "orders").sharing) == 3


def test_one_failing_group_leaves_the_others_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that cannot be made sense of is a finding; the others are checked all the same."""
    world = _world()
    groups = _all(world)
    group_of = groups.any_group

    def failing(group: str, *rest: Any) -> Any:
        if group == "orders":
            raise ZeroDivisionError("nobody expected this")
        return group_of(group, *rest)

    monkeypatch.setattr(groups, "any_group", failing)
    found = {group: check.verdict_on(group, groups, world.topics.now_ms) for group in GROUPS}
    words = {group: each.word for group, each in found.items()}
    assert words == {"billing": "safe", "orders": "unreadable", "payments": "safe"}
    said = found["orders"].to_json()
    assert said.keys() == found["billing"].to_json().keys()
    assert said["phase"] is None
    (problem,) = said["problem_list"]
    assert (problem["for"], problem["problem"]) == (None, "unreadable")
    assert problem["says"] == "ZeroDivisionError: nobody expected this"
    assert worst_verdict(found.values()) == "unreadable"
    assert worst_verdict([found["billing"]]) == "safe"
