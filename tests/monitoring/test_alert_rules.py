"""The rules, in Prometheus's own judgement: sound, firing when they should, and not else."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from fairlead.errors import ExitCode
from tests.monitoring.alert_cases.case import Case
from tests.monitoring.alert_files import CASES, ROOT, generated_files
from tests.monitoring.promtool import promtool
from tools.alerts import ALERTS, GROWTHS, Alert
from tools.alerts.__main__ import main
from tools.alerts.durations import scaled, scaled_duration
from tools.alerts.rules import rules_document
from tools.alerts.scraping import prometheus_document
from tools.alerts.yaml_text import yaml_text

DEPLOYED = ROOT / "deploy" / "prometheus"
ALL_CASES = [case for cases, _ in CASES.values() for case in cases]
LISTED = {
    "page": {
        "OverlapDetected", "EngineStalled", "EngineDown", "ServeDown", "QueuesUnassigned",
        "NotConverged", "PublishFailing",
    },
    "ticket": {
        "RebalanceStorm", "HandoverTimeouts", "MembersIdle", "SubscriptionMismatch",
        "ClientIdConflict", "GroupOfflineWithLag", "LagGrowing", "InputLagHigh", "StateGrowing",
        "StickinessPoor", "GroupsFolded",
    },
}  # fmt: skip
"""What must be there; there are more."""


@pytest.mark.parametrize("name", generated_files())
def test_the_deployed_rules_are_those_of_the_code(name: str) -> None:
    """What stands in deploy/ and docs/ is what the table in code says; else: make alerts."""
    assert (ROOT / name).read_text(encoding="utf-8") == generated_files()[name]


def test_no_alert_is_missing_or_stands_twice() -> None:
    """No alert is missing, none stands twice, and each has the right severity."""
    names = [alert.name for alert in ALERTS]
    assert len(names) == len({*names})
    for severity, wanted in LISTED.items():
        assert wanted <= {alert.name for alert in ALERTS if alert.severity == severity}


def test_prometheus_loads_the_rules() -> None:
    """Prometheus loads the rules and the configuration."""
    for check in (("rules", "rules/fairlead.yml"), ("config", "prometheus.yml")):
        code, said = promtool("check", check[0], DEPLOYED / check[1])
        assert code == 0, said
    assert (
        f"{len(ALERTS) + len(GROWTHS)} rules found"
        in promtool("check", "rules", DEPLOYED / "rules/fairlead.yml")[1]
    )


@pytest.mark.parametrize(
    "name",
    [
        # Hundreds of rules each: half a minute of a processor.
        pytest.param(name, marks=pytest.mark.slow) if name in ("engine", "groups") else name
        for name in CASES
    ],
)
def test_fire_and_be_silent(name: str) -> None:
    """Every history fires what it should, with these labels and texts, and nothing too early."""
    code, said = promtool("test", "rules", DEPLOYED / "tests" / f"{name}.yml")
    assert code == 0, said


def test_a_wrong_expectation_is_seen(tmp_path: Path) -> None:
    """The judge of the cases says no where an alert fires a quarter of an hour too early."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "rules").symlink_to(DEPLOYED / "rules")
    text = (DEPLOYED / "tests" / "slow.yml").read_text(encoding="utf-8")
    assert "eval_time: 8h" in text
    (tmp_path / "tests/slow.yml").write_text(text.replace("eval_time: 8h", "eval_time: 6h"))
    code, said = promtool("test", "rules", tmp_path / "tests/slow.yml")
    assert code != 0
    assert "alertname: StateGrowing, time: 6h" in said


@pytest.mark.parametrize("alert", [alert.name for alert in ALERTS])
def test_each_alert_fires_in_one_history_and_not_in_another(alert: str) -> None:
    """Each alert has a history in which it fires, and a check that finds it silent."""
    checks = [check for case in ALL_CASES for check in case.checks if check.alert == alert]
    assert any(check.fires for check in checks)
    assert any(not check.fires for check in checks)


@pytest.mark.parametrize("growth", [growth.name for growth in GROWTHS])
def test_the_first_event_of_each_counter_shows(growth: str) -> None:
    """Each counter that is left out while it is 0 has a history in which its first event tells."""
    (counter,) = {one.counter for one in GROWTHS if one.name == growth}
    told = {alert.name for alert in ALERTS if growth in alert.expression}
    assert told

    def born(case: Case) -> bool:
        return any(
            series.startswith(f"{counter}{{") and values.startswith("_")
            for series, values in case.series.items()
        )

    firing = {
        check.alert for case in ALL_CASES if born(case) for check in case.checks if check.fires
    }
    assert told & firing


@pytest.mark.parametrize("alert", ALERTS, ids=[alert.name for alert in ALERTS])
def test_texts_name_only_labels_of_their_alert(alert: Alert) -> None:
    """Texts name only labels that the alert has in some history, and are sentences."""
    labels = {*re.findall(r"\$labels\.(\w+)", alert.summary + alert.description)}
    fired = [
        firing.labels.keys()
        for case in ALL_CASES
        for check in case.checks
        if check.alert == alert.name
        for firing in check.fires
    ]
    assert all(labels <= {*keys} for keys in fired)
    assert alert.description.endswith(".")
    assert not alert.summary.endswith(".")
    if alert.job == "fairlead-serve" and "(job, instance, group" in alert.expression:
        assert "group" in labels


@pytest.mark.parametrize(
    "expression, wanted",
    [
        ("time() - x > seconds(60s)", "time() - x > 3"),
        ("increase(x[15m]) > 10", "increase(x[45s]) > 10"),
        ("x unless x offset 5m\nor y", "x unless x offset 15s\nor y"),
        ("f((x > 0)[15m:15s])", "f((x > 0)[45s:750ms])"),
        ("predict_linear(x[6h], seconds(1d)) > 500e6", "predict_linear(x[18m], 4320) > 500e6"),
        ("group:x:increase15m > 3", "group:x:increase15m > 3"),
        ('up{job="a"} offset 2m == 1', 'up{job="a"} offset 6s == 1'),
    ],
)
def test_windows_are_scaled_and_counts_are_not(expression: str, wanted: str) -> None:
    """Windows, offsets and numbers of seconds are multiplied; names and counts are not."""
    assert scaled(expression, Fraction(1, 20)) == wanted


def test_a_factor_of_one_changes_nothing() -> None:
    """A factor of one changes nothing, and a duration stays in the largest unit that fits."""
    assert scaled("increase(x[15m]) > seconds(5m)") == "increase(x[15m]) > 300"
    assert [scaled_duration(text) for text in ("60s", "90s", "48h", "0s")] == [
        "1m", "90s", "2d", "0s",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no duration"):
        scaled_duration("5 minutes")


@pytest.mark.parametrize("factor", [Fraction(1, 20), Fraction(1, 7), Fraction(3)])
def test_scaled_rules_are_sound(factor: Fraction, tmp_path: Path) -> None:
    """Prometheus loads rules and configuration with every duration multiplied."""
    rules, configuration = tmp_path / "rules.yml", tmp_path / "prometheus.yml"
    rules.write_text(yaml_text(rules_document(factor), "scaled"))
    document = prometheus_document(factor=factor, rules=str(rules))
    configuration.write_text(yaml_text(document, "scaled"))
    code, said = promtool("check", "config", configuration)
    assert code == 0, said
    assert "runbook_url: docs/runbooks/EngineDown.md" in rules.read_text()


def test_others_may_have_their_prefix_and_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names have a prefix, runbooks absolute addresses, and Prometheus takes the file."""
    flags = ["--name-prefix", "Fairlead", "--runbook-base", "https://wiki.example.org/fairlead"]
    monkeypatch.setattr("sys.argv", ["alerts", *flags])
    main()
    rules = tmp_path / "rules.yml"
    rules.write_text(capsys.readouterr().out)
    code, said = promtool("check", "rules", str(rules))
    assert code == 0, said
    written = [
        rule
        for group in yaml.safe_load(rules.read_text())["groups"]
        for rule in group["rules"]
        if "alert" in rule
    ]
    assert {(rule["alert"], rule["annotations"]["runbook_url"]) for rule in written} == {
        (f"Fairlead{alert.name}", f"https://wiki.example.org/fairlead/{alert.name}.md")
        for alert in ALERTS
    }


@pytest.mark.parametrize(
    "flags, first",
    [
        ([], ("FairleadEngineDown", "https://wiki.example.org/fairlead/EngineDown.md")),
        (
            ["--name-prefix", "My"],
            ("MyEngineDown", "https://wiki.example.org/fairlead/EngineDown.md"),
        ),
        (["--runbook-base", "http://h/"], ("FairleadEngineDown", "http://h/EngineDown.md")),
    ],
)
def test_flags_win_over_the_settings(
    flags: list[str],
    first: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without flags the settings say both, of a file and the environment; flags win."""
    own = tmp_path / "my.toml"
    own.write_text('[alerts]\nname_prefix = "Fairlead"\n')
    monkeypatch.setenv("FAIRLEAD__ALERTS__RUNBOOK_BASE", "https://wiki.example.org/fairlead")
    monkeypatch.setattr("sys.argv", ["alerts", "--config", str(own), *flags])
    main()
    rules = [
        rule for each in yaml.safe_load(capsys.readouterr().out)["groups"] for rule in each["rules"]
    ]
    written = [
        (rule["alert"], rule["annotations"]["runbook_url"]) for rule in rules if "alert" in rule
    ]
    assert first in written


def test_a_setting_that_makes_no_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setting that makes no name is refused by its name, as everywhere."""
    monkeypatch.setenv("FAIRLEAD__ALERTS__NAME_PREFIX", "a b")
    monkeypatch.setattr("sys.argv", ["alerts"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == ExitCode.USAGE
    assert "alerts.name_prefix" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags", [["--name-prefix", "a b"], ["--runbook-base", "docs/runbooks"]], ids=" ".join
)
def test_a_prefix_that_makes_no_name_is_refused(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A prefix that makes no name, and a base that is no address, are refused by their names."""
    monkeypatch.setattr("sys.argv", ["alerts", *flags])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == ExitCode.USAGE
    assert f"argument {flags[0]}" in capsys.readouterr().err
