"""What would move: worked out from a document, shown as a table or as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.planning.group_file import read_group
from fairlead.planning.plan import plan
from tests.answers.schema import assert_answer

RUN = CliRunner()
GROUP: dict[str, Any] = {
    "group": "orders",
    "strategy": "AVG",
    "members": ["a", {"client_id": "b", "topics": ["orders"]}],
    "topics": {"orders": {"main": 6}},
}


def shown(tmp_path: Path, *flags: str, group: dict[str, Any] | None = None) -> str:
    """Run the command and return what it shows."""
    path = tmp_path / "group.json"
    path.write_text(json.dumps(group or GROUP))
    ended = RUN.invoke(app, ["plan", "--file", str(path), *flags])
    assert ended.exit_code == 0, ended.output + str(ended.exception)
    return ended.stdout


def planned(tmp_path: Path, *flags: str, group: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the command and return its JSON."""
    found: dict[str, Any] = json.loads(shown(tmp_path, *flags, "-o", "json", group=group))
    assert_answer("Plan", found)
    return found


def counts(found: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the numbers of queues before and after of each member."""
    return {
        each["client_id"]: (len(each["before"]), len(each["after"]))
        for each in found["member_plans"]
    }


def spreads(found: dict[str, Any], by: str = "by_queues") -> tuple[float, float]:
    """Return the spread before and after."""
    skew = found["imbalance"][by]
    return (skew["before"]["skew"], skew["after"]["skew"])


def test_members_of_before_and_after_are_shown(tmp_path: Path) -> None:
    """Members of before and after are shown; the queues of the one who leaves move."""
    found = planned(tmp_path, "--join", "c", "--leave", "a")
    assert counts(found) == {"a": (3, 0), "b": (3, 3), "c": (0, 3)}
    assert [each["membership"] for each in found["member_plans"]] == ["leaves", "stays", "joins"]
    assert found["queues_dropped"] == 6
    assert spreads(found) == (0, 0)


def test_new_queues_are_no_moves(tmp_path: Path) -> None:
    """New queues are gained, and are no moves."""
    found = planned(tmp_path, "--route", "orders=8", "--strategy", "AVG_BY_CIRCLE")
    assert counts(found) == {"a": (3, 4), "b": (3, 4)}
    assert found["queues_dropped"] == 2
    assert found["queues_change"] == {"before": 6, "after": 8}


def test_queues_that_are_gone_are_no_moves(tmp_path: Path) -> None:
    """Queues that cannot be read any more are gone, and are no moves."""
    found = planned(tmp_path, "--route", "orders/main=4")
    assert counts(found) == {"a": (3, 2), "b": (3, 2)}
    assert found["gone"] == [["orders", "main", 4], ["orders", "main", 5]]
    assert found["queues_dropped"] == 1


def test_a_joining_client_may_bring_a_topic(tmp_path: Path) -> None:
    """A client that joins may bring a topic of its own, with queues on two brokers."""
    join = ["--join", "c,zone=east,capacity=2,topics=bills+orders"]
    found = planned(tmp_path, *join, "--route", "bills/x=2", "--route", "bills/y=1")
    assert counts(found) == {"a": (3, 2), "b": (3, 2), "c": (0, 5)}
    assert found["member_plans"][2]["capacity"] == 2


def test_an_owner_of_now_can_be_given(tmp_path: Path) -> None:
    """Who owns what now can be said; what nobody owns now is no move."""
    owned = {"b": [["orders", "main", number] for number in range(4)]}
    found = planned(tmp_path, group={**GROUP, "owned": owned})
    assert counts(found) == {"a": (0, 3), "b": (4, 3)}
    assert found["queues_dropped"] == found["queues_dropped_without_plan"] == 3


def test_a_topic_that_cannot_be_allocated_keeps_its_owners(tmp_path: Path) -> None:
    """A topic that cannot be allocated keeps what it has."""
    found = planned(tmp_path, "--strategy", "MACHINE_ROOM_NEARBY", "--options", '{"room":"zone"}')
    assert (found["queues_dropped"], [each["topic"] for each in found["failures"]]) == (
        0,
        ["orders"],
    )
    assert found["failures"][0]["code"] == "room_unknown"
    assert found["alarms"] == ["allocation_failed"]


def test_when_everybody_leaves_no_share_is_uneven(tmp_path: Path) -> None:
    """When nobody is left every queue belongs to nobody, and no share is even or uneven."""
    found = planned(tmp_path, "--leave", "a", "--leave", "b")
    assert (
        len(found["unassigned_list"]),
        found["queues_dropped"],
        found["even_share"]["queues_dropped"],
    ) == (6, 6, 6)
    assert found["imbalance"]["by_queues"]["after"]["ratio"] is None


def test_a_client_that_may_not_consume_makes_no_share_uneven(tmp_path: Path) -> None:
    """Who may not consume owns nothing, and makes no share uneven."""
    rules = [{"rule": "designated", "value": {"only": ["b", "c"]}}]
    found = planned(tmp_path, "--join", "c", group={**GROUP, "rules": rules})
    assert counts(found) == {"a": (0, 0), "b": (6, 3), "c": (0, 3)}
    assert spreads(found) == (0, 0)
    assert found["even_share"] == {"queues_dropped": 3, "exact": True, "measure": "queues"}


def test_nobody_is_designated(tmp_path: Path) -> None:
    """When the last designated member leaves nobody consumes, and an alarm would say so."""
    rules = [{"rule": "designated", "value": {"only": ["b"]}}]
    found = planned(tmp_path, "--leave", "b", group={**GROUP, "rules": rules})
    assert (len(found["unassigned_list"]), found["alarms"]) == (6, ["designation_empty"])


def test_the_even_share_stands_beside_the_moves(tmp_path: Path) -> None:
    """The moves of an even share stand beside those of the strategy."""
    group = {
        "members": ["a", "b", "c"],
        "topics": {"orders": {"main": 12}},
        "strategy": "AVG",
    }
    found = planned(tmp_path, "--join", "d", group=group)
    assert found["queues_dropped"] == 6
    assert found["even_share"] == {"queues_dropped": 3, "exact": True, "measure": "queues"}


def test_even_share_of_overlaps(tmp_path: Path) -> None:
    """Where subscriptions overlap the least is known too."""
    group = {
        "strategy": "STICKY",
        "members": ["a", {"client_id": "b", "topics": ["orders"]}],
        "topics": {"orders": {"main": 6}, "bills": {"main": 2}},
    }
    found = planned(tmp_path, "--join", "c", group=group)
    assert found["even_share"] == {"queues_dropped": 2, "exact": True, "measure": "queues"}


def test_even_share_in_two_parts(tmp_path: Path) -> None:
    """Where a rule has some topics shared by themselves nobody claims to know the least."""
    rules = [{"rule": "designated", "value": {"only": ["b"], "topics": ["bills"]}}]
    group = {
        "members": ["a", "b"],
        "topics": {"orders": {"main": 6}, "bills": {"main": 2}},
        "slots": "group",
        "rules": rules,
    }
    found = planned(tmp_path, "--join", "c", group=group)
    assert found["even_share"]["exact"] is False
    assert "an even share by number of queues is possible with" in shown(
        tmp_path, "--join", "c", group=group
    )


def test_loads_are_weight_over_capacity(tmp_path: Path) -> None:
    """Skew by load is weight / capacity, before and after by the scales of after."""
    weights = {"weights": [[["orders", "main", 0], 5]], "capacity": {"b": 2}}
    flags = ["--strategy", "STICKY", "--options", json.dumps(weights)]
    found = planned(tmp_path, *flags)
    loads = found["imbalance"]["by_load"]
    assert (loads["before"]["most"], loads["before"]["least"]) == (7, 1.5)
    weight = {each["client_id"]: each["weight_change"]["after"] for each in found["member_plans"]}
    assert loads["after"]["most"] == max(weight["a"], weight["b"] / 2)
    text = shown(tmp_path, *flags)
    assert "skew by weight / capacity: most − least 5.5 →" in text
    assert "an even share by capacity, weights aside, is" in text


def test_zones_count_as_in_the_engine(tmp_path: Path) -> None:
    """Zones of queues and members count as in the engine."""
    east = {"client_id": "a", "zone": "east"}
    group = {
        "strategy": "STICKY",
        "members": [east, "b"],
        "topics": {"orders": {"main": {"queues": 3, "zones": [None, "east", "east"]}, "x": 1}},
    }
    found = planned(tmp_path, group=group)
    assert found["member_plans"][0]["after"] == [["orders", "main", 1], ["orders", "main", 2]]


def test_options_are_replaced_whole(tmp_path: Path) -> None:
    """Options are the whole of them; another strategy begins without any."""
    group = {**GROUP, "strategy": "STICKY", "options": {"capacity": {"a": 2}}}
    assert counts(planned(tmp_path, group=group))["a"] == (4, 4)
    assert counts(planned(tmp_path, "--options", "{}", group=group))["a"] == (4, 3)
    assert counts(planned(tmp_path, "--strategy", "STICKY", group=group))["a"] == (4, 3)


RULE_FLAGS = [
    (["--only", "a", "--topics", "orders", "--if-nobody", "all"], {"a": (3, 6), "b": (3, 0)}),
    (["--drain", "a"], {"a": (3, 0), "b": (3, 6)}),
    (["-s", "STICKY", "--capacity", "b=2"], {"a": (3, 2), "b": (3, 4)}),
    (["-s", "STICKY", *(f"--pin=orders/main/{n}=a" for n in range(5))], {"a": (3, 5), "b": (3, 1)}),
    (["-s", "STICKY", "--weight", "orders/main/0=9"], {"a": (3, 1), "b": (3, 5)}),
    (["-s", "STICKY", *(f"--ban=orders/main/{n}=b" for n in range(6))], {"a": (3, 6), "b": (3, 0)}),
    (["--slots", "group"], {"a": (3, 3), "b": (3, 3)}),
    (["--weigh-by", "rate"], {"a": (3, 3), "b": (3, 3)}),
]


@pytest.mark.parametrize("flags, owned", RULE_FLAGS, ids=lambda given: " ".join(given)[:40])
def test_rules_are_changed_by_flags(
    flags: list[str], owned: dict[str, tuple[int, int]], tmp_path: Path
) -> None:
    """Rules are changed by the flags of `fairlead group set`."""
    assert counts(planned(tmp_path, *flags)) == owned


def test_rules_for_strangers_are_reported(tmp_path: Path) -> None:
    """The plan names rules for queues and clients that the group would not have."""
    strange = ["--pin", "orders/mian/0=a", "--pin", "orders/main/7=c", "--drain", "x"]
    found = planned(tmp_path, *strange, "--route", "orders=8", "--ban", "orders/main/0=y")
    assert found["notes"] == [
        "the rule pin of orders/mian/0: the group has no such queue",
        "the rule pin of orders/main/7: c would be no member",
        "the rule drain of x: x would be no member",
    ]
    assert "note: the rule drain of x" in shown(tmp_path, *strange)


def test_a_pin_in_vain(tmp_path: Path) -> None:
    """The plan names a pin to a member that does not read the topic: it does nothing."""
    members = ["a", {"client_id": "b", "topics": ["bills"]}]
    topics = {"orders": {"main": 6}, "bills": {"main": 2}}
    group = {**GROUP, "members": members, "topics": topics, "strategy": "STICKY"}
    found = planned(tmp_path, "--pin", "orders/main/0=b", "--pin", "bills/main/0=b", group=group)
    (remark,) = found["notes"]
    assert remark.startswith("the rule pin of orders/main/0: b does not subscribe to orders")


def test_an_unset_rule_gives_back_what_it_kept_away(tmp_path: Path) -> None:
    """A rule can be taken away, and what it kept away comes back."""
    rules = [
        {"rule": "designated", "value": {"only": ["b"]}},
        {"rule": "drain", "value": {"client_id": "a"}},
        {"rule": "pin", "value": {"queue": ["orders", "main", 0], "client_id": "b"}},
    ]
    group = {**GROUP, "strategy": "STICKY", "rules": rules}
    gone = ["--unset", "designated", "--unset", "drain=a"]
    found = planned(tmp_path, *gone, group=group)
    assert counts(found) == {"a": (0, 3), "b": (6, 3)}
    assert ["orders", "main", 0] in found["member_plans"][1]["after"]
    found = planned(
        tmp_path, *gone, "--unset", "pin=orders/main/0", "--unset", "strategy", group=group
    )
    assert found["member_plans"][0]["after"][0] == ["orders", "main", 0]


def test_a_rule_without_effect_raises_the_alarm(tmp_path: Path) -> None:
    """A rule that the strategy does not take raises the alarm that the engine would raise."""
    found = planned(tmp_path, "--weight", "orders/main/0=9")
    assert (found["queues_dropped"], found["alarms"]) == (0, ["rule_without_effect"])
    assert found["imbalance"]["by_load"]["after"]["most"] == 11


def test_the_table_names_gains_losses_and_costs(tmp_path: Path) -> None:
    """The table names what each member gains and loses, and the lines below what it costs."""
    lines = shown(tmp_path, "--strategy", "AVG_BY_CIRCLE", "--join", "c").splitlines()
    assert lines[0] == "orders: AVG → AVG_BY_CIRCLE, 2 → 3 members, 6 queues"
    rows = [line.split() for line in lines[2:10]]
    assert [row for row in rows if row and "─" not in row[0]] == [
        ["client", "queues", "gains", "+,", "loses", "−"],
        ["a", "3", "→", "2", "+", "orders/main/3"],
        ["−", "orders/main/1,2"],
        ["b", "3", "→", "2", "+", "orders/main/1"],
        ["−", "orders/main/3,5"],
        ["c", "joins", "0", "→", "2", "+", "orders/main/2,5"],
    ]
    assert lines[-2:] == [
        "moves: 4 queues; the least possible for an even share by number of queues is 2",
        "skew by queues: most − least 0 → 0, most / mean 1.000 → 1.000",
    ]


def test_no_id_is_cut_off(tmp_path: Path) -> None:
    """No id is cut off, and long lists of queues are ranges that go on in the next line."""
    topic, broker, client = "t" * 90, "b" * 90, "c" * 200
    group = {"members": ["a"], "topics": {topic: {broker: 64}}}
    lines = shown(tmp_path, "--join", client, group=group).splitlines()
    assert any(client in line and f"+ {topic}/{broker}/32-63" in line for line in lines)
    group = {"members": ["a"], "topics": {"x": {"main": 64}}}
    circle = shown(tmp_path, "--join", "d", "-s", "AVG_BY_CIRCLE", group=group)
    assert max(map(len, circle.splitlines())) <= 80
    assert "− x/main/1,3,5,7" in circle


def test_a_plan_is_one_document(tmp_path: Path) -> None:
    """A plan is one document, on one line if that is asked for."""
    text = shown(tmp_path, "--join", "c", "-o", "jsonl")
    assert json.loads(text) == planned(tmp_path, "--join", "c")
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--leave", "x"], "--leave: x is no member"),
        (["--join", "a"], "--join: a is a member"),
        (["--join", "c", "--join", "c"], "--join: c is a member"),
        (["--join", "c d"], "'c d' is no client id"),
        (["--join", "c,capacity=0"], "'0' is no capacity"),
        (["--join", "c,zone="], "'' is no zone"),
        (["--join", "c,zone=a,zone=b"], "zone is there twice"),
        (["--join", "c,topics=x+"], "'' is no topic"),
        (["--route", "orders"], "'orders' is no route"),
        (["--route", "nope=3"], "nobody subscribes to nope"),
        (["--join", "c,topics=nope", "--route", "nope=3"], "nope has brokers: none yet"),
        (["--route", "orders=100001"], "orders cannot have 100001 queues"),
        (["--strategy", "NONE"], "strategy: name: there is no strategy 'NONE'"),
        (["--strategy", "STICKY", "--options", '{"x": 1}'], "strategy: options: x: unknown"),
        (["--options", "{"], "--options: it is no JSON"),
        (["--options", "[]"], "strategy: options: it is an array"),
        (["--pin", "orders/3=a"], "--pin: 'orders/3=a' is no queue"),
        (["--weight", "orders/main/3=-1"], "weight of orders/main/3: weight:"),
        (["--capacity", "a=0"], "capacity of a: capacity:"),
        (["--if-nobody", "all"], "--only: it is missing"),
        (["--only", "10.0.0.300"], "designated: only[0]: '10.0.0.300' is no address"),
        (["--unset", "pin"], "--unset: 'pin' is no rule"),
        (["--unset", "timing"], "--unset: 'timing' is no rule"),
        (["--unset", "pin=orders"], "--pin: 'orders' is no queue"),
    ],
)
def test_a_mistake_is_named_by_its_flag(tmp_path: Path, flags: list[str], said: str) -> None:
    """The error of a mistake names its flag."""
    path = tmp_path / "group.json"
    path.write_text(json.dumps(GROUP))
    ended = RUN.invoke(app, ["plan", "--file", str(path), *flags])
    assert ended.exit_code != 0
    assert said in ended.output + str(ended.exception)


def test_no_change_moves_nothing() -> None:
    """A group that stays as it is moves nothing."""
    assert plan(read_group(GROUP), ()).moves == 0


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "planning.md").read_text(encoding="utf-8")


def test_the_table_of_the_page_is_what_the_command_shows(tmp_path: Path) -> None:
    """The table of docs/planning.md is what the command shows."""
    members = [f"10.0.0.{number}@4121" for number in (1, 2, 3)]
    group = {"group": "orders", "members": members, "topics": {"orders": {"main": 32}}}
    text = shown(tmp_path, "--join", "10.0.0.4@4121", group=group)
    assert "\n".join(line.rstrip() for line in text.splitlines()) in PAGE
