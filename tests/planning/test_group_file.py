"""A group as a document: what is read, what is refused, and what is kept."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.planning.group_file import BadGroupError, group_json, read_group
from fairlead.planning.plan import plan
from strategies.registry import STRATEGIES

GROUP: dict[str, Any] = {
    "group": "orders",
    "members": ["a", {"client_id": "b", "topics": ["orders"]}],
    "topics": {"orders": {"main": 6}},
}
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "planning.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "wrong, path",
    [
        ({"topic": {}}, "topic: unknown"),
        ({"topics": {}}, "topics:"),
        ({"topics": {"orders": {"main": -1}}}, "topics.orders.main:"),
        ({"topics": {"orders": {"main": {"queues": 1, "zone": "a"}}}}, "topics.orders.main.zone:"),
        ({"topics": {"orders": {"main": {"queues": 0, "zones": ["a"]}}}}, "topics.orders.main.zon"),
        ({"members": "a"}, "members:"),
        ({"members": [7]}, "members:"),
        ({"members": ["a", "a"]}, "members: a is there 2 times"),
        ({"members": [{"client_id": "a", "topics": ["x"]}]}, "members: a subscribes to x"),
        ({"members": [{"client_id": "a", "capacity": True}]}, "members: the capacity of a"),
        ({"members": [{"client_id": "a", "group": "x"}]}, "members: a: group: unknown"),
        ({"owned": {"a": [["orders", 1]]}}, "owned.a:"),
        ({"owned": {"a": [["orders", "main", True]]}}, "owned.a:"),
        ({"owned": {"a": [["orders", "main", 6]]}}, "owned.a: .* is no queue of topics"),
        ({"owned": {"a": [["orders", "main", 1]] * 2}}, "owned.a: .* has an owner already"),
        ({"owned": {"x": []}}, "owned.x: there is no such member"),
        ({"options": 1}, "options:"),
        ({"options": {"x": 1}}, "options: x: unknown; expected one of bans"),
        ({"strategy": "AVG", "options": {"x": 1}}, "options: x: no such option"),
        ({"strategy": "NONE"}, "strategy: there is no strategy 'NONE'"),
        ({"slots": "all"}, "slots: slots cannot be 'all'"),
        ({"rules": {}}, "rules: it must be a list"),
        ({"rules": ["drain"]}, "rules.0.: it must be an object with rule and value"),
        (
            {"rules": [{"rule": "slots", "value": "group"}]},
            "rules.0.: slots has a field of its own",
        ),
        (
            {"rules": [{"rule": "designated", "value": {"only": 1}}]},
            "rules: designated: only: only",
        ),
        ({"rules": [{"rule": "nope", "value": 1}]}, "rules: nope: .* no rule 'nope'"),
        ({"rules": [{"rule": "pin", "value": 1}]}, "rules.0..value: a pin is an object"),
        ({"rules": [{"rule": "pin", "value": {"client_id": "a"}}]}, "rules.0..value.queue:"),
        ({"rules": [{"rule": "capacity", "value": {"client_id": "a"}}]}, "rules: capacity a: capa"),
        ({"measured": [[["orders", "main", 0], "2"]]}, "measured.0.:"),
        ({"measured": [[["orders", "main", 0], -1]]}, "measured.0.:"),
    ],
)
def test_documents_that_cannot_be(wrong: dict[str, Any], path: str) -> None:
    """A document that is no group names the field."""
    with pytest.raises(BadGroupError, match=path):
        read_group({**GROUP, **wrong})


def test_a_group_written_down_is_read_the_same() -> None:
    """A group that is written down and read again is the same."""
    zoned = {"client_id": "c", "zone": "east", "capacity": 2, "topics": ["bills"]}
    group = {
        **GROUP,
        "members": ["b", "a", zoned],
        "topics": {
            "orders": {"main": 6},
            "bills": {"x": {"queues": 2, "zones": ["east", None]}, "y": 1},
        },
        "strategy": "STICKY",
        "options": {"drained": ["a"]},
        "slots": "group",
        "rules": [
            {"rule": "ban", "value": {"queue": ["orders", "main", 3], "client_ids": ["a", "b"]}},
            {"rule": "capacity", "value": {"client_id": "a", "capacity": "2.5"}},
            {"rule": "designated", "value": {"only": ["a", "c"], "if_nobody": "all"}},
            {"rule": "drain", "value": {"client_id": "b"}},
            {"rule": "pin", "value": {"queue": ["orders", "main", 2], "client_id": "a"}},
            {"rule": "weighing", "value": {"by": "rate"}},
            {"rule": "weight", "value": {"queue": ["orders", "main", 0], "weight": "0.5"}},
            {"rule": "weight", "value": {"queue": ["orders", "main", 1], "weight": "3"}},
        ],
        "measured": [[["bills", "y", 0], 2.5]],
        "owned": {"a": [["orders", "main", 0]], "c": [["bills", "y", 0]]},
    }
    kept = group_json(read_group(group))
    assert group_json(read_group(kept)) == kept
    assert plan(read_group(kept), ()) == plan(read_group(group), ())
    assert kept["owned"] == {"a": [["orders", "main", 0]], "b": [], "c": [["bills", "y", 0]]}
    assert kept["rules"] == group["rules"]


@dataclass(frozen=True)
class Noted(Allocation):
    """An answer with something beside it."""

    notes: tuple[str, ...] = ("cut short",)


class Hasty:
    """Gives nothing to anybody, and says why."""

    name = "HASTY"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Answer."""
        return Noted({topic: {} for topic in request.queues})


def test_a_group_file_may_have_a_strategy_of_ones_own() -> None:
    """A group may have a strategy of one's own, and the plan has its notes."""
    group = {**GROUP, "strategy": "HASTY"}
    with pytest.raises(BadGroupError, match="strategy: there is no strategy 'HASTY'"):
        read_group(group)
    found = plan(read_group(group, {**STRATEGIES, "HASTY": Hasty()}), ())
    assert len(found.orphans) == 6
    assert found.remarks == ("HASTY: cut short",)


def test_the_document_of_the_page_is_a_group() -> None:
    """The document of docs/planning.md is one."""
    group = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    assert set(read_group(group).members) == {"a", "b"}
