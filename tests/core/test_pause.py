"""While a group is paused nothing is shared anew; what was begun is finished."""

import pytest

from fairlead.core.model import Epoch
from fairlead.core.step import due_ms
from tests.kit.group_operator import alarms_of, drain, owners_of, pause
from tests.kit.group_settling import held, settle, stop
from tests.kit.group_world import GroupWorld, queue_of, settled


def paused(*clients: str, queues: int = 4) -> GroupWorld:
    """Return a settled group that an operator has paused."""
    world = settled(*clients, queues=queues)
    pause(world)
    settle(world)
    assert world.state is not None
    return world


def resume(world: GroupWorld) -> None:
    """The operator ends the pause."""
    pause(world, ended=True)
    world.run()


def test_a_client_that_joins_a_paused_group_waits() -> None:
    """A client that joins owns nothing until the pause is over, and then its share."""
    world = paused("a")
    world.beat("b")
    world.run()
    assert world.told("b").assigned == ()
    assert world.decision.moves == ()
    assert world.decision.state.phase == "paused"
    world.pass_time(25_000)
    world.beat("a")
    world.beat("b")
    world.run()
    assert world.owned("a") == [0, 1, 2, 3]
    resume(world)
    assert world.decision.triggers == ("rules_changed",)
    assert [drop.queue.queue_id for drop in world.told("a").drop] == [2, 3]


def test_dead_members_queues_wait() -> None:
    """The queues of a dead client wait, in phase and alarm, until it returns (rule H23)."""
    world = paused("a", "b")
    for _ in range(3):
        world.pass_time(5_000)
        world.beat("a")
        world.run()
    assert held(world) == {"a": [0, 1]}
    assert world.decision.triggers == ("client_expired",)
    assert alarms_of(world) == ("paused_unassigned",)
    assert (world.decision.state.phase, world.decision.state.unassigned) == ("paused", 2)
    world.pass_time(25_000)
    world.beat("a")
    world.run()
    assert world.outputs == ()
    world.beat("b", life=2)
    world.run()
    assert held(world) == {"a": [0, 1], "b": [2, 3]}
    assert alarms_of(world) == ()


def test_resume_is_one_decision() -> None:
    """Everything that happened meanwhile counts in the decision that ends the pause."""
    world = paused("a", "b", "c", queues=6)
    stop(world, "b")
    world.beat("d")
    world.rule("strategy", {"name": "AVG_BY_CIRCLE"})
    world.run()
    assert world.decision.moves == ()
    assert held(world) == {"a": [0, 1], "c": [4, 5]}
    resume(world)
    assert world.decision.strategy == "AVG_BY_CIRCLE"
    assert owners_of(world) == {0: "a", 1: "c", 2: "d", 3: "a", 4: "c", 5: "d"}
    settle(world)
    assert held(world) == {"a": [0, 3], "c": [1, 4], "d": [2, 5]}


def test_what_was_begun_is_finished() -> None:
    """A queue on its way when the pause begins reaches its successor."""
    world = settled("a")
    epoch = world.epoch_of(3)
    world.beat("b")
    world.run()
    pause(world)
    world.run()
    world.release("a", 3, epoch, 10)
    world.run()
    assert 3 in [add.queue.queue_id for add in world.adds("b")]


def test_a_drain_during_a_pause_waits_for_its_end() -> None:
    """A client that is drained during a pause keeps its queues until the end."""
    world = paused("a", "b")
    drain(world, "b")
    world.run()
    assert world.decision.moves == ()
    assert held(world) == {"a": [0, 1], "b": [2, 3]}
    resume(world)
    settle(world)
    assert held(world) == {"a": [0, 1, 2, 3]}


def test_routes_during_a_pause() -> None:
    """A queue that is gone is dropped; one that is new waits."""
    world = paused("a", "b")
    world.route(3)
    world.run()
    assert [drop.queue.queue_id for drop in world.told("b").drop] == [3]
    world.route(6)
    world.bounds(6)
    settle(world)
    assert alarms_of(world) == ("paused_unassigned",)
    assert {queue: owner for queue, owner in owners_of(world).items() if queue < 3} == {
        0: "a",
        1: "a",
        2: "b",
    }
    resume(world)
    settle(world)
    assert sum(map(len, held(world).values())) == 6


def test_claims_decide_who_keeps_what() -> None:
    """An older state is put back: whoever claims a queue keeps it, unmoved (rule H23)."""
    world = settled("a", "b")
    pause(world)
    world.run()
    world.driver(2)
    world.claims("a", (0, Epoch(1, 2), 5, True), (3, Epoch(1, 9), 50, True))
    world.claims("b", (2, Epoch(1, 2), 7, True))
    world.run()
    assert world.state is not None
    assert held(world) == {"a": [0, 1, 3], "b": [2]}
    moved = [move for move in world.decision.moves if move.stage == "dropped"]
    assert moved == []
    assert owners_of(world)[3] == "a"


def test_pause_outlives_a_driver() -> None:
    """The pause is state: another driver keeps it."""
    world = paused("a", "b")
    world.driver(2)
    epochs = [world.epoch_of(number) for number in range(4)]
    world.claims("a", *((number, epochs[number], 5, True) for number in (0, 1)))
    world.claims("b", *((number, epochs[number], 5, True) for number in (2, 3)))
    world.beat("c")
    world.claims("c")
    world.run()
    assert world.decision.state.phase == "paused"
    assert held(world) == {"a": [0, 1], "b": [2, 3]}


@pytest.mark.parametrize("value", [False, "true", 1, {}])
def test_a_pause_is_true_or_removed(value: object) -> None:
    """A pause is true, or the rule is removed."""
    world = settled("a")
    world.rule("pause", value)
    result = world.run()
    assert result.counts["rule", "rejected"] == 1
    assert world.state is not None
    assert world.state.rules == {}


def test_nothing_is_due_for_a_pause() -> None:
    """A paused group is stepped no more often than any other."""
    world = paused("a")
    world.beat("b")
    world.run()
    assert world.state is not None
    assert due_ms(world.state, world.rules) > world.clock_ms


def test_reset_during_a_pause() -> None:
    """A reset is carried out in a pause: the same client starts where the operator moved it to."""
    world = paused("a", "b")
    epoch = world.epoch_of(0)
    world.reset(0, 77)
    world.run()
    world.release("a", 0, epoch, 10)
    settle(world)
    assert world.state is not None
    assert held(world) == {"a": [0, 1], "b": [2, 3]}
    value = world.state.queues[queue_of(0)]
    assert value.base is not None
    assert value.base.offset == 77
    assert value.chain[0].epoch > epoch


def test_eager_group_is_paused() -> None:
    """Where nobody waits for anybody a pause holds all the same."""
    world = settled("a", "b")
    world.rule("mode", "eager")
    pause(world)
    world.run()
    world.beat("c")
    world.run()
    assert held(world) == {"a": [0, 1], "b": [2, 3]}
