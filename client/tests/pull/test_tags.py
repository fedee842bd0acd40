"""Which messages a subscription wants."""

from collections.abc import Callable
from typing import Any

import pytest
from fairlead_client import SettingsError, Subscription
from fairlead_client.transport.tags import TagFilter, tags_of


@pytest.mark.parametrize(
    "expression, tags",
    [
        ("*", None),
        ("", None),
        (" * ", None),
        ("A", {"A"}),
        ("A || B", {"A", "B"}),
        ("A||B ||  C|| ", {"A", "B", "C"}),
        ("A || *", None),
        ("*||A", None),
    ],
)
def test_an_expression_is_tags_parted_by_bars(expression: str, tags: set[str] | None) -> None:
    """Tags are parted by ||, blanks around them do not count; * and nothing mean all."""
    assert tags_of(Subscription("orders", expression)) == tags
    parted = Subscription("orders", "unread", tags=tuple(expression.split("||")))
    assert tags_of(parted) == tags


@pytest.mark.parametrize(
    "subscription", [Subscription("orders", "||"), Subscription("orders", "a = 1", "sql92")]
)
def test_an_expression_without_tags_is_refused(subscription: Subscription) -> None:
    """What names no tag cannot be evaluated, and is said before anything is read."""
    with pytest.raises(SettingsError, match=r"^topics: "):
        TagFilter([subscription])


@pytest.mark.parametrize(
    "expression",
    ["a > 3", "a>3", "A || b = 'x'", "a IS NULL", "(A)", "A & B", "A B", "A | B", "A\tB || C"],
)
def test_an_expression_of_sql_is_refused(expression: str) -> None:
    """An expression of SQL is no tag: each message would be skipped without a word."""
    with pytest.raises(SettingsError) as caught:
        tags_of(Subscription("orders", expression))
    assert caught.value.field == "topics"
    assert f"in the expression {expression!r} is no tag; join tags by ||" in str(caught.value)
    assert "the client does not evaluate SQL92" in str(caught.value)


@pytest.mark.parametrize("tag", ["a-b", "a.b:c/d", "größe", "a,b", "a|b", "%x%", "#1", '"x"', "!x"])
def test_unusual_tags_are_accepted(tag: str) -> None:
    """Whatever else RocketMQ takes for a tag is one; and any that stands by itself."""
    assert tags_of(Subscription("orders", f"\t{tag} ||\nB")) == frozenset({tag, "B"})
    assert tags_of(Subscription("orders", "unread", tags=("a > 3",))) == frozenset({"a > 3"})


def test_the_last_header_decides_which_tag_a_message_has(tagged: Callable[..., Any]) -> None:
    """The last header of the name decides; a message without one is wanted by * alone."""
    records = [
        tagged(0, ("TAGS", b"A")),
        tagged(1, ("other", b"A")),
        tagged(2, ("TAGS", b"A"), ("TAGS", b"C")),
        tagged(3, ("x", b""), ("TAGS", b"B")),
    ]
    wanted = TagFilter([Subscription("orders", "A || B"), Subscription("all")])
    assert [record.offset for record in wanted.wanted("orders", records)] == [0, 3]
    assert wanted.wanted("all", records) is records
    assert wanted.wanted("unknown", records) is records


def test_tags_may_stand_in_another_header(tagged: Callable[..., Any]) -> None:
    """The application may keep its tags in another header."""
    records = [tagged(0, ("kind", b"A")), tagged(1, ("TAGS", b"A"))]
    wanted = TagFilter([Subscription("orders", "A")], "kind")
    assert [record.offset for record in wanted.wanted("orders", records)] == [0]
