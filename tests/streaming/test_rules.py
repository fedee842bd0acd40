"""conf/ reaches the groups by the log: only the difference is written."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.core.records import RuleSet
from fairlead.errors import UsageError
from fairlead.settings import Settings, load_settings
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from streaming.rules import RuleInForce, publish_rules, rule_changes, wanted_rules
from tests.streaming.log import Log, raw_of

SHARDS = 4


def _settings(**overrides: Any) -> Settings:
    """Return settings with dotted keys, dots written as two underscores."""
    return load_settings(
        overrides={name.replace("__", "."): value for name, value in overrides.items()}
    )


def _rules(log: Log) -> list[tuple[int, RuleSet]]:
    """Return the rules in the control topic, read as the engine reads them."""
    found = []
    for record in log.records("control"):
        rule = decode("control", raw_of(record), WireLimits(SHARDS))
        assert isinstance(rule, RuleSet)
        found.append((record.partition, rule))
    return found


def test_defaults_write_nothing(settings: Settings, log: Log) -> None:
    """An engine with the settings as delivered publishes no rule."""
    assert publish_rules(settings, SHARDS) == 0
    assert log.records("control") == []


def test_difference(settings: Settings, log: Log, tmp_path: Path) -> None:
    """A changed rule goes to every partition, a group's own to its partition, and each once."""
    given = tmp_path / "conf.toml"
    given.write_text(
        "[group_defaults]\nlease_ms = 12000\n[group.orders]\nstrategy_options = {depth = 2}\n"
    )
    changed = load_settings(
        files=[given],
        overrides={
            "kafka.bootstrap": settings.kafka.bootstrap,
            "kafka.topic_prefix": settings.kafka.topic_prefix,
        },
    )
    assert publish_rules(changed, SHARDS) == SHARDS + 1
    rules = _rules(log)
    timing = {"lease_ms": 12_000, "margin_ms": 3_000, "trigger_ms": 20_000}
    everywhere = RuleSet("*", "timing", (), timing | {"drain_deadline_ms": 30_000})
    own = RuleSet("orders", "strategy", (), {"name": "AVG", "options": {"depth": 2}})
    expected = [(partition, everywhere) for partition in range(SHARDS)]
    assert sorted(rules, key=repr) == sorted(
        [*expected, (partition_of_group("orders", SHARDS), own)], key=repr
    )
    assert publish_rules(changed, SHARDS) == 0


def test_back_to_default(settings: Settings, log: Log, tmp_path: Path) -> None:
    """A rule that conf/ set and names no longer is set back, a group's own is removed."""
    given = tmp_path / "conf.toml"
    given.write_text('[group_defaults]\nslots = "group"\n[group.orders]\nslots = "subscribers"\n')
    connection = {
        "kafka.bootstrap": settings.kafka.bootstrap,
        "kafka.topic_prefix": settings.kafka.topic_prefix,
    }
    publish_rules(load_settings(files=[given], overrides=connection), SHARDS)
    before = len(log.records("control"))
    assert publish_rules(settings, SHARDS) == SHARDS + 1
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
    log.append("control", value, b'["a","pause"]', partition_of_group("a", SHARDS))
    assert publish_rules(settings, SHARDS) == 0


def test_unreadable_records(settings: Settings, log: Log) -> None:
    """Control records that cannot be read do not stop the driver; the engine rejects them."""
    for key, value in [
        (b"\xff", b"{"),
        (b"[]", b"[]"),
        (b'["*","slots"]', b"nonsense"),
        (b'"a"', b"1"),
    ]:
        log.append("control", value, key)
    assert publish_rules(settings, SHARDS) == 0


def test_never() -> None:
    """A deadline that the protocol cannot express is refused by the name of its setting."""
    with pytest.raises(UsageError, match=r"group_defaults\.drain_deadline_ms"):
        wanted_rules(_settings(group_defaults__drain_deadline_ms="never"))


def test_one_partition_behind() -> None:
    """A partition that missed a rule gets it, the others do not get it again."""
    wanted = {("*", "slots"): "group"}
    in_force = {
        (partition, ("*", "slots")): RuleInForce("group", "conf") for partition in (0, 1, 3)
    }
    changes = list(rule_changes(wanted, in_force, SHARDS))
    assert [(each.partition, each.value) for each in changes] == [(2, "group")]
