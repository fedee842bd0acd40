"""The page's worked example of designated members is what schema, decoder and core make of it."""

from typing import Any

from fairlead.core.records import RuleSet
from fairlead.core.rules.designation import read_designation
from fairlead.wire.decode import decode
from tests.kit.group_world import GroupWorld
from tests.kit.protocol_page import designation, table, validator
from tests.kit.wire_records import LIMITS, raw_of

ROWS = table("client", "designated", "queues of `orders` under AVG")


def _rule() -> RuleSet:
    rule = decode("control", raw_of(designation()), LIMITS)
    assert isinstance(rule, RuleSet)
    return rule


def _owned(*others: str) -> dict[str, int]:
    """Return how many of nine queues each client of the page owns, others being there as well."""
    clients = [client for client, _, _ in ROWS] + [*others]
    world = GroupWorld()
    world.rule(_rule().rule, _rule().value)
    for client in clients:
        world.beat(client)
    world.publish(9)
    return {client: len(world.owned(client)) for client in clients}


def test_the_designated_example_fits_its_schema() -> None:
    """The example is what the schema says, and is read as it stands."""
    assert [error.message for error in validator("rule").iter_errors(designation())] == []
    assert _rule() == RuleSet("orders", "designated", (), designation()["value"], "alice")


def test_the_page_says_whom_the_rule_names() -> None:
    """The page says of each client whether the rule names it."""
    entries = read_designation(_rule().value).entries
    told: dict[str, Any] = {client: word == "yes" for client, word, _ in ROWS}
    assert {client: entries.names(client) for client in told} == told


def test_the_page_says_who_owns_how_many_queues() -> None:
    """The page says how many queues each client owns, and what a fifth changes."""
    assert _owned() == {client: int(number) for client, _, number in ROWS}
    fifth = _owned("10.0.0.7@77#1")
    assert sorted(fifth.values()) == [0, 0, 0, 4, 5]
    assert min(fifth["10.0.0.7@77#1"], fifth["192.168.0.6@4121#1"]) == 4
