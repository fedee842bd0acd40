"""How an unknown group is refused: with what is near, and what to do next."""

import pytest

from fairlead.control.known_groups import unknown_group


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
def test_unknown_group(known: tuple[str, ...], said: list[str]) -> None:
    """The name and the place are told, three near names at most, and what shows more."""
    error = unknown_group("oders", known, "at localhost:9092, topics fairlead.…")
    assert error.message == "GROUP: there is no group oders at localhost:9092, topics fairlead.…."
    assert all(words in error.remedy for words in said)
    assert "bills" not in error.remedy or "payments" not in error.remedy
    assert not error.remedy.endswith(" ")


def test_what_else_helps() -> None:
    """A command that could begin a group says so behind the rest."""
    error = unknown_group("oders", ["orders"], "at a", or_else="Begin it with --new-group.")
    assert error.remedy.endswith("--dump). Begin it with --new-group.")
