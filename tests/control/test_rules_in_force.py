"""The rules of a group, read from the control topic as the engine would take them."""

from typing import Any

from fairlead.control.rules_in_force import RulesInForce, WrittenRule, read_rules_in_force
from fairlead.core.records import RuleSet
from fairlead.settings import Settings
from fairlead.wire.control_records import rule_key
from fairlead.wire.encode import encode_rule
from fairlead.wire.partition import partition_of_group
from strategies.registry import STRATEGIES
from tests.kit.kafka_log import SHARDS, Log

GROUP = "orders"
PIN = ("pin", ("orders", "main", "3"))


def _set(log: Log, rule: RuleSet) -> int:
    """Append a rule to its place; one of all groups to the partition of the test's group."""
    key = rule_key(rule.group, rule.rule, rule.subject)
    return log.append("control", encode_rule(rule), key, partition_of_group(GROUP, SHARDS))


def _read(settings: Settings, group: str = GROUP) -> RulesInForce:
    return read_rules_in_force(settings.kafka, group, SHARDS, STRATEGIES)


def _timing(group: str, by: str, **times: int) -> RuleSet:
    return RuleSet(group, "timing", (), times, by)


def _pin(client_id: str | None, **said: Any) -> RuleSet:
    value = client_id and {"queue": ["orders", "main", 3], "client_id": client_id}
    return RuleSet(GROUP, *PIN, value, "alice", **said)


def test_without_a_record_the_defaults_are_in_force(settings: Settings, log: Log) -> None:
    """Without a record the engine's own defaults are in force."""
    assert log.records("control") == []
    found = _read(settings)
    assert (found.own, found.of_all, found.refused) == ({}, {}, {})
    assert (found.rules.strategy, found.rules.lease_ms) == ("AVG", 10_000)


def test_rules_of_a_group_go_before_those_of_all(settings: Settings, log: Log) -> None:
    """A group's own rules go before those of all groups; each says who set it, where and when."""
    _set(log, _timing("*", "conf", lease_ms=20_000, margin_ms=4_000))
    _set(log, _timing(GROUP, "alice", lease_ms=30_000))
    _set(log, RuleSet(GROUP, "strategy", (), {"name": "STICKY"}, "bob", "zones"))
    place = _set(log, _pin("c1", because="its cache is warm"))
    found = _read(settings)
    assert (found.rules.lease_ms, found.rules.margin_ms) == (30_000, 4_000)
    assert found.rules.strategy == "STICKY"
    assert found.rules.single["pin"].keys() == {"orders/main/3"}
    assert set(found.own) == {("timing", ()), ("strategy", ()), PIN}
    assert found.of_all["timing", ()].rule.by == "conf"
    pinned = found.own[PIN]
    assert (pinned.rule.because, pinned.offset) == ("its cache is warm", place)
    assert pinned.partition == partition_of_group(GROUP, SHARDS)
    assert pinned.written_ms > 1_700_000_000_000


def test_a_removed_rule_is_gone_and_a_refused_one_was_never(settings: Settings, log: Log) -> None:
    """A rule that is removed is gone; one that the engine refuses leaves the one before it."""
    _set(log, _pin("c1"))
    _set(log, _pin(None))
    _set(log, RuleSet(GROUP, "strategy", (), {"name": "STICKY"}, "alice"))
    _set(log, RuleSet(GROUP, "strategy", (), {"name": "STICKIER"}, "bob"))
    _set(log, RuleSet(GROUP, "slots", (), "group", "alice"))
    log.append("control", None, b'["orders","slots"]', partition_of_group(GROUP, SHARDS))
    log.append("control", b"{", b'["orders","slots"]', partition_of_group(GROUP, SHARDS))
    _set(log, RuleSet("others", "slots", (), "group", "alice"))
    found = _read(settings)
    assert set(found.own) == {("strategy", ())}
    assert found.rules.strategy == "STICKY"
    refused = found.refused[GROUP, "strategy", ()]
    assert (refused.written.rule.by, refused.error.reason) == ("bob", "unknown_strategy")
    _set(log, RuleSet(GROUP, "strategy", (), {"name": "AVG"}, "bob"))
    assert _read(settings).refused == {}


def test_one_more_record_can_be_tried_on_a_copy(settings: Settings, log: Log) -> None:
    """One more record can be tried on a copy, which leaves what was read as it was."""
    _set(log, _pin("c1"))
    found = _read(settings)
    tried = found.copy()
    written = found.own[PIN]
    tried.apply(type(written)(_pin(None), "control", 0, 1, 2))
    assert tried.rules.single == {}
    assert found.rules.single["pin"]


def test_the_rules_of_all_groups_can_be_read_alone(settings: Settings, log: Log) -> None:
    """The rules of all groups can be read alone."""
    value = encode_rule(RuleSet("*", "slots", (), "group", "conf"))
    for partition in range(SHARDS):
        log.append("control", value, b'["*","slots"]', partition)
    found = _read(settings, "*")
    assert found.rules.slots == "group"
    assert found.own == {}


def test_a_question_is_asked_once_for_each_record() -> None:
    """What is asked of rules is worked out once, and again after a record, also a refused one."""
    found = RulesInForce(STRATEGIES)
    asked: list[int] = []

    def lease(rules: RulesInForce) -> int:
        asked.append(rules.rules.lease_ms)
        return asked[-1]

    assert [found.once(lease), found.once(lease)] == [10_000, 10_000]
    assert found.rules is found.rules
    assert len(asked) == 1
    written = WrittenRule(_timing(GROUP, "alice", lease_ms=30_000), "control", 0, 1, 1)
    found.apply_or_note(written)
    copy = found.copy()
    assert [found.once(lease), copy.once(lease), len(asked)] == [30_000, 30_000, 3]
    found.apply_or_note(WrittenRule(_timing(GROUP, "alice", lease_ms=-1), "control", 0, 2, 2))
    assert found.refused
    assert [found.once(lease), copy.once(lease), len(asked)] == [30_000, 30_000, 4]
