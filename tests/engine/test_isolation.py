"""A fault in one group's step stays in that group, costs it little, and heals."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from fairlead.codec.shard import GroupSlot, open_shard
from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.moment import Moment
from fairlead.core.records import Arrival, Heartbeat
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import StepResult, step
from fairlead.engine import group_step
from strategies.registry import STRATEGIES
from tests.kit.memory_topics import NAMES
from tests.kit.world import World

Faulty = Callable[[GroupState | None, Sequence[Arrival], Moment], bool]


class BrokenStrategy:
    """Allocates like AVG, but for one group it raises, or returns what is no allocation."""

    name = "AVG"

    def __init__(self, group: str, *, raises: bool) -> None:
        self.group = group
        self.raises = raises
        self.broken = True

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Allocate, or fail."""
        if request.group != self.group or not self.broken:
            return STRATEGIES["AVG"].allocate(request)
        if self.raises:
            raise ZeroDivisionError
        return Allocation({"orders": None})  # type: ignore[dict-item]  # that is the fault


def _settled() -> World:
    """Return two quiet groups of one shard, two clients each, four queues."""
    world = World()
    world.topics.tick(1)
    for group in ("orders", "a"):
        world.join(f"{group}-1", group)
        world.join(f"{group}-2", group)
    world.pass_seconds(6)
    return world


def _break(monkeypatch: pytest.MonkeyPatch, fails: Faulty) -> None:
    """Let the step raise where ``fails`` says so."""

    def broken(
        state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
    ) -> StepResult:
        if fails(state, arrivals, moment):
            raise ZeroDivisionError
        return step(state, arrivals, moment, engine)

    monkeypatch.setattr(group_step, "step", broken)


def _is_orders(state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment) -> bool:
    del moment
    if state is not None:
        return state.group == "orders"
    return any(getattr(arrival.record, "group", "") == "orders" for arrival in arrivals)


def _slot(world: World, group: str = "orders") -> GroupSlot:
    stored = world.stored[0]
    assert stored is not None
    return open_shard(stored).slots[group]


def _told(world: World, group: str, trigger: str) -> list[dict[str, Any]]:
    return [
        entry
        for entry in world.decisions
        if entry["group"] == group and trigger in entry["triggers"]
    ]


def test_a_strategy_that_raises() -> None:
    """A strategy that raises for one group costs that group its new allocation, nobody else."""
    world = _settled()
    world.strategies = {"AVG": BrokenStrategy("orders", raises=True)}
    for group in ("orders", "a"):
        world.join(f"{group}-3", group)
    world.pass_seconds(5)
    assert set(world.owners("a").values()) == {"a-1", "a-2", "a-3"}
    assert set(world.owners("orders").values()) == {"orders-1", "orders-2"}
    assert world.counts["alarms/allocation_failed"] == 1
    assert world.counts["steps/failed"] == 0


def test_a_strategy_that_returns_nonsense() -> None:
    """What is no allocation fails its topic alone: who joins is a member, and served later."""
    world = _settled()
    strategy = BrokenStrategy("orders", raises=False)
    world.strategies = {"AVG": strategy}
    for group in ("orders", "a"):
        world.join(f"{group}-3", group)
    world.pass_seconds(8)
    assert set(world.owners("a").values()) == {"a-1", "a-2", "a-3"}
    assert set(world.owners("orders").values()) == {"orders-1", "orders-2"}
    (failure,) = _told(world, "orders", "client_joined")[-1]["failures"]
    assert (failure["topic"], failure["code"]) == ("orders", "strategy_error")
    assert world.counts["steps/failed"] == world.counts["rejects/step_failed"] == 0
    strategy.broken = False
    # A failed allocation is tried again at the group's next trigger.
    world.pass_seconds(25)
    assert set(world.owners("orders").values()) == {"orders-1", "orders-2", "orders-3"}


def test_the_next_decision_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one group fails on everything, another one of its shard decides in the same batch."""
    world = _settled()
    _break(monkeypatch, _is_orders)
    for group in ("orders", "a"):
        world.join(f"{group}-3", group)
    world.run_all()
    assert _told(world, "a", "client_joined")[-1]["members"] == ["a-1", "a-2", "a-3"]
    (told,) = _told(world, "orders", "quarantined")
    assert told["alarms"] == ["step_failed"]
    assert told["state"]["phase"] == "quarantined"
    assert told["epoch"] == told["previous_epoch"]
    assert told["members"] == ["orders-1", "orders-2"]
    assert world.counts["groups/quarantined"] == 1


def test_a_group_in_quarantine_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the failed batch is left in the group but the dates of its heartbeats."""
    world = _settled()
    before = _slot(world)
    _break(monkeypatch, _is_orders)
    world.pass_seconds(2)
    after = _slot(world)
    assert after.body == before.body
    assert after.quarantine is not None
    assert after.quarantine.error == "ZeroDivisionError"


def test_nobody_lapses_in_quarantine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members that heartbeat through a long quarantine are all alive when it ends (rule H20)."""
    world = _settled()
    owners = world.owners("orders")
    _break(monkeypatch, _is_orders)
    world.pass_seconds(50)
    monkeypatch.setattr(group_step, "step", step)
    world.pass_seconds(21)
    assert world.counts["events/member/lapsed"] == 0
    assert world.owners("orders") == owners
    assert len(_told(world, "orders", "quarantine_left")) == 1
    assert _slot(world).quarantine is None
    assert _slot(world).phase == "stable"


def test_the_dead_lapse_after_quarantine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that went silent in quarantine lapses in the step that ends it."""
    world = _settled()
    _break(monkeypatch, _is_orders)
    world.pass_seconds(1)
    world.clients[0].gone = True
    world.pass_seconds(18)
    monkeypatch.setattr(group_step, "step", step)
    world.pass_seconds(22)
    assert _told(world, "orders", "client_expired")
    assert set(world.owners("orders").values()) == {"orders-2"}


def test_rows_wait_and_are_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A join, a leave with its releases and a rule that came in quarantine count when it ends."""
    world = _settled()
    _break(monkeypatch, _is_orders)
    world.pass_seconds(1)
    world.join("orders-3", "orders")
    world.clients[0].leave()
    world.topics.rule("orders", "timing", {"trigger_ms": 5_000})
    world.pass_seconds(30)
    monkeypatch.setattr(group_step, "step", step)
    world.pass_seconds(25)
    assert set(world.owners("orders").values()) == {"orders-2", "orders-3"}
    triggers = {trigger for entry in world.decisions[-6:] for trigger in entry["triggers"]}
    assert triggers >= {"client_joined", "client_left", "rules_changed", "quarantine_left"}
    assert world.counts["rows/superseded"] > 0
    assert world.counts["rows/given_up"] == 0


def test_it_is_tried_again_at_each_trigger_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine reports each failed try, a trigger period after the one before."""
    world = _settled()
    _break(monkeypatch, _is_orders)
    world.pass_seconds(62)
    told = _told(world, "orders", "quarantined")
    clocks = [entry["clock_ms"] for entry in told]
    assert len(told) == 4
    assert all(20_000 <= b - a < 21_100 for a, b in pairwise(clocks))
    assert [entry["cut"]["step"] for entry in told] == sorted(
        {entry["cut"]["step"] for entry in told}
    )
    quarantine = _slot(world).quarantine
    assert quarantine is not None
    assert quarantine.failures == 4
    assert world.counts["groups/quarantined"] == 1


def test_a_new_driver_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first batch of a new driver ends the quarantine if the fault is gone."""
    world = _settled()
    _break(monkeypatch, _is_orders)
    world.pass_seconds(2)
    monkeypatch.setattr(group_step, "step", step)
    world.start_driver()
    world.run_all()
    left = [entry for entry in world.decisions if entry["group"] == "orders"][-2:]
    assert [entry["triggers"] for entry in left] == [
        ["generation_started", "generation_passed"],
        ["quarantine_left"],
    ]
    world.pass_seconds(4)
    assert set(world.owners("orders").values()) == {"orders-1", "orders-2"}


def test_a_poisoned_record_is_refused_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records on which a step fails are refused one by one; their group goes on in that batch."""
    world = _settled()

    def fails(state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment) -> bool:
        del state, moment
        records = [arrival.record for arrival in arrivals]
        return any(
            isinstance(record, Heartbeat) and record.profile.zone == "poison" for record in records
        )

    _break(monkeypatch, fails)
    world.clients[0].beat(zone="poison")
    world.join("orders-3", "orders")
    world.clients[1].beat(zone="poison")
    result = world.run(0)
    world.deliver()
    rejects = world.kinds("rejects")
    assert [reject["reason"] for reject in rejects] == ["step_failed", "step_failed"]
    assert {reject["at"][0] for reject in rejects} == {NAMES.name("heartbeats")}
    assert _told(world, "orders", "client_joined")[-1]["members"] == [
        "orders-1",
        "orders-2",
        "orders-3",
    ]
    assert result.counts["steps/saved"] == 1
    assert "groups/quarantined" not in result.counts


def test_poisoned_heartbeats_count_for_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member whose every heartbeat is refused as poison does not lapse."""
    world = _settled()
    poisoned = world.clients[0]
    poisoned.gone = True

    def fails(state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment) -> bool:
        del state, moment
        return any(
            isinstance(arrival.record, Heartbeat)
            and arrival.record.member.client_id == poisoned.client_id
            for arrival in arrivals
        )

    _break(monkeypatch, fails)
    for second in range(30):
        if second % 3 == 0:
            poisoned.beat()
        world.pass_seconds(1)
    assert world.counts["rejects/step_failed"] == 10
    assert world.counts["events/member/lapsed"] == 0
    assert world.counts["groups/quarantined"] == 0


def test_a_group_with_too_much_poison_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that fails on more than a few records is set aside, and no record is refused."""
    world = _settled()

    def fails(state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment) -> bool:
        return _is_orders(state, arrivals, moment) and bool(arrivals)

    _break(monkeypatch, fails)
    for number in range(5):
        world.join(f"orders-{number + 3}", "orders")
    world.run_all()
    assert world.kinds("rejects") == []
    assert world.counts["groups/quarantined"] == 1


def test_a_group_that_never_had_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group whose very first records fail is set aside, made later, or given up in the end."""
    world = World()
    world.topics.tick(1)
    _break(monkeypatch, _is_orders)
    for number in range(5):
        world.join(f"orders-{number}", "orders")
    world.pass_seconds(3)
    slot = _slot(world)
    assert (slot.body, slot.liveness, slot.phase) == (b"", b"", "quarantined")
    (told,) = _told(world, "orders", "quarantined")
    assert (told["epoch"], told["members"]) == ([0, 0], [])
    monkeypatch.setattr(group_step, "step", step)
    world.pass_seconds(25)
    assert len(set(world.owners("orders").values())) == 4


def test_a_forsaken_group_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine forgets a silent group without state, and reports that."""
    world = World()
    world.topics.tick(1)
    _break(monkeypatch, _is_orders)
    for number in range(5):
        world.join(f"orders-{number}", "orders")
    for client in world.clients:
        client.gone = True
    world.pass_seconds(630)
    assert [entry["triggers"] for entry in world.decisions[-1:]] == [["group_evicted"]]
    stored = world.stored[0]
    assert stored is not None
    assert open_shard(stored).slots == {}


def test_memory_is_nobody_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Running out of memory is no fault of a group and stops the shard."""

    def exhausted(*arguments: object) -> StepResult:
        del arguments
        raise MemoryError

    world = _settled()
    monkeypatch.setattr(group_step, "step", exhausted)
    world.clients[0].beat()
    with pytest.raises(MemoryError):
        world.run(0)


def test_a_broken_invariant_is_a_failed_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step whose state breaks an invariant counts as failed, and its state is not kept."""

    def forgetful(
        state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
    ) -> StepResult:
        result = step(state, arrivals, moment, engine)
        if result.state is not None and result.state.group == "orders":
            result.state.liveness.clear()
        return result

    world = _settled()
    before = _slot(world)
    monkeypatch.setattr(group_step, "step", forgetful)
    world.clients[0].beat()
    result = world.run(0)
    assert result.failures[0].error == "InvariantBrokenError"
    assert "every member has exactly one liveness" in result.failures[0].traceback
    assert _slot(world).body == before.body


def test_a_state_that_cannot_be_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when a group's audit record cannot be worded from its state, one is written."""

    def summary(state: GroupState) -> object:
        raise ZeroDivisionError(state.group)

    world = _settled()
    monkeypatch.setattr("fairlead.engine.audit.summary_of", summary)
    _break(monkeypatch, _is_orders)
    world.clients[0].beat()
    world.run_all()
    (told,) = _told(world, "orders", "quarantined")
    assert told["state"] == {
        "phase": "quarantined",
        "queues": 4,
        "unassigned": 0,
        "in_handover": 0,
        "pending": 0,
    }
