"""Rules of a group, and strategies that fail or answer badly."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fairlead.core.allocation import Allocation, AllocationError, AllocationRequest
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Assignment, Rejection
from tests.kit.group_world import GroupWorld, queue_of, settled


class Stubborn:
    """Fails for one topic while ``broken`` is set."""

    name = "AVG"

    def __init__(self) -> None:
        """Start sound."""
        self.broken = False

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give everything to the first candidate, or fail for orders."""
        first = request.candidates[0].client_id
        topics = {topic: {first: queues} for topic, queues in request.queues.items()}
        if not self.broken:
            return Allocation(topics)
        topics.pop("orders", None)
        return Allocation(topics, {"orders": AllocationError("room_unknown", "no room")})


def test_a_topic_whose_allocation_fails_keeps_its_last_assignment_and_is_retried() -> None:
    """A failed topic drops nothing, stands in the audit record and is tried again."""
    world = GroupWorld()
    stubborn = Stubborn()
    world.strategies["AVG"] = stubborn
    world.beat("b", topics=("orders", "payments"))
    world.publish(1, "orders", "payments")
    stubborn.broken = True
    world.beat("a", topics=("orders", "payments"))
    world.run()
    assert [failure.code for failure in world.decision.failures] == ["room_unknown"]
    assert "allocation_failed" in world.decision.alarms
    assert [drop.queue.topic for drop in world.told("b").drop] == ["payments"]
    stubborn.broken = False
    dropped = []
    for _ in range(8):
        world.pass_time(3_000)
        world.beat("a", topics=("orders", "payments"))
        world.beat("b", topics=("orders", "payments"))
        world.run()
        dropped += [
            drop.queue.topic
            for output in world.outputs
            if isinstance(output, Assignment)
            for drop in output.drop
        ]
    assert dropped == ["orders"]


class MuteError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        """Raise."""
        raise ZeroDivisionError


class Bad:
    """Answers whatever it was made with."""

    name = "AVG"

    def __init__(self, answer: object) -> None:
        """Keep the answer."""
        self.answer = answer

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Raise or return the answer."""
        del request
        if isinstance(self.answer, BaseException):
            raise self.answer
        if isinstance(self.answer, Allocation):
            return self.answer
        return Allocation({"orders": self.answer})  # type: ignore[dict-item]  # bad on purpose


@pytest.mark.parametrize(
    "answer, code",
    [
        ({"a": (queue_of(9),)}, "unknown_queue"),
        ({"a": (queue_of(0),), "b": (queue_of(0),)}, "two_owners"),
        (ZeroDivisionError("by a user's strategy"), "strategy_error"),
        (SystemExit(3), "strategy_error"),
        (Allocation({}), "strategy_error"),
        ({"a": (MessageQueue("orders", "main", [0]),)}, "strategy_error"),  # type: ignore[arg-type]
        (MuteError("says nothing"), "strategy_error"),
        (None, "strategy_error"),
        ({"a": None}, "strategy_error"),
        ({"a": (["orders", "main", 0],)}, "strategy_error"),
        ({0: (queue_of(0),)}, "strategy_error"),
        (Allocation({}, {"orders": "no room"}), "strategy_error"),  # type: ignore[dict-item]
        (Allocation(None), "strategy_error"),  # type: ignore[arg-type]
        (Allocation({"orders": {}}, notes=None), "strategy_error"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_answer_of_a_strategy_is_refused(answer: object, code: str) -> None:
    """A bad answer or an exception leaves the last assignment in force."""
    world = settled("a", "b")
    world.strategies["AVG"] = Bad(answer)
    world.beat("c")
    world.run()
    assert [failure.code for failure in world.decision.failures] == [code]
    assert world.owned("a") == [0, 1]


class Loose:
    """Gives the first candidate everything, as whatever it was made with."""

    name = "AVG"

    def __init__(self, share: Callable[[object], object]) -> None:
        """Keep what makes a share of queues."""
        self.share = share

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Return a share that may be no tuple."""
        first = request.candidates[0].client_id
        topics = {topic: {first: self.share(held)} for topic, held in request.queues.items()}
        return Allocation(topics)  # type: ignore[arg-type]  # loose on purpose


@pytest.mark.parametrize("share", [list, iter, set], ids=["a list", "an iterator", "a set"])
def test_whatever_gives_queues_is_a_share(share: Callable[[object], object]) -> None:
    """A share that can be looked at once only is looked at once."""
    world = settled("a", "b")
    world.strategies["AVG"] = Loose(share)
    world.beat("c")
    world.run()
    assert world.decision.failures == ()
    assert world.state is not None
    assert set(world.state.targets.values()) == {"a"}


def test_an_unknown_group_is_refused_without_auto_create_until_a_rule_creates_it() -> None:
    """With auto_create off a heartbeat is rejected; a rule creates the group."""
    world = GroupWorld(auto_create=False)
    world.beat("a")
    world.run()
    assert [output.reason for output in world.outputs if isinstance(output, Rejection)] == [
        "unknown_group"
    ]
    world.rule("slots", "group")
    world.run()
    world.beat("a")
    world.run()
    assert world.told("a").assigned == ()


def test_a_bad_rule_is_refused_and_the_old_one_stays() -> None:
    """An unknown strategy is refused with the known ones named."""
    world = settled("a")
    world.rule("strategy", {"name": "LUCKY"})
    world.rule("timing", {"lease_ms": "10s"})
    world.rule("luck", value=True)
    world.run()
    refused = [output for output in world.outputs if isinstance(output, Rejection)]
    assert [entry.reason for entry in refused] == [
        "unknown_strategy",
        "bad_rule",
        "unsupported_rule",
    ]
    assert "AVG" in refused[0].remedy
    assert world.owned("a") == [0, 1, 2, 3]


def targets_of(world: GroupWorld, client_id: str) -> list[int]:
    """Return the queues that a client should own."""
    assert world.state is not None
    return sorted(
        queue.queue_id for queue, owner in world.state.targets.items() if owner == client_id
    )


def test_another_strategy_takes_effect_at_once_and_its_bad_options_do_not() -> None:
    """A rule with another strategy is the next decision's; one with bad options changes nothing."""
    world = settled("a", "b", queues=4)
    world.rule("strategy", {"name": "AVG_BY_CIRCLE", "options": {}})
    world.run()
    assert "rules_changed" in {cause.kind for cause in world.decision.cause}
    assert targets_of(world, "a") == [0, 2]
    world.rule("strategy", {"name": "CONSISTENT_HASH", "options": {"virtual_nodes": "many"}})
    world.run()
    refused = [output for output in world.outputs if isinstance(output, Rejection)]
    assert [(each.reason, each.field) for each in refused] == [("bad_rule", "value.options")]
    assert targets_of(world, "a") == [0, 2]


class Careless:
    """Reads its options as they come, without a check of its own."""

    name = "CARELESS"

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise whatever a missing or strange option leads to."""
        int(options["limit"])

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give everything to the first candidate."""
        first = request.candidates[0].client_id
        return Allocation({topic: {first: queues} for topic, queues in request.queues.items()})


@pytest.mark.parametrize("options, said", [({}, "KeyError"), ({"limit": "many"}, "ValueError")])
def test_any_exception_refuses_options(options: dict[str, str], said: str) -> None:
    """Options at which a strategy of one's own raises anything are refused; the old rule stays."""
    world = settled("a", "b")
    world.strategies["CARELESS"] = Careless()
    world.rule("strategy", {"name": "CARELESS", "options": options})
    world.run()
    (refused,) = [output for output in world.outputs if isinstance(output, Rejection)]
    assert (refused.reason, refused.field) == ("bad_rule", "value.options")
    assert said in refused.detail
    assert targets_of(world, "a") == [0, 1]


def test_sticky_moves_the_least() -> None:
    """Under STICKY a member that joins takes its share, and nothing else moves."""
    world = GroupWorld()
    world.rule("strategy", {"name": "STICKY", "options": {}})
    world.beat("a")
    world.beat("b")
    world.publish(6)
    assert world.state is not None
    before = dict(world.state.targets)
    world.beat("0")
    world.run()
    moved = [queue for queue, owner in world.state.targets.items() if before[queue] != owner]
    assert len(moved) == 2
    assert {world.state.targets[queue] for queue in moved} == {"0"}


def test_an_allocation_that_is_cut_short_is_an_alarm() -> None:
    """Where a strategy stops at its limit its answer holds, and the decision says so."""
    alarms = []
    for effort in (0, 1_000):
        world = GroupWorld()
        world.rule("strategy", {"name": "STICKY", "options": {"effort": effort}})
        world.beat("a", topics=("orders", "bills"))
        world.publish(4, "orders", "bills")
        world.beat("b")
        world.run()
        assert world.state is not None
        assert len(world.state.targets) == 8
        assert [cause.kind for cause in world.decision.cause] == ["client_joined"]
        alarms.append(world.decision.alarms)
        owned = list(world.state.targets.values())
        assert owned.count("b") == (0 if effort == 0 else 4)
    assert alarms == [("allocation_cut_short",), ()]


def test_timing_rules_take_effect() -> None:
    """A longer lease set by a rule keeps a silent member alive for longer."""
    world = settled("a")
    world.rule("timing", {"lease_ms": 30_000})
    world.run()
    world.pass_time(33_000)
    world.run()
    assert world.owned("a") == [0, 1, 2, 3]
    world.pass_time(1)
    world.run()
    assert world.owned("a") == []
