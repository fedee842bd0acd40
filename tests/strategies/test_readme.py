"""The strategies that strategies/README.md shows do what it says of them."""

import re
from pathlib import Path
from typing import Any

from fairlead.core.rules.group_rules import GroupRules, with_rule
from strategies.own_strategies import all_strategies
from tests.kit.group_world import GroupWorld, queue_of, settled

PAGE = (Path(__file__).parents[2] / "strategies" / "README.md").read_text(encoding="utf-8")


def _shown() -> dict[str, Any]:
    """Return what the page's Python defines."""
    defined: dict[str, Any] = {}
    for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(text, defined)  # noqa: S102 - the page's own examples
    return defined


def _owners(world: GroupWorld) -> list[str]:
    assert world.state is not None
    return [world.state.targets[queue_of(number)] for number in range(4)]


def _troubles(world: GroupWorld) -> list[str]:
    decision = world.decision
    return [*decision.alarms, *(failure.code for failure in decision.failures)]


def test_the_example_of_the_readme_allocates() -> None:
    """The first client gets everything; a pinned queue goes to its client, if that is there."""
    shown = _shown()
    world = settled("a", "b", "c")
    for name in ("FirstCome", "FirstComeButPinned"):
        strategy = shown[name]()
        world.strategies[strategy.name] = strategy
    world.rule("strategy", {"name": "FIRST_COME"})
    for number, client in ((1, "c"), (2, "d")):
        value = {"queue": [*queue_of(number)], "client_id": client}
        world.rule("pin", value, "orders", "main", str(number))
    world.run()
    assert _owners(world) == ["a", "a", "a", "a"]
    assert _troubles(world) == ["rule_without_effect"]
    world.rule("strategy", {"name": "FIRST_COME_BUT_PINNED"})
    world.run()
    assert _owners(world) == ["a", "c", "a", "a"]
    assert _troubles(world) == []


def test_the_example_of_the_readme_keeps_the_laws() -> None:
    """The test that the page gives its example passes: the example keeps what it promises."""
    _shown()["test_first_come"]()


def test_names_are_in_force() -> None:
    """Every strategy that the page's table names can be chosen by a rule."""
    names = re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert sorted(names) == sorted(all_strategies([]))
    for name in names:
        value = {"name": name, "options": {}}
        assert with_rule(GroupRules(), "strategy", value, all_strategies([])).strategy == name
