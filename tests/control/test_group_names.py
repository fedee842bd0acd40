"""How an unknown group is refused: with what is near, and what to do next."""

import difflib
import time

import pytest

from fairlead.control.group_names import nearest_names, unknown_group


@pytest.mark.parametrize(
    "known, said",
    [
        (("orders",), ["The nearest is orders; ", "`fairlead group list` shows all"]),
        (
            ("orders", "orders-eu", "bills", "payments"),
            ["The nearest are orders, orders-eu, ", "`fairlead group list`", "--topic-prefix"],
        ),
        ((), ["No group is known there", "--bootstrap", "`fairlead doctor`"]),
    ],
)
def test_an_unknown_group_is_named_with_near_names(known: tuple[str, ...], said: list[str]) -> None:
    """The error has the name, the place, at most three near names, and what shows more."""
    error = unknown_group("oders", known, "at localhost:9092, topics fairlead.…")
    assert error.message == "GROUP: there is no group oders at localhost:9092, topics fairlead.…."
    assert all(words in error.remedy for words in said)
    assert "bills" not in error.remedy or "payments" not in error.remedy
    assert not error.remedy.endswith(" ")


def test_what_else_helps() -> None:
    """A command that could begin a group says so behind the rest."""
    error = unknown_group("oders", ["orders"], "at a", or_else="Begin it with --new-group.")
    assert error.remedy.endswith("--dump). Begin it with --new-group.")


@pytest.mark.parametrize("name", ["order-0137x", "bilings-eu", "orders", "x", "PAYMENTS_eu.42"])
def test_nearest_of_many(name: str) -> None:
    """They are those that a comparison with every name finds, in its order."""
    words = ("orders", "billing", "payments", "stock-eu")
    known = [f"{words[number % 4]}-{number * 37 % 1_000:04}" for number in range(1_000)]
    like = {each: difflib.SequenceMatcher(None, each, name).ratio() for each in known}
    assert nearest_names(name, known) == sorted(like, key=lambda each: (-like[each], each))[:3]


@pytest.mark.parametrize(
    "name, known",
    [("|" * 4_800, "|"), ("|" * 120, "|"), ("ab" * 60, "ab|"), ("a" * 60 + "b" * 60, "ba")],
    ids=["longest", "alike", "pieces", "letters"],
)
def test_nearest_of_long_names(name: str, known: str) -> None:
    """Of 10,000 names, long and hard to compare, three near ones are there in a bounded time."""
    names = [(known * 200)[:194] + f"{number:06}" for number in range(10_000)]
    begun = time.thread_time()
    assert len(nearest_names(name, names)) == 3
    assert time.thread_time() - begun < 6, "without a bound these take 9 s and more"
