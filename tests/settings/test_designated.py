"""conf/ names the members of a group that alone consume; the core reads or refuses it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fairlead.conf_folder import conf_directory
from fairlead.core.records import CONF_AUTHOR
from fairlead.core.rules.group_rules import GroupRules, with_rule
from fairlead.errors import UsageError
from fairlead.settings import Settings, SettingsError, load_settings
from streaming.rules import RuleInForce, rule_changes, wanted_rules

TABLE = "[group.orders.designated]\n"


def _settings(text: str, folder: Path) -> Settings:
    given = folder / "conf.toml"
    given.write_text(text, encoding="utf-8")
    return load_settings(files=[given])


def test_a_rule_is_published_with_its_defaults(tmp_path: Path) -> None:
    """The rule is published with what was left out of conf/."""
    wanted = wanted_rules(_settings(TABLE + 'only = ["192.168.0.6", "app-*"]', tmp_path))
    value = {"only": ["192.168.0.6", "app-*"], "topics": None, "if_nobody": "nobody"}
    assert wanted["orders", "designated"] == value
    assert {rule for group, rule in wanted if group == "orders"} == {"designated"}


def test_everything_a_rule_may_say_can_be_in_conf(tmp_path: Path) -> None:
    """Everything that the rule may say can be said in conf/."""
    text = TABLE + 'only = ["a"]\ntopics = ["orders"]\nif_nobody = "all"'
    settings = _settings(text, tmp_path)
    wanted = wanted_rules(settings)["orders", "designated"]
    assert wanted == {"only": ["a"], "topics": ["orders"], "if_nobody": "all"}
    assert settings.rules("orders") == settings.group_defaults


def test_a_rule_no_longer_in_conf_is_removed_once(tmp_path: Path) -> None:
    """A rule that conf/ set and names no longer is removed; the same once more writes nothing."""
    wanted = wanted_rules(_settings(TABLE + 'only = ["a"]', tmp_path))
    in_force = {(0, rule): RuleInForce(value, CONF_AUTHOR) for rule, value in wanted.items()}
    assert list(rule_changes(wanted, in_force, 1)) == []
    (change,) = rule_changes(wanted_rules(load_settings()), in_force, 1)
    assert (change.group, change.rule, change.value) == ("orders", "designated", None)


@pytest.mark.parametrize(
    "text, key, remedy",
    [
        ("only = []", "designated.only", "1 to 1000"),
        ('only = ["a", ""]', "designated.only[1]", "1-255"),
        ('only = ["a", "a"]', "designated.only", "once"),
        ("only = [7]", "designated.only[0]", "a text"),
        ("only = [0.5]", "designated", ""),
        ('only = ["10.0.0.0/33"]', "designated.only[0]", "10.0.0.0/8"),
        ('only = ["a"]\ntopics = []', "designated.topics", "null"),
        ('only = ["a"]\nif_nobody = "keep"', "designated.if_nobody", "nobody, all"),
        ('only = ["a"]\ncolour = 1', "designated", "only, topics, if_nobody"),
        ('topics = ["orders"]', "designated", "only, topics, if_nobody"),
    ],
)
def test_what_the_engine_would_reject_is_refused_by_its_key(
    text: str, key: str, remedy: str, tmp_path: Path
) -> None:
    """What the engine would reject is refused by its key, with what is allowed."""
    settings = _settings(TABLE + text, tmp_path)
    with pytest.raises(UsageError) as refused:
        wanted_rules(settings)
    assert refused.value.message.startswith(f"group.orders.{key}")
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    "text", ["[group_defaults.designated]\nonly = ['a']", "[group.orders]\ndesignated = ['a']"]
)
def test_a_designation_is_a_table_of_one_group(text: str, tmp_path: Path) -> None:
    """It is a table, and of a single group."""
    with pytest.raises(SettingsError, match="designated"):
        _settings(text, tmp_path)


def test_comment_of_the_defaults() -> None:
    """What conf/default.toml shows as a comment can be uncommented."""
    lines = (conf_directory() / "default.toml").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("# " + TABLE[:-1]))
    shown = "\n".join(line.removeprefix("# ") for line in lines[start : start + 4])
    value: dict[str, Any] = tomllib.loads(shown)["group"]["orders"]["designated"]
    assert sorted(value) == ["if_nobody", "only", "topics"]
    assert with_rule(GroupRules(), "designated", value, {}).designated is not None
