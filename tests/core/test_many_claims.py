"""How many claims of one member are taken, and whose are refused."""

import dataclasses

import pytest

from fairlead.core.model import Epoch, Position
from fairlead.core.outputs import Rejection
from fairlead.core.records import Claim, Claims
from fairlead.core.recovery import remembered
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.core.rules.quota import Quota
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of, settled

FEW = Quota(queues=4)
"""A member may claim eight queues."""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four queues take the place of the twenty thousand of every group."""
    monkeypatch.setattr(remembered, "BUILT_IN", FEW)


class _World(GroupWorld):
    """One whose groups have a quota of four queues where no rule says otherwise."""

    @property
    def rules(self) -> EngineRules:
        """Return the engine's rules."""
        return dataclasses.replace(super().rules, defaults=GroupRules(quota=FEW))


def _refused(world: GroupWorld) -> list[str]:
    return [each.detail for each in world.outputs if isinstance(each, Rejection)]


def _with_ten() -> GroupWorld:
    """Return a world whose only member owns ten queues, by a rule for twelve."""
    world = _World()
    world.beat("a")
    world.rule("quota", {"queues": 12})
    world.publish(10)
    world.beat("a")
    world.run()
    assert len(world.owned("a")) == 10
    return world


def _claim_all(world: GroupWorld) -> None:
    epochs = [(number, world.epoch_of(number), 5, True) for number in range(10)]
    world.claims("a", *epochs)
    world.beat("a")
    world.run()


def test_who_has_more_than_a_lowered_quota_claims_it() -> None:
    """What was let in stays: the owner of it is heard, and the barrier ends."""
    world = _with_ten()
    world.rule("quota", {"queues": 4})
    world.run()
    world.driver(2)
    _claim_all(world)
    world.run()
    assert world.state is not None
    assert _refused(world) == []
    assert world.state.barrier is None
    assert len(world.owned("a")) == 10


def test_a_quota_that_is_read_after_the_claims_counts() -> None:
    """Where all is lost, the rule that allows so many may be read later than who claims them."""
    world = _with_ten()
    epochs = [(number, world.epoch_of(number), 5, True) for number in range(10)]
    world.lose(2, marked=False)
    world.claims("a", *epochs)
    world.beat("a", held=1)
    world.run()
    assert _refused(world) == []
    world.rule("quota", {"queues": 12})
    world.driver(2)
    world.publish(10)
    for _ in range(20):
        world.pass_time(3_000)
        world.beat("a", held=1)
        world.run()
    assert world.state is not None
    assert world.state.barrier is None


def _invent(world: GroupWorld, parts: int) -> None:
    """Claim a hundred queues in each of so many parts of a thousand, in the name of one."""
    for part in range(parts):
        queues = tuple(
            Claim(
                queue_of(1_000 * part + number, "none"), Epoch(1, 1), Position(0, 1), running=False
            )
            for number in range(100)
        )
        world.add("heartbeats", Claims(GROUP, key_of("a"), 2, part, 1_000, queues))
    world.beat("a")
    world.run()


def test_late_claims_are_as_many_at_most() -> None:
    """Who was passed over as mute may acknowledge later, and fills no state by it either."""
    world = settled("a", "b", queues=4)
    world.rule("quota", {"queues": 4})
    world.rule("on_mute", "force")
    world.run()
    world.driver(2)
    world.claims("b", *[(number, world.epoch_of(number), 5, True) for number in world.owned("b")])
    world.run()
    for _ in range(25):
        world.pass_time(3_000)
        world.beat("a")
        world.beat("b")
        world.run()
    assert world.state is not None
    assert world.state.barrier is None
    assert any(value.overtaken for value in world.state.queues.values())
    _invent(world, 50)
    assert key_of("a") not in world.state.claims
    assert _refused(world) == ["a claims more than 8 queues"]


def test_a_second_has_one_letter_of_claims() -> None:
    """Small parts may come by thousands, and each is counted."""
    world = settled("a", "b", queues=4)
    world.rule("quota", {"queues": 4})
    world.driver(2)
    world.run()
    _invent(world, 50)
    assert _refused(world) == ["a claims more than 8 queues"]
