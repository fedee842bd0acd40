"""Grants of queues from the decisions that gave, opened, took back and ended them."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.history.grant_history import GrantHistory, GrantSpan, grant_history
from fairlead.history.history_model import FoundRelease, begins_by_release
from fairlead.observed.ownership import Share, ShareState
from tests.kit.decision_bodies import START_MS, audits, decision

QUEUE = MessageQueue("orders", "main", 0)
FIRST, SECOND = (1, 1), (1, 2)


def _known(*bodies: dict[str, object]) -> list[GrantSpan]:
    return _history(*bodies).of[QUEUE]


def _history(*bodies: dict[str, object]) -> GrantHistory:
    return grant_history(audits(*bodies))


def _share(state: ShareState, client_id: str, epoch: tuple[int, int]) -> Share:
    return Share(state, MemberKey(client_id, f"{client_id}-1"), Epoch(*epoch))


GIVEN = decision(1, [("granted", 0, "c1", FIRST)])
MOVED = decision(2, [("dropped", 0, "c1", FIRST), ("gated", 0, "c2", SECOND)])
OPENED = decision(2, [("resolved", 0, "c1", FIRST), ("granted", 0, "c2", SECOND)], new=False)


def test_decisions_tell_when_and_never_who_has_it_now() -> None:
    """What decisions say of a handover are its times; no grant goes on by them alone."""
    first, second = _known(GIVEN, MOVED, OPENED)
    assert first.dropped is not None
    assert (first.dropped.row.offset, first.ended) == (1, second.granted)
    assert second.given is not None
    assert second.granted is not None
    assert (second.given.row.offset, second.granted.row.offset) == (1, 2)
    assert [each.state for each in (first, second)] == ["over", "over"]


def test_shares_tell_which_grants_go_on() -> None:
    """A grant is what the shares of its queue say, whatever the decisions say."""
    history = _history(GIVEN, MOVED)
    first, second = history.of[QUEUE]
    history.settle({QUEUE: [_share("draining", "c1", FIRST), _share("gated", "c2", SECOND)]})
    assert [first.state, second.state] == ["draining", "gated"]
    assert not second.began_by_release
    history.settle({QUEUE: [_share("held", "c2", SECOND)]})
    assert [first.state, second.state] == ["over", "held"]
    assert second.began_by_release, "no decision let it in"
    history.settle({})
    assert [first.state, second.state] == ["over", "over"]


def test_first_decision_of_a_window() -> None:
    """What began before the first decision that was read is known, but not who gave it."""
    first, second = _known(MOVED, OPENED)
    assert (first.given, first.client_id, first.ended) == (None, "c1", second.granted)
    (only, newest) = _known(OPENED)
    assert (only.client_id, newest.given) == ("c1", None)
    assert newest.granted is not None


def test_gated_behind_the_dead() -> None:
    """Who is gated while an engine asks everybody has it by the decision that ends the asking."""
    dead = decision(2, [("resolved", 0, "c1", FIRST)], new=False)
    dead["state"]["phase"] = "barrier"
    _, second = _known(GIVEN, MOVED, dead)
    assert not second.began_by_release
    passed = decision(2, [], [{"kind": "generation_passed"}], new=False)
    _, second = _known(GIVEN, MOVED, dead, passed)
    assert second.began_by_release
    assert second.granted is None


def test_an_unsafe_grant_leaves_the_other_open() -> None:
    """A grant that was made although somebody may be working does not end the one before."""
    eager = decision(2, [("dropped", 0, "c1", FIRST), ("granted", 0, "c2", SECOND)])
    eager["moves"][1]["unsafe"] = True
    first, second = _known(GIVEN, eager)
    assert (first.ended, second.unsafe) == (None, True)
    released = FoundRelease(("t.releases", 0, 1), START_MS + 9_000, "c1", 7)
    assert not begins_by_release(second, released)
    assert second.why == "progress", "it began before that release"


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
    assert (only.client_id, only.dropped) == ("c1", None)


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
