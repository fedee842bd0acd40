"""conf/ reaches the groups by the log: only the difference is written."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.core.records import CONF_AUTHOR, RuleSet
from fairlead.core.rules.group_rules import TIMES
from fairlead.errors import UsageError
from fairlead.settings import Settings, load_settings
from fairlead.settings.rules import GroupRules
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import raw_record
from strategies.registry import STRATEGIES
from streaming.rules import RuleInForce, publish_rules, rule_changes, wanted_rules
from tests.kit.kafka_log import Log

SHARDS = 4
STICKY = {"name": "STICKY", "options": {}}


def _settings(**overrides: Any) -> Settings:
    """Return settings with dotted keys, dots written as two underscores."""
    return load_settings(
        overrides={name.replace("__", "."): value for name, value in overrides.items()}
    )


def _publish(settings: Settings) -> int:
    """Publish what the settings say, as a start does."""
    return publish_rules(settings, SHARDS, wanted_rules(settings))


def _rules(log: Log) -> list[tuple[int, RuleSet]]:
    """Return the rules in the control topic, read as the engine reads them."""
    found = []
    for record in log.records("control"):
        rule = decode("control", raw_record(record), WireLimits(SHARDS))
        assert isinstance(rule, RuleSet)
        found.append((record.partition, rule))
    return found


def test_the_defaults_are_published_once(settings: Settings, log: Log) -> None:
    """An engine with the settings as delivered publishes strategy and lease, once."""
    # Without a rule a log means AVG and a lease of 10 s, as in recordings of earlier versions.
    assert _publish(settings) == 2 * SHARDS
    published = {(shard, rule.rule, rule.by) for shard, rule in _rules(log)}
    assert published == {
        (shard, rule, CONF_AUTHOR) for shard in range(SHARDS) for rule in ("strategy", "timing")
    }
    values = [rule.value for _, rule in _rules(log)]
    assert values.count(STICKY) == SHARDS
    assert {each["lease_ms"] for each in values if each and each != STICKY} == {15_000}
    assert _publish(settings) == 0


def test_the_rocketmq_profile_makes_groups_avg() -> None:
    """Under RocketMQ's profile groups have AVG; what was said before by conf/ is taken back."""
    wanted = wanted_rules(load_settings(profile="rocketmq"))
    assert wanted["*", "strategy"] == {"name": "AVG", "options": {}}
    assert not [each for each in rule_changes(wanted, {}, SHARDS) if each.rule == "strategy"]
    sticky = {
        (shard, ("*", "strategy")): RuleInForce(STICKY, CONF_AUTHOR) for shard in range(SHARDS)
    }
    changes = [each for each in rule_changes(wanted, sticky, SHARDS) if each.rule == "strategy"]
    assert [each.value["name"] for each in changes] == ["AVG"] * SHARDS


def test_a_changed_rule_is_published_once_where_it_belongs(
    settings: Settings, log: Log, tmp_path: Path
) -> None:
    """A changed rule goes to every partition, a group's own to its partition, and each once."""
    given = tmp_path / "conf.toml"
    given.write_text(
        "[group_defaults]\nlease_ms = 12000\n[group.orders]\n"
        'strategy = "CONSISTENT_HASH"\nstrategy_options = {virtual_nodes = 2}\n'
    )
    changed = load_settings(
        files=[given],
        overrides={
            "kafka.bootstrap": settings.kafka.bootstrap,
            "kafka.topic_prefix": settings.kafka.topic_prefix,
        },
    )
    assert _publish(changed) == 2 * SHARDS + 1
    rules = [each for each in _rules(log) if each[1].value != STICKY]
    timing = {"lease_ms": 12_000, "margin_ms": 3_000, "trigger_ms": 20_000}
    timing |= {"drain_deadline_ms": 30_000, "pull_max_idle_ms": 120_000}
    timing |= {"restart_grace_ms": 0, "settle_ms": 0}
    everywhere = RuleSet("*", "timing", (), timing, "conf")
    chosen = {"name": "CONSISTENT_HASH", "options": {"virtual_nodes": 2}}
    own = RuleSet("orders", "strategy", (), chosen, "conf")
    expected = [(partition, everywhere) for partition in range(SHARDS)]
    assert sorted(rules, key=repr) == sorted(
        [*expected, (partition_of_group("orders", SHARDS), own)], key=repr
    )
    assert _publish(changed) == 0


def test_a_rule_no_longer_in_conf_is_set_back(settings: Settings, log: Log, tmp_path: Path) -> None:
    """A rule that conf/ set and names no longer is set back, a group's own is removed."""
    given = tmp_path / "conf.toml"
    given.write_text('[group_defaults]\nslots = "group"\n[group.orders]\nslots = "subscribers"\n')
    connection = {
        "kafka.bootstrap": settings.kafka.bootstrap,
        "kafka.topic_prefix": settings.kafka.topic_prefix,
    }
    _publish(load_settings(files=[given], overrides=connection))
    before = len(log.records("control"))
    assert _publish(settings) == SHARDS + 1
    newest = [orjson.loads(record.value) for record in log.records("control")[before:]]
    assert {(each["group"], each["value"], each["by"]) for each in newest} == {
        ("*", "subscribers", "conf"),
        ("orders", None, "conf"),
    }


def test_operators_group_rule_stays(settings: Settings, log: Log) -> None:
    """What an operator set for a group that conf/ does not name is left alone."""
    value = orjson.dumps(
        {"v": 1, "kind": "rule", "group": "a", "rule": "pause", "value": True, "by": "alice"}
    )
    _publish(settings)
    log.append("control", value, b'["a","pause"]', partition_of_group("a", SHARDS))
    assert _publish(settings) == 0


def test_unreadable_control_records_do_not_stop_the_driver(settings: Settings, log: Log) -> None:
    """Control records that cannot be read do not stop the driver; the engine rejects them."""
    _publish(settings)
    for key, value in [
        (b"\xff", b"{"),
        (b"[]", b"[]"),
        (b'["*","slots"]', b"nonsense"),
        (b'"a"', b"1"),
    ]:
        log.append("control", value, key)
    assert _publish(settings) == 0


def test_built_in_rules_are_not_published() -> None:
    """What the engine does anyhow needs no rule."""
    wanted = wanted_rules(_settings())
    assert {rule for _, rule in wanted} == {
        *("strategy", "timing", "slots", "mode", "on_mute", "react", "start_policy", "weighing"),
        *("quota", "retry_topics", "take_over"),
    }
    whole = ("slots", "mode", "on_mute", "react", "start_policy")
    built_in = {("*", rule) for rule in whole}
    assert not {name for name in built_in if list(rule_changes({name: wanted[name]}, {}, 1))}


@pytest.mark.parametrize(
    "given, rule, value",
    [
        ('mode = "eager"', "mode", "eager"),
        ('on_mute = "force"', "on_mute", "force"),
        ('react = "on_tick"', "react", "on_tick"),
        ('start_policy = "rocketmq"', "start_policy", "rocketmq"),
        ('drain_deadline_ms = "never"', "timing", {"drain_deadline_ms": "never"}),
    ],
)
def test_rules_of_handing_over(given: str, rule: str, value: Any, tmp_path: Path) -> None:
    """How a group hands over, and what it does with mute clients, are rules like the others."""
    file = tmp_path / "conf.toml"
    file.write_text(f"[group.orders]\n{given}\n", encoding="utf-8")
    wanted = wanted_rules(load_settings(files=[file]))
    assert wanted["orders", rule] == value
    assert list(rule_changes({("orders", rule): value}, {}, 1))


def _refusal(text: str, folder: Path) -> UsageError:
    """Return how the rules of a file are refused."""
    given = folder / "conf.toml"
    given.write_text(text, encoding="utf-8")
    settings = load_settings(files=[given])
    with pytest.raises(UsageError) as refused:
        wanted_rules(settings)
    return refused.value


@pytest.mark.parametrize("table", ["group_defaults", "group.orders"])
def test_an_unknown_strategy_is_refused_with_those_there_are(table: str, tmp_path: Path) -> None:
    """A strategy that the engine does not have is refused with those that it has."""
    refusal = _refusal(f'[{table}]\nstrategy = "NEAREST"\n', tmp_path)
    assert refusal.message == f"{table}.strategy: there is no strategy 'NEAREST'."
    known = ", ".join(sorted(STRATEGIES))
    assert refusal.remedy == f"Change {table}.strategy: name one of {known}."


def test_strategies_are_those_of_the_engine() -> None:
    """The strategies are those that the engine is started with."""
    wanted = wanted_rules(_settings(group_defaults__strategy="MINE"), {"MINE": STRATEGIES["AVG"]})
    assert wanted["*", "strategy"] == {"name": "MINE", "options": {}}


@pytest.mark.parametrize(
    "options", ["a = 0.5", f"a = {2**65}", f'a = "{"x" * 600_000}"'], ids=["part", "big", "long"]
)
def test_options_that_no_record_holds_are_refused(options: str, tmp_path: Path) -> None:
    """Options that no record can hold are refused by their key."""
    refusal = _refusal(f"[group.orders.strategy_options]\n{options}\n", tmp_path)
    assert refusal.message.startswith("group.orders.strategy_options: ")


def _timing(bound: str) -> dict[str, int]:
    """Return the least or the greatest durations that settings may have."""
    durations = {}
    properties = GroupRules.model_json_schema()["properties"]
    for name in TIMES:
        schema = properties[name]
        number = next((each for each in schema.get("anyOf", ()) if bound in each), schema)
        durations[name] = number[bound]
    return durations


def _with_timing(timing: dict[str, int]) -> Settings:
    settings = _settings()
    rules = settings.group_defaults.model_copy(update=timing)
    return settings.model_copy(update={"group_defaults": rules})


@pytest.mark.parametrize("bound", ["minimum", "maximum"])
def test_every_duration_can_be_a_rule(bound: str) -> None:
    """Every duration that settings may have can be a rule."""
    timing = _timing(bound)
    assert wanted_rules(_with_timing(timing))["*", "timing"] == timing


@pytest.mark.parametrize(
    "name, number, bound",
    [
        ("lease_ms", 999, "1000"),
        ("lease_ms", 600_001, "600000"),
        ("margin_ms", 0, "1"),
        ("margin_ms", 600_001, "600000"),
        ("trigger_ms", 999, "1000"),
        ("trigger_ms", 3_600_001, "3600000"),
        ("drain_deadline_ms", 0, "1"),
        ("drain_deadline_ms", 3_600_001, "3600000"),
        ("restart_grace_ms", 3_600_001, "3600000"),
        ("settle_ms", 600_001, "600000"),
    ],
)
def test_a_duration_out_of_bounds_is_refused(name: str, number: int, bound: str) -> None:
    """A duration that the protocol cannot express is refused by its key, with the bounds."""
    with pytest.raises(UsageError) as refused:
        wanted_rules(_with_timing({name: number}))
    assert refused.value.message.startswith(f"group_defaults.{name}: ")
    assert f" {bound}" in refused.value.remedy


def test_a_pause_of_conf_is_a_rule(tmp_path: Path) -> None:
    """A pause is a rule where conf/ has it, and none where it has not: an operator's stays."""
    given = tmp_path / "conf.toml"
    given.write_text("[group.orders]\npause = true\nsettle_ms = 5000\n", encoding="utf-8")
    wanted = wanted_rules(load_settings(files=[given]))
    assert wanted["orders", "pause"] is True
    assert wanted["orders", "timing"] == {"settle_ms": 5_000}
    assert ("*", "pause") not in wanted
    in_force = {(0, ("bills", "pause")): RuleInForce(value=True, author="alice")}
    changes = rule_changes(wanted, in_force, SHARDS)
    assert {(each.group, each.rule) for each in changes if each.rule == "pause"} == {
        ("orders", "pause")
    }


def test_a_partition_that_missed_a_rule_gets_it() -> None:
    """A partition that missed a rule gets it, the others do not get it again."""
    wanted = {("*", "slots"): "group"}
    in_force = {
        (partition, ("*", "slots")): RuleInForce("group", "conf") for partition in (0, 1, 3)
    }
    changes = list(rule_changes(wanted, in_force, SHARDS))
    assert [(each.partition, each.value) for each in changes] == [(2, "group")]
