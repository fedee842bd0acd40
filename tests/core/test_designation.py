"""Which client ids an entry names, and which values of the rule make sense."""

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.rules.designation import (
    Designation,
    Sharing,
    read_designation,
    read_entries,
    sharing,
)
from fairlead.core.rules.group_rules import GroupRules, with_rule
from fairlead.core.rules.rule_error import RuleError


@pytest.mark.parametrize(
    "entry, named, others",
    [
        (
            "192.168.0.6",
            ["192.168.0.6", "192.168.0.6@4121#1", "192.168.0.6@a@b"],
            ["192.168.0.60", "192.168.0.60@4121#1", "192.168.0.61@1", "1192.168.0.6@1",
             "a@192.168.0.6", "192.168.0.6:80@1", "192.168.0.6.@1", "x192.168.0.6@1"],
        ),
        ("192.168.0.60", ["192.168.0.60@1"], ["192.168.0.6@1", "192.168.0.6"]),
        (
            "fd00::6",
            ["fd00::6@1", "FD00:0:0:0:0:0:0:6@1", "fd00:0000::0006"],
            ["fd00::60@1", "fd00::6:0@1", "0.0.0.6@1"],
        ),
        ("fe80::6", ["fe80::6@1", "fe80::6%eth0@1"], ["fe80::60%eth0@1"]),
        ("0.0.0.0/0", ["255.0.0.1@1"], ["::1@1"]),
        ("::/0", ["::1@1", "fd00::1@1"], ["0.0.0.1@1", "a"]),
        ("10.0.0.0/8", ["10.0.0.7@1", "10.255.255.255"], ["11.0.0.1@1", "10.0.0", "a@10.0.0.7"]),
        ("10.1.2.3/8", ["10.200.0.1@1"], ["9.1.2.3@1"]),
        ("192.168.0.6/32", ["192.168.0.6@1"], ["192.168.0.60@1", "192.168.0.7@1"]),
        ("fd00::/8", ["fd12::1@1"], ["fe80::1@1", "10.0.0.1@1"]),
        ("0.0.0.0/0", ["10.0.0.7@1"], ["fd00::1@1", "app-1"]),
        ("app-*", ["app-", "app-1", "app-1@7"], ["web-app-1", "App-1", "app"]),
        ("app-?", ["app-1"], ["app-", "app-12"]),
        ("*", ["a", "10.0.0.7@1"], []),
        ("*-1*@7", ["app-1@7", "app-12@7"], ["app-1@77", "app-2@7"]),
        ("192.168.0.6@*", ["192.168.0.6@4121#1"], ["192.168.0.60@4121#1", "192.168.0.6"]),
        ("192.168.0.6*", ["192.168.0.6@1", "192.168.0.60@1"], ["192.168.1.6@1"]),
        ("a.c[d]+*", ["a.c[d]+x"], ["abc[d]+x", "a.cd+x", "a.cdx"]),
        (
            "192.168.0.6@4121#1",
            ["192.168.0.6@4121#1"],
            ["192.168.0.6@4121#10", "192.168.0.6@4121", "192.168.0.6", "1192.168.0.6@4121#1"],
        ),
        ("app-1", ["app-1"], ["app-10", "app-1@7", "APP-1"]),
        ("10.0.0.7/worker", ["10.0.0.7/worker"], ["10.0.0.7", "10.0.0.7@worker"]),
    ],
)  # fmt: skip
def test_an_entry_names_exactly_its_ids(entry: str, named: list[str], others: list[str]) -> None:
    """An entry names exactly the ids that the protocol says."""
    entries = read_entries((entry,))
    for client_id in named:
        assert entries.names(client_id), client_id
    for client_id in others:
        assert not entries.names(client_id), client_id


def test_any_one_entry_designates_a_client() -> None:
    """A client is designated by any one entry of the list, whatever its kind."""
    entries = read_entries(("192.168.0.6", "10.0.0.0/8", "app-*", "web-?", "c@1"))
    for client_id in ("192.168.0.6@1", "10.9.9.9@1", "app-9", "web-1", "c@1"):
        assert entries.names(client_id)
    assert not entries.names("c@2")


LETTERS = st.text("ab@.", max_size=12)


@given(st.text("ab@.*?", min_size=1, max_size=10), LETTERS)
def test_globs_fit_as_in_the_standard_library(glob: str, client_id: str) -> None:
    """A glob fits what the standard library's fits; that one reads the environment."""
    wanted = fnmatchcase(client_id, glob)
    assert read_entries((glob + "*", glob)).names(client_id) == (
        wanted or fnmatchcase(client_id, glob + "*")
    )
    if "*" in glob or "?" in glob:
        assert read_entries((glob,)).names(client_id) == wanted


def test_glob_of_many_stars() -> None:
    """A glob that fits in very many ways, and then does not, is answered at once."""
    entries = read_entries(("*a" * 100 + "*b",))
    assert not entries.names("a" * 255)
    assert entries.names("a" * 254 + "b")


@pytest.mark.parametrize(
    "value, path, wanted",
    [
        ("a", "value", "an object"),
        (["a"], "value", "an object"),
        ({}, "value.only", "a list"),
        ({"only": "a"}, "value.only", "a list"),
        ({"only": None}, "value.only", "a list"),
        ({"only": []}, "value.only", "0 entries"),
        ({"only": ["a"] * 1_001}, "value.only", "1001 entries"),
        ({"only": ["a", 7]}, "value.only[1]", "7 is no entry"),
        ({"only": ["a", ""]}, "value.only[1]", "'' is no entry"),
        ({"only": [["a"]]}, "value.only[0]", "is no entry"),
        ({"only": ["a", "10.0.0.0/33"]}, "value.only[1]", "no address and no network"),
        ({"only": ["10.0.0.300"]}, "value.only[0]", "no address and no network"),
        ({"only": ["10/8"]}, "value.only[0]", "no address and no network"),
        ({"only": ["fd00::/129"]}, "value.only[0]", "no address and no network"),
        ({"only": ["a"], "topics": "orders"}, "value.topics", "a list"),
        ({"only": ["a"], "topics": []}, "value.topics", "0 entries"),
        ({"only": ["a"], "topics": [None]}, "value.topics[0]", "None is no topic"),
        ({"only": ["a"], "if_nobody": "keep"}, "value.if_nobody", "'keep'"),
        ({"only": ["a"], "if_nobody": None}, "value.if_nobody", "None"),
        ({"only": ["a"], "clients": ["a"]}, "value.clients", "no 'clients'"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_path(
    value: object, path: str, wanted: str
) -> None:
    """A value that makes no sense is refused with its path, what is wrong and a remedy."""
    with pytest.raises(RuleError) as refused:
        with_rule(GroupRules(), "designated", value, {})
    assert refused.value.reason == "bad_rule"
    assert refused.value.field_path == path
    assert wanted in refused.value.detail
    assert refused.value.remedy


def test_a_rule_may_have_a_thousand_entries() -> None:
    """A thousand entries are a rule."""
    only = [f"10.0.{number // 250}.{number % 250}" for number in range(1_000)]
    assert read_designation({"only": only}).entries.names("10.0.3.249@1")


def test_what_is_left_out_means_all_topics_and_nobody() -> None:
    """Without topics all are meant, and without if_nobody nobody."""
    short = read_designation({"only": ["a"]})
    assert (short.topics, short.if_nobody) == (None, "nobody")
    assert short == read_designation({"only": ["a"], "topics": None, "if_nobody": "nobody"})


@pytest.mark.parametrize(
    "value",
    [
        {"only": ["b"]},
        {"only": ["a", "b"]},
        {"only": ["a"], "topics": ["orders"]},
        {"only": ["a"], "if_nobody": "all"},
    ],
)
def test_another_rule_has_another_text(value: dict[str, object]) -> None:
    """Another rule has another text, by which the targets are known to be out of date."""
    texts = {read_designation({"only": ["a"]}).text, read_designation(value).text}
    assert len(texts) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", text) for text in texts)


SUBSCRIPTIONS = {"a": ("orders",), "b": ("orders", "payments"), "c": ("payments",)}
TOPICS = ("orders", "payments")


def _sharing(**value: object) -> Sharing:
    return sharing(read_designation(value), SUBSCRIPTIONS, TOPICS)


def test_a_topic_is_shared_reserved_or_nobodys() -> None:
    """A topic is shared by all, reserved for the designated, or nobody's."""
    none: Designation | None = None
    both = frozenset(TOPICS)
    orders, payments, nothing = frozenset({"orders"}), frozenset({"payments"}), frozenset[str]()
    a = frozenset({"a"})
    assert sharing(none, SUBSCRIPTIONS, TOPICS) == Sharing(both)
    assert _sharing(only=["a"]) == Sharing(nothing, orders, payments, a)
    assert _sharing(only=["a"], if_nobody="all") == Sharing(payments, orders, payments, a)
    assert _sharing(only=["a"], topics=["orders"]) == Sharing(payments, orders, nothing, a)
    assert _sharing(only=["x"], topics=["orders"]) == Sharing(payments, nothing, orders)
    assert _sharing(only=["x"], topics=["refunds"]) == Sharing(both)


def test_error_of_the_value_itself() -> None:
    """An error of the whole value has no path below it."""
    with pytest.raises(RuleError) as refused:
        read_designation(None)
    assert refused.value.field_path == "value"
