"""Rules of single queues and clients: which make sense, how many, and what they do to a group."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.codec.group import decode_group, encode_group
from fairlead.core.allocation import Allocation, AllocationRequest, Placement
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Decision, Rejection
from fairlead.core.rules.group_rules import EngineRules, rules_of
from fairlead.core.rules.rule_error import RuleError
from fairlead.core.rules.single_rules import (
    SINGLE_RULES_MAX,
    placement_of,
    read_decimal,
    read_single_rule,
)
from strategies.registry import STRATEGIES
from tests.kit.group_operator import alarms_of, drain, owners_of, set_of_queue
from tests.kit.group_world import GroupWorld, queue_of, settled

STICKY = {"name": "STICKY"}


def _refused(world: GroupWorld) -> list[tuple[str, str | None]]:
    return [(out.reason, out.field) for out in world.outputs if isinstance(out, Rejection)]


@pytest.mark.parametrize(
    "text, number",
    [
        ("0", 0.0),
        ("2.5", 2.5),
        ("0.000001", 0.000001),
        ("999999999.999999", 999_999_999.999999),
        ("00", None),
        (".5", None),
        ("5.", None),
        ("1e3", None),
        ("-1", None),
        ("1000000000", None),
        ("0.0000001", None),
        ("1\n", None),
        ("٣", None),
        (2.5, None),
        (None, None),
    ],
)
def test_a_number_is_plain_digits(text: object, number: float | None) -> None:
    """A number is plain digits as text, few enough that every language reads the same."""
    assert read_decimal(text) == number


@pytest.mark.parametrize(
    "rule, value, path, said",
    [
        ("pin", "c1", "", "a pin must be an object"),
        ("pin", {"client_id": ""}, "client_id", "'' is no client id"),
        ("ban", {"client_ids": []}, "client_ids", "no list of clients"),
        ("ban", {"client_ids": ["a"] * 101}, "client_ids", "no list of clients"),
        ("ban", {"client_ids": [7]}, "client_ids", "7 is no client id"),
        ("weight", {"weight": 2.5}, "weight", "2.5 is no weight"),
        ("weight", {}, "weight", "None is no weight"),
        ("capacity", {"capacity": "0.0"}, "capacity", "a capacity of 0 is none"),
    ],
)
def test_a_bad_value_is_refused_by_its_path(rule: str, value: object, path: str, said: str) -> None:
    """A value that makes no sense is refused by its path, with what to send."""
    with pytest.raises(RuleError) as caught:
        read_single_rule(rule, value)
    assert (caught.value.reason, caught.value.field_path) == (
        "bad_rule",
        f"value.{path}".rstrip("."),
    )
    assert said in caught.value.detail
    assert caught.value.remedy


def test_bad_rule_stays_out() -> None:
    """A refused pin leaves the one before in force, and says which field was wrong."""
    world = settled("a", "b")
    world.rule("strategy", STICKY)
    set_of_queue(world, "pin", 0, client_id="b")
    world.run()
    set_of_queue(world, "pin", 0, client_id="")
    world.run()
    assert _refused(world) == [("bad_rule", "value.client_id")]
    assert owners_of(world)[0] == "b"


class Curious:
    """Remembers what it was asked; takes pins alone."""

    name = "AVG"
    takes_rules = ("pin",)

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.asked: list[AllocationRequest] = []

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give everything to the first candidate."""
        self.asked.append(request)
        first = request.candidates[0].client_id
        return Allocation({topic: {first: held} for topic, held in request.queues.items()})


def test_own_strategy_is_given_what_it_takes() -> None:
    """A strategy is shown the rules that it says it takes; of others an alarm tells."""
    world = settled("a", "b")
    curious = Curious()
    world.strategies["AVG"] = curious
    set_of_queue(world, "pin", 1, client_id="b")
    world.run()
    assert curious.asked[-1].placement == Placement(pins={queue_of(1): "b"})
    assert alarms_of(world) == ()
    set_of_queue(world, "weight", 1, weight="2.5")
    world.run()
    assert curious.asked[-1].placement == Placement(pins={queue_of(1): "b"})
    assert alarms_of(world) == ("rule_without_effect",)
    set_of_queue(world, "weight", 1)
    world.run()
    assert alarms_of(world) == ()


def test_all_rules_reach_the_strategy_together() -> None:
    """All rules together reach the strategy as one value, each under its queue or client."""
    held: dict[str, dict[str, Any]] = {
        "pin": {"t/b/1": {"queue": ["t", "b", 1], "client_id": "c"}},
        "ban": {"t/a/b/2": {"queue": ["t", "a/b", 2], "client_ids": ["c", "d"]}},
        "weight": {"t/b/3": {"queue": ["t", "b", 3], "weight": "0"}},
        "capacity": {"c/1": {"client_id": "c/1", "capacity": "1.5"}},
    }
    assert placement_of(held) == Placement(
        pins={MessageQueue("t", "b", 1): "c"},
        bans={MessageQueue("t", "a/b", 2): ("c", "d")},
        weights={MessageQueue("t", "b", 3): 0.0},
        capacities={"c/1": 1.5},
    )


@pytest.mark.parametrize("rule", ["pin", "weight"])
def test_one_rule_too_many_is_refused(rule: str) -> None:
    """One rule more than a group may have is refused; another value of one that is there is not."""
    world = GroupWorld()
    value = {"pin": {"client_id": "c"}, "weight": {"weight": "2"}}[rule]
    for number in range(SINGLE_RULES_MAX):
        set_of_queue(world, rule, number, **value)
    world.run()
    assert _refused(world) == []
    set_of_queue(world, rule, SINGLE_RULES_MAX, **value)
    set_of_queue(world, rule, 7, **dict.fromkeys(value, "3"))
    world.run()
    assert _refused(world) == [("too_many_rules", "value")]
    assert [cause.queue and cause.queue.queue_id for cause in world.decision.cause] == [7]
    set_of_queue(world, rule, 0)
    set_of_queue(world, rule, SINGLE_RULES_MAX, **value)
    world.run()
    assert _refused(world) == []


def test_a_ban_counts_for_each_client_it_names() -> None:
    """A ban counts for each client that it names."""
    world = GroupWorld()
    clients = [f"c{number}" for number in range(100)]
    for number in range(10):
        set_of_queue(world, "ban", number, client_ids=clients)
    set_of_queue(world, "ban", 10, client_ids=["c1"])
    world.run()
    assert _refused(world) == [("too_many_rules", "value")]


def test_a_group_without_its_last_rule_is_forgotten() -> None:
    """A group whose last rule was removed is forgotten like one that never had any."""
    world = GroupWorld()
    set_of_queue(world, "pin", 0, client_id="c")
    world.run()
    assert world.state is not None
    assert world.state.rules
    set_of_queue(world, "pin", 0)
    world.run()
    assert world.state.rules == {}
    set_of_queue(world, "pin", 0)
    world.run()
    assert world.outputs == ()


def test_empty_timing_stays() -> None:
    """An empty value of a rule is a rule, not its removal."""
    world = GroupWorld()
    world.rule("timing", {})
    world.run()
    assert world.state is not None
    assert world.state.rules == {"timing": {}}


def test_rules_are_stored() -> None:
    """The rules of a group are the same after a way to the store and back, and so are its bytes."""
    world = settled("a", "b")
    world.rule("strategy", STICKY)
    for number in (3, 1, 2):
        set_of_queue(world, "pin", number, client_id="b")
    set_of_queue(world, "ban", 0, client_ids=["b"])
    drain(world, "c")
    world.run()
    assert world.state is not None
    stored = encode_group(world.state)
    back = decode_group(*stored, "orders")
    assert back.rules == world.state.rules
    assert encode_group(back) == stored
    engine = EngineRules(1, STRATEGIES)
    again, first = rules_of(back.rules, engine), rules_of(world.state.rules, engine)
    assert [*placement_of(again.single).pins] == [*placement_of(first.single).pins]


def test_state_of_an_engine_that_knows_more() -> None:
    """A rule in the state that this engine does not know stays out of force, and harms nothing."""
    rules = rules_of({"colour": {"red": {}}, "slots": "group"}, EngineRules(1, STRATEGIES))
    assert rules.slots == "group"


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("pin"), st.integers(0, 3), st.sampled_from(["a", "b", "c", None])),
        st.tuples(st.just("ban"), st.integers(0, 3), st.sampled_from(["a", "b", "c", None])),
        st.tuples(st.just("weight"), st.integers(0, 3), st.sampled_from(["0", "1", "2.5", None])),
        st.tuples(st.just("drain"), st.sampled_from(["a", "b", "c"]), st.booleans()),
        st.tuples(st.just("strategy"), st.sampled_from(["AVG", "STICKY"]), st.none()),
    ),
    max_size=12,
)
NAMES = {"pin": "client_id", "ban": "client_ids", "weight": "weight"}


@given(EVENTS)
def test_pins_bans_and_drains_hold_in_any_order(events: list[tuple[str, Any, Any]]) -> None:
    """However rules are set and removed, pins, bans and drains hold and decisions say why."""
    world = settled("a", "b", "c")
    world.rule("strategy", STICKY)
    world.run()
    set_now: dict[str, dict[Any, Any]] = {"pin": {}, "ban": {}, "weight": {}, "drain": {}}
    strategy = "STICKY"
    for what, subject, value in events:
        if what == "strategy":
            strategy = subject
            world.rule("strategy", {"name": strategy})
        elif what == "drain":
            drain(world, subject, ended=not value)
            set_now["drain"][subject] = value or None
        else:
            said = [value] if what == "ban" else value
            set_of_queue(world, what, subject, **({NAMES[what]: said} if value else {}))
            set_now[what][subject] = value
        world.run()
        for output in world.outputs:
            if isinstance(output, Decision):
                assert all(cause.by == "alice" for cause in output.cause if cause.rule == what)
    _check(world, strategy, set_now)


def _check(world: GroupWorld, strategy: str, set_now: dict[str, dict[Any, Any]]) -> None:
    drained = {client for client, value in set_now["drain"].items() if value}
    owners = owners_of(world)
    assert not drained & set(owners.values())
    if strategy != "STICKY":
        assert len(owners) == (4 if len(drained) < 3 else 0)
        return
    for number in range(4):
        pinned, banned = set_now["pin"].get(number), set_now["ban"].get(number)
        if pinned and pinned not in drained:
            assert owners[number] == pinned
        else:
            possible = {"a", "b", "c"} - drained - {banned}
            assert owners.get(number) in possible or (not possible and number not in owners)
