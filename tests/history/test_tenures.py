"""Grants of queues from the decisions that gave, opened, took back and ended them."""

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.history.grant_history import GrantSpan, grant_history
from fairlead.history.history_model import (
    CurrentOwner,
    FoundRelease,
    begins_by_release,
    current_owner,
)
from tests.kit.decision_bodies import START_MS, audits, decision

QUEUE = MessageQueue("orders", "main", 0)
FIRST, SECOND = (1, 1), (1, 2)


def _known(*bodies: dict[str, object]) -> list[GrantSpan]:
    return grant_history(audits(*bodies)).of[QUEUE]


GIVEN = decision(1, [("granted", 0, "c1", FIRST)])
MOVED = decision(2, [("dropped", 0, "c1", FIRST), ("gated", 0, "c2", SECOND)])
OPENED = decision(2, [("resolved", 0, "c1", FIRST), ("granted", 0, "c2", SECOND)], new=False)


def test_a_grant_drains_until_its_successor_is_let_in() -> None:
    """A grant is draining while its successor is gated, and over when that one is let in."""
    first, second = _known(GIVEN, MOVED)
    assert [first.state, second.state] == ["draining", "gated"]
    assert current_owner([first, second], None) == CurrentOwner(
        "draining", "c1", Epoch(1, 1), START_MS + 1_000, "c2"
    )
    first, second = _known(GIVEN, MOVED, OPENED)
    assert [first.state, second.state] == ["over", "held"]
    assert second.given is not None
    assert second.granted is not None
    assert (second.given.row.offset, second.granted.row.offset) == (1, 2)
    assert current_owner([first, second], None) == CurrentOwner(
        "held", "c2", Epoch(1, 2), START_MS + 2_000
    )


def test_first_decision_of_a_window() -> None:
    """What began before the first decision that was read is known, but not who gave it."""
    first, _ = _known(MOVED, OPENED)
    assert (first.given, first.client_id, first.state) == (None, "c1", "over")
    (only, newest) = _known(OPENED)
    assert (only.client_id, newest.given) == ("c1", None)
    assert newest.state == "held"


def test_a_queue_given_up_is_nobodys() -> None:
    """A queue that was given up, or whose holder is dead, is nobody's."""
    given_up = decision(2, [("dropped", 0, "c1", FIRST)])
    assert current_owner(_known(GIVEN, given_up), None).state == "draining"
    dead = decision(2, [("resolved", 0, "c1", FIRST)])
    assert current_owner(_known(GIVEN, dead), None) == CurrentOwner("unassigned")
    assert current_owner((), None) == CurrentOwner("unassigned")


def test_gated_behind_the_dead() -> None:
    """Who is gated while an engine asks everybody waits until that is over, and then has it."""
    dead = decision(2, [("resolved", 0, "c1", FIRST)], new=False)
    dead["state"]["phase"] = "barrier"
    known = _known(GIVEN, MOVED, dead)
    holder = current_owner(known, None)
    assert (holder.state, holder.owner, holder.waits_for) == ("gated", "c2", ("c1",))
    passed = decision(2, [], [{"kind": "generation_passed"}], new=False)
    known = _known(GIVEN, MOVED, dead, passed)
    assert current_owner(known, None).state == "held"
    assert (known[1].granted, known[1].opened is None) == (None, False)


def test_without_a_decision_the_assignment_names_the_owner() -> None:
    """Where the decision of a grant is gone, the newest assignment record tells the owner."""
    told = ("c3", Epoch(1, 9), "held")
    assert current_owner(_known(GIVEN), told) == CurrentOwner("held", "c3", Epoch(1, 9))
    assert current_owner((), ("c3", Epoch(1, 9), "gated")).state == "gated"
    older = ("c1", Epoch(1, 1), "held")
    assert current_owner(_known(GIVEN, MOVED, OPENED), older).owner == "c2"


def test_an_unsafe_grant_leaves_the_other_open() -> None:
    """A grant that was made although somebody may be working leaves that grant open."""
    eager = decision(2, [("dropped", 0, "c1", FIRST), ("granted", 0, "c2", SECOND)])
    eager["moves"][1]["unsafe"] = True
    first, second = _known(GIVEN, eager)
    assert [first.state, second.state, second.unsafe] == ["draining", "held", True]


def test_a_repeated_add_makes_no_other_grant() -> None:
    """An add that is said again, or a decision that is read twice, makes no other grant."""
    again = decision(3, [("granted", 0, "c1", FIRST)])
    (only,) = _known(GIVEN, again, GIVEN)
    assert only.given is not None
    assert only.given.row.offset == 0


def test_a_later_position_than_the_release_began_by_it() -> None:
    """Who tells a later position than the release when it is let in had begun by the release."""
    place = ("t.releases", 0, 1)
    _, second = _known(GIVEN, MOVED, OPENED)
    _, same = _known(GIVEN, MOVED, OPENED)
    assert not begins_by_release(same, FoundRelease(place, START_MS, "c1", 7))
    assert same.why == "release"
    assert not begins_by_release(second, FoundRelease(place, START_MS, "c1", None))
    assert begins_by_release(second, FoundRelease(place, START_MS, "c1", 5))
    assert (second.position, second.why) == (Position(0, 5), "release")
    ended = decision(2, [("resolved", 0, "c1", FIRST)], new=False)
    _, second = _known(GIVEN, MOVED, ended)
    assert begins_by_release(second, FoundRelease(place, START_MS, "c1", 9))
    assert (second.position, second.why) == (Position(0, 9), "release")
    assert begins_by_release(second, None)


def test_decisions_of_a_superseded_engine_move_nothing() -> None:
    """What an engine wrote after another one had decided moves nothing: clients refuse it."""
    passed = decision(2, [], [{"kind": "generation_passed"}], new=False, epoch=[2, 1])
    passed["cut"]["generation"] = 2
    (only,) = _known(GIVEN, passed, MOVED)
    assert (only.client_id, only.state) == ("c1", "held")


def test_a_decision_is_told_with_those_it_follows() -> None:
    """The prelude of a decision that only follows up has the empty decisions before it."""
    changed = decision(2, [], [{"kind": "route_changed", "topic": "orders"}], new=False)
    told = decision(3, [("granted", 1, "c1", (1, 3))], [{"kind": "offsets_known"}])
    grants = grant_history(audits(GIVEN, changed, told, told))
    (given,) = grants.of[MessageQueue("orders", "main", 1)]
    assert given.given is not None
    assert [each.row.offset for each in grants.prelude_of(given.given)] == [1]
    joined = decision(3, [("granted", 1, "c1", (1, 3))], [{"kind": "client_joined"}])
    grants = grant_history(audits(GIVEN, changed, joined))
    (given,) = grants.of[MessageQueue("orders", "main", 1)]
    assert given.given is not None
    assert grants.prelude_of(given.given) == ()
