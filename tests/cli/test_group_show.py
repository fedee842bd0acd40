"""`fairlead group show` on a terminal of 80 columns, and what programs read of it."""

import json

import pytest

from fairlead.cli.render.output import OutputFormat, write_fitting, write_rows
from fairlead.cli.render.rule import RULE_COLUMNS, rule_cells
from fairlead.control.rule_json import rules_json
from fairlead.control.rules_in_force import RulesInForce, WrittenRule
from fairlead.core.records import RuleSet
from strategies.registry import STRATEGIES

COLUMNS = 80
WRITTEN_MS = 1_790_000_000_000
POD = "10.42.133.207@orders-consumer-6c9f7d8b5d-xk2vq#8f14e45fceea167a5a36dedd4bea2543"
"""A client id as it comes from a pod: alone it is as wide as the terminal."""
LONGEST = "c" * 255

NOTHING: tuple[RuleSet, ...] = ()
OF_A_POD = (
    RuleSet("orders", "drain", (POD,), {"client_id": POD}, "bob", "its node goes away tonight"),
    RuleSet("*", "timing", (), {"lease_ms": 20_000}, "conf"),
)
OF_THE_LONGEST = (
    RuleSet("orders", "pin", ("orders", "main", "3"), {"client_id": LONGEST}, LONGEST, LONGEST),
)

Capture = pytest.CaptureFixture[str]


def _shown(rules: tuple[RuleSet, ...], output: OutputFormat, capsys: Capture) -> str:
    found = RulesInForce(STRATEGIES)
    for rule in rules:
        found.apply(WrittenRule(rule, "fairlead.control", 0, 7, WRITTEN_MS))
    rules_shown = list(rules_json(found))
    if output is OutputFormat.TABLE:
        cells, prose = map(rule_cells, rules_shown), ("says", "because")
        write_fitting(cells, RULE_COLUMNS, output, prose=prose, width=COLUMNS)
    else:
        write_rows(rules_shown, (), output)
    return capsys.readouterr().out


@pytest.mark.parametrize("rules", [NOTHING, OF_A_POD], ids=["built-in", "pod"])
def test_no_line_is_longer_than_the_terminal(rules: tuple[RuleSet, ...], capsys: Capture) -> None:
    """No line is longer than the terminal, and a client id is never cut or divided."""
    lines = _shown(rules, OutputFormat.TABLE, capsys).splitlines()
    assert max(map(len, lines)) <= COLUMNS
    assert any(line.strip() == POD for line in lines) is bool(rules)


def test_built_in_is_a_table(capsys: Capture) -> None:
    """A group without rules of its own is shown in a table without the empty columns."""
    lines = _shown(NOTHING, OutputFormat.TABLE, capsys).splitlines()
    assert lines[1].split() == ["rule", "says", "origin"]


def test_only_an_id_longer_than_the_terminal_is_wrapped(capsys: Capture) -> None:
    """Only an id that is longer than the terminal is wrapped by it, and can be copied whole."""
    lines = _shown(OF_THE_LONGEST, OutputFormat.TABLE, capsys).splitlines()
    assert {line for line in lines if len(line) > COLUMNS} == {LONGEST}


def test_json_has_every_field_on_one_line(capsys: Capture) -> None:
    """JSON has whole ids on one line, and every field, however narrow the terminal is."""
    rows = [json.loads(line) for line in _shown(OF_A_POD, OutputFormat.JSONL, capsys).splitlines()]
    (drain,) = [row for row in rows if row["rule"] == "drain"]
    assert (drain["for"], drain["because"]) == (POD, "its node goes away tonight")
