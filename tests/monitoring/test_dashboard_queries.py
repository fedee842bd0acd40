"""What the dashboards ask: PromQL that Prometheus reads, of metrics and labels that there are."""

import re
from pathlib import Path

import yaml

from tests.monitoring.dashboard_proof import RIGHTLY_EMPTY
from tests.monitoring.dashboard_queries import queries
from tests.monitoring.exported_families import exported
from tests.monitoring.promtool import promtool

FAMILIES = exported()

SCRAPED = frozenset({"job", "instance"})
"""Labels that Prometheus gives every series."""

METRIC = re.compile(r"\b(?:fairlead_\w+|ALERTS)\b")
SELECTOR = re.compile(r"(fairlead_\w+|ALERTS)\{([^}]*)\}")
MATCHED = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
KEPT = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")
MADE = re.compile(r'label_replace\(.*?, "(\w+)", "[^"]*", "\w*", "[^"]*"\)')
IN_LEGEND = re.compile(r"\{\{(\w+)\}\}")


def _refused(folder: Path, expressions: list[str]) -> str:
    """Return what promtool has against these expressions; empty: nothing."""
    rules = [{"record": f"asked:{n}", "expr": text} for n, text in enumerate(expressions)]
    path = folder / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}))
    code, said = promtool("check", "rules", path)
    if code == 0:
        assert f"{len(expressions)} rules found" in said
        return ""
    return said


def test_promtool_reads_every_expression(tmp_path: Path) -> None:
    """Promtool reads every expression, with Grafana's variables in their places."""
    asked = [query.asked() for query in queries()]
    assert not [text for text in asked if "$" in text]
    assert _refused(tmp_path, asked) == ""


def test_promtool_refuses_a_bad_expression(tmp_path: Path) -> None:
    """Promtool refuses what is no expression, such as a modifier behind a sum."""
    assert "error" in _refused(tmp_path, ["sum(fairlead_group_members) @ end()"])


def test_each_query_asks_for_exported_metrics() -> None:
    """Each query asks for metrics that are exported, of the chosen jobs and groups alone."""
    for query in queries():
        asked = set(METRIC.findall(query.expression))
        assert asked, query.place
        assert asked - set(FAMILIES) == set(), query.place
        selected = SELECTOR.findall(query.expression)
        assert {metric for metric, _ in selected} == asked, query.place
        for metric, matchers in selected:
            assert ('job=~"$job"' in matchers) == (metric != "ALERTS"), query.place
            chosen = 'group=~"$group' in matchers
            assert chosen == ("group" in FAMILIES[metric]), query.place


def test_labels_of_a_query_are_labels_of_its_metrics() -> None:
    """Labels that a query matches, keeps, or names in its legend, are labels of its metrics."""
    for query in queries():
        found = SELECTOR.findall(query.expression)
        for metric, matchers in found:
            matched = set(MATCHED.findall(matchers))
            assert matched <= {*FAMILIES[metric], *SCRAPED}, query.place
        made = set(MADE.findall(query.expression))
        owned = {label for metric, _ in found for label in FAMILIES[metric]} | SCRAPED | made
        kept = ",".join(KEPT.findall(query.expression)).replace(" ", "").split(",")
        assert set(kept) - {""} - owned == set(), query.place
        assert set(IN_LEGEND.findall(query.legend)) - owned == set(), query.place


def test_no_counter_of_a_group_is_asked_without_its_birth() -> None:
    """No counter of a group is asked for by a function that does not see how a series is born."""
    blind = [
        query.place
        for query in queries()
        for metric in re.findall(r"(?:rate|increase|delta)\((fairlead_\w+)", query.expression)
        if "group" in FAMILIES[metric] and not metric.startswith("fairlead_client_")
    ]
    assert blind == []


def test_what_may_stay_empty_is_a_query() -> None:
    """What may stay without an answer in a system that is well is a query that there is."""
    assert set(RIGHTLY_EMPTY) <= {(query.panel, query.ref) for query in queries()}
    assert all(RIGHTLY_EMPTY.values())
