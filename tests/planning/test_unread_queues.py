"""A drain of the last client that reads a topic is refused; one that others make up for is not."""

from types import SimpleNamespace
from typing import Any

import pytest

from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.records import RuleSet
from fairlead.errors import ExitCode, RefusedError
from fairlead.operating.rule_changes import Allowed, OperatedGroup, Signature
from fairlead.planning.unread_queues import left_unread, require_readers
from fairlead.settings import load_settings
from strategies.registry import STRATEGIES
from tests.kit.live_group import GROUP, look, rule, set_rules
from tests.kit.memory_source import MemorySource
from tests.kit.world import World, world_of


def _drains(*client_ids: str) -> list[RuleSet]:
    return [rule("drain", {"client_id": client_id}) for client_id in client_ids]


def _refused(world: World, *client_ids: str) -> str:
    with pytest.raises(RefusedError) as refused:
        require_readers(look(world).planned, _drains(*client_ids))
    assert refused.value.exit_code == ExitCode.REFUSED
    assert "--leave-unread" in refused.value.remedy
    return refused.value.message


@pytest.mark.parametrize("paused", [False, True])
def test_the_last_client_cannot_be_drained(*, paused: bool) -> None:
    """One of two may be drained; both of them, or the one that is left, may not."""
    world = world_of("c1", "c2", queues={"orders": 26})
    if paused:
        set_rules(world, rule("pause", value=True))
        world.pass_seconds(3)
    require_readers(look(world).planned, _drains("c1"))
    words = "orders: nobody would read 26 queues of orders; nothing is written"
    assert words in _refused(world, "c1", "c2")
    set_rules(world, *_drains("c1"))
    world.pass_seconds(8)
    assert words in _refused(world, "c2")


def test_the_last_of_one_topic() -> None:
    """Who alone subscribes to a topic is the last that could read it, whoever else is there."""
    world = world_of("c1", queues={"orders": 4, "payments": 1})
    world.join("c2", subscribed=("orders",))
    world.pass_seconds(8)
    require_readers(look(world).planned, _drains("c2"))
    assert "nobody would read 1 queue of payments; " in _refused(world, "c1")


def test_what_nobody_reads_now() -> None:
    """What has nobody as it is does not count again, and other rules are not judged."""
    world = world_of("c1", "c2", queues={"orders": 4})
    nobody = rule("designated", {"only": ["c9"], "if_nobody": "nobody"})
    assert left_unread(look(world).planned, [nobody]) == {}
    set_rules(world, nobody)
    world.pass_seconds(8)
    require_readers(look(world).planned, _drains("c1", "c2"))


@pytest.mark.parametrize("dry_run", [False, True])
def test_before_anything_is_written(monkeypatch: pytest.MonkeyPatch, *, dry_run: bool) -> None:
    """A change of rules looks at the live group, in a dry run too."""
    world = world_of("c1", queues={"orders": 26})
    source = MemorySource(world.topics)
    monkeypatch.setattr("fairlead.operating.presence.KafkaSource", lambda _kafka: source)
    written = []
    session: Any = SimpleNamespace(
        present=RulesInForce(STRATEGIES), write=lambda changes, _wait: written.append(changes)
    )
    group = OperatedGroup(GROUP, load_settings(), session)
    with pytest.raises(RefusedError, match="26 queues of orders"):
        group.change(_drains("c1"), Signature("alice"), Allowed(), None if dry_run else 1.0)
    assert written == []
