"""Drained clients own nothing, whatever the strategy; and alarms that stand while they hold."""

import pytest

from fairlead.core.allocation import Allocation, AllocationRequest
from tests.kit.group_operator import alarms_of, drain, owners_of, set_of_queue
from tests.kit.group_world import GroupWorld, settled

STICKY = {"name": "STICKY"}


@pytest.mark.parametrize("slots", ["subscribers", "group"])
@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY"])
def test_drained_under_every_strategy(strategy: str, slots: str) -> None:
    """A drained client owns nothing whatever the strategy, and every queue has an owner."""
    world = settled("a", "b", "c", queues=6)
    world.rule("strategy", {"name": strategy})
    world.rule("slots", slots)
    drain(world, "b")
    world.run()
    owners = owners_of(world)
    assert len(owners) == 6
    assert set(owners.values()) <= {"a", "c"}
    assert world.decision.members == ("a", "b", "c")
    drain(world, "b", ended=True)
    drain(world, "never-there")
    world.run()
    if strategy != "CONSISTENT_HASH":
        assert set(owners_of(world).values()) == {"a", "b", "c"}
    assert alarms_of(world) == ()


def test_drain_wins_over_pin() -> None:
    """A pin to a drained client waits until the client is back."""
    world = settled("a", "b")
    world.rule("strategy", STICKY)
    set_of_queue(world, "pin", 0, client_id="b")
    drain(world, "b")
    world.run()
    assert set(owners_of(world).values()) == {"a"}
    drain(world, "b", ended=True)
    world.run()
    assert owners_of(world)[0] == "b"


def test_drained_with_topics_of_its_own() -> None:
    """A topic that only a drained client subscribes to belongs to nobody, loudly; others go on."""
    world = GroupWorld()
    world.beat("a", topics=("orders",))
    world.beat("b", topics=("orders", "payments"))
    world.publish(2, "orders", "payments")
    drain(world, "b")
    world.run()
    assert world.state is not None
    assert {queue.topic for queue in world.state.targets} == {"orders"}
    assert alarms_of(world) == ("drained_empty",)
    assert world.decision.failures == ()


@pytest.mark.parametrize("if_nobody, owner", [("nobody", None), ("all", "b")])
def test_designated_are_drained(if_nobody: str, owner: str | None) -> None:
    """When every designated client is drained, nobody is designated."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["a"], "if_nobody": if_nobody})
    drain(world, "a")
    world.run()
    assert set(owners_of(world).values()) == ({owner} if owner else set())
    assert "designation_empty" in alarms_of(world)


def test_failing_strategy_keeps_no_drained() -> None:
    """A topic that cannot be allocated keeps its owners, but for the drained."""
    world = settled("a", "b")

    class Failing:
        name = "AVG"

        def allocate(self, request: AllocationRequest) -> Allocation:
            del request
            raise ZeroDivisionError

    world.strategies["AVG"] = Failing()
    drain(world, "b")
    world.run()
    assert [each.code for each in world.decision.failures] == ["strategy_error"]
    assert owners_of(world) == {0: "a", 1: "a"}


@pytest.mark.parametrize("named", ["b", "nobody-of-this-name"])
def test_answer_names_who_may_own_nothing(named: str) -> None:
    """An answer that gives queues to a drained client, or to no member, is refused."""
    world = settled("a", "b")

    class Willful:
        name = "AVG"

        def allocate(self, request: AllocationRequest) -> Allocation:
            return Allocation({topic: {named: held} for topic, held in request.queues.items()})

    world.strategies["AVG"] = Willful()
    drain(world, "b")
    world.run()
    assert [each.code for each in world.decision.failures] == ["unknown_client"]
    assert owners_of(world) == {0: "a", 1: "a"}


def test_two_owners_says_what_to_do() -> None:
    """CONFIG for two members is refused with both owners and a way out, which then works."""
    world = settled("a", "b", queues=1)
    options = {"queues": [["orders", "main", 0]]}
    world.rule("strategy", {"name": "CONFIG", "options": options})
    world.run()
    (failure,) = world.decision.failures
    assert failure.code == "two_owners"
    assert "designated" in failure.message
    assert "STICKY" in failure.message
    assert failure.message.endswith("orders/main/0 to a and b")
    world.rule("designated", {"only": ["b"]})
    world.run()
    assert world.decision.failures == ()
    assert owners_of(world) == {0: "b"}


def test_an_alarm_stands_in_every_decision() -> None:
    """An alarm stands in every decision while what it says is so, whatever the decision is of."""
    world = settled("a", "b")
    world.rule("designated", {"only": ["x"]})
    world.run()
    assert alarms_of(world) == ("designation_empty",)
    world.release("a", 0, world.epoch_of(0), 10)
    world.run()
    assert world.decision.triggers == ("released",)
    assert alarms_of(world) == ("designation_empty",)
    world.rule("designated", None)
    world.run()
    assert alarms_of(world) == ()


def test_told_when_it_has_nothing() -> None:
    """A decision says when a drained client gives up its last queue, at once if it had none."""
    world = settled("a", "b")
    first, second = world.epoch_of(2), world.epoch_of(3)
    drain(world, "b")
    world.run()
    assert "drained" not in world.decision.triggers
    world.release("b", 2, first, 5)
    world.run()
    assert "drained" not in world.decision.triggers
    world.release("b", 3, second, 5)
    world.run()
    assert ("drained", "b") in [(cause.kind, cause.client_id) for cause in world.decision.cause]
    drain(world, "b", ended=True)
    world.run()
    assert "drained" not in world.decision.triggers
    world = GroupWorld()
    world.beat("a")
    world.beat("b")
    world.run()
    drain(world, "b")
    drain(world, "never-there")
    world.run()
    assert [cause.client_id for cause in world.decision.cause if cause.kind == "drained"] == ["b"]
