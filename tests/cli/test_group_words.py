"""Rules in the words of the command line: what flags mean, and what a person reads."""

from typing import Any

import pytest

from fairlead.cli.change.given_rules import (
    GivenRules,
    deadline_of,
    gone_rules,
    wanted_rules,
)
from fairlead.cli.main import main
from fairlead.control.rule_values import subject_words, value_words
from fairlead.control.wanted_rules import completed
from fairlead.core.records import RuleSet
from fairlead.errors import ExitCode, UsageError

QUEUE = ["orders", "main", 3]
SUBJECT = ("orders", "main", "3")


def _wanted(**given: Any) -> list[tuple[str, tuple[str, ...], Any]]:
    rules = wanted_rules("g", GivenRules(**given))
    assert all(rule.group == "g" for rule in rules)
    return [(rule.rule, rule.subject, rule.value) for rule in rules]


@pytest.mark.parametrize(
    "text, subject, client",
    [
        ("orders/main/3=c1", SUBJECT, "c1"),
        ("orders/main/03=10.0.0.7@4121#1", SUBJECT, "10.0.0.7@4121#1"),
        ("orders/main/3=a=b/4=c", SUBJECT, "a=b/4=c"),
        ("orders/rack-1/b=2/3=c1", ("orders", "rack-1/b=2", "3"), "c1"),
        ("%RETRY%orders/broker-a/0=c1", ("%RETRY%orders", "broker-a", "0"), "c1"),
    ],
)
def test_a_queue_is_topic_broker_and_id(
    text: str, subject: tuple[str, str, str], client: str
) -> None:
    """A queue is topic/broker/id, and whatever follows its equals sign is the client."""
    topic, broker_name, queue_id = subject
    value = {"queue": [topic, broker_name, int(queue_id)], "client_id": client}
    assert _wanted(singles={"pin": [text]}) == [("pin", subject, value)]


def test_rules_of_one_word_are_that_word() -> None:
    """Rules of one word are that word; a drain deadline is a time or never."""
    words = {"slots": "group", "mode": "eager", "on_mute": "force", "react": "on_tick"}
    words["start_policy"] = "rocketmq"
    assert _wanted(words=words) == [(rule, (), word) for rule, word in words.items()]
    assert [deadline_of(text) for text in ("30000", "never", None)] == [30_000, "never", None]
    with pytest.raises(UsageError, match="'30s' is no time"):
        deadline_of("30s")


def test_bans_of_one_queue_are_one_rule() -> None:
    """Bans of one queue are one rule; a weight stays the text that it was."""
    singles = {
        "ban": ["orders/main/3=a", "orders/main/3=b"],
        "weight": ["orders/main/3=2.50"],
        "capacity": ["a=b=2"],
        "drain": ["a/b"],
    }
    assert _wanted(singles=singles) == [
        ("weight", SUBJECT, {"queue": QUEUE, "weight": "2.50"}),
        ("ban", SUBJECT, {"queue": QUEUE, "client_ids": ["a", "b"]}),
        ("capacity", ("a=b",), {"client_id": "a=b", "capacity": "2"}),
        ("drain", ("a/b",), {"client_id": "a/b"}),
    ]


def test_a_fraction_in_the_options_becomes_text() -> None:
    """A fraction in the options becomes text, digit for digit; whole numbers stay."""
    given = '{"damping": 0.20, "virtual_nodes": 20, "zone_first": true}'
    options = {"damping": "0.20", "virtual_nodes": 20, "zone_first": True}
    assert _wanted(strategy="STICKY", options=given) == [
        ("strategy", (), {"name": "STICKY", "options": options})
    ]


def test_a_change_in_part_is_completed() -> None:
    """What is changed in part keeps the rest, and options alone are those of the strategy."""
    given = GivenRules(options='{"zone_first": true}', timing={"lease_ms": 1}, weighing={"by": "x"})
    present = {"timing": {"lease_ms": 2, "margin_ms": 3}, "weighing": {"by": "y", "over_ms": 4}}
    rules = completed(wanted_rules("g", given), present, "STICKY")
    assert [rule.value for rule in rules] == [
        {"name": "STICKY", "options": {"zone_first": True}},
        {"lease_ms": 1, "margin_ms": 3},
        {"by": "x", "over_ms": 4},
    ]


@pytest.mark.parametrize(
    "given, said, remedy",
    [
        ({"options": "{"}, "--options: it is no JSON", "JSON"),
        ({"designated": {"topics": ["orders"]}}, "--only: it is missing", "--topics"),
        ({"singles": {"pin": ["orders/main/3"]}}, "--pin: 'orders/main/3' is no queue", "=client"),
        ({"singles": {"pin": ["orders/3=c"]}}, "--pin: 'orders/3=c' is no queue", "orders/main/3"),
        ({"singles": {"weight": ["orders/main/x=2"]}}, "--weight: ", "orders/main/3=2.5"),
        ({"singles": {"capacity": ["c1"]}}, "--capacity: 'c1' has no number", "client=2"),
    ],
)
def test_an_unreadable_flag_is_refused_with_an_example(
    given: dict[str, Any], said: str, remedy: str
) -> None:
    """A flag that cannot be read is refused by its name, with an example."""
    with pytest.raises(UsageError) as caught:
        _wanted(**given)
    assert said in caught.value.message
    assert remedy in caught.value.remedy


def test_what_is_unset_is_named_without_a_value() -> None:
    """What is unset is named without a value."""
    singles = {"pin": ["orders/main/03"], "drain": ["c=1"]}
    assert gone_rules("g", ["timing"], singles) == [
        RuleSet("g", "timing", (), None),
        RuleSet("g", "pin", SUBJECT, None),
        RuleSet("g", "drain", ("c=1",), None),
    ]
    with pytest.raises(UsageError, match="--ban: 'orders' is no queue"):
        gone_rules("g", [], {"ban": ["orders"]})


@pytest.mark.parametrize(
    "rule, value, said",
    [
        ("strategy", {"name": "AVG", "options": {}}, "AVG"),
        ("strategy", {"name": "AVG"}, "AVG"),
        ("strategy", {"name": "STICKY", "options": {"damping": "0.2"}}, 'STICKY {"damping":"0.2"}'),
        ("timing", {"lease_ms": 1_000, "margin_ms": 2}, "lease_ms=1000 margin_ms=2"),
        ("timing", {}, "-"),
        ("weighing", {"by": "rate"}, "by=rate"),
        ("slots", "group", "group"),
        ("designated", {"only": ["a"]}, '{"only":["a"]}'),
        ("ban", {"queue": QUEUE, "client_ids": ["a", "b"]}, "a b"),
        ("weight", {"queue": QUEUE, "weight": "2.5"}, "2.5"),
        ("capacity", {"client_id": "a", "capacity": "2"}, "2"),
        ("drain", {"client_id": "a"}, "drained"),
        ("pin", None, "removed"),
    ],
)
def test_a_value_is_worded_for_one_cell(rule: str, value: Any, said: str) -> None:
    """A value is worded so that it can be read in one cell."""
    assert value_words(RuleSet("g", rule, (), value)) == said


def test_a_subject_is_shown_as_flags_write_it() -> None:
    """A subject is shown as flags write it."""
    assert subject_words(RuleSet("g", "pin", SUBJECT, None)) == "orders/main/3"
    assert subject_words(RuleSet("g", "slots", (), None)) is None


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["set", "or ders", "--slots", "group"], "GROUP: 'or ders' is no group name"),
        (["set", "orders", "--pin", "orders"], "--pin: 'orders' is no queue"),
        (
            ["set", "orders", "--pin", "orders/3=c"],
            "Write TOPIC/BROKER/NUMBER=…, such as orders/ma",
        ),
        (["unset", "orders", "--weight", "orders"], "--weight: 'orders' is no queue"),
    ],
)
def test_refused_before_the_cluster(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong with the words alone is said without a cluster."""
    with pytest.raises(SystemExit) as end:
        main(["group", *arguments, "--bootstrap", "127.0.0.1:9"])
    assert end.value.code == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_a_cluster_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster that does not answer is named."""
    with pytest.raises(SystemExit) as end:
        main(["group", "show", "orders", "--bootstrap", "127.0.0.1:9"])
    assert end.value.code == ExitCode.ENVIRONMENT
    assert "127.0.0.1:9" in capsys.readouterr().err
