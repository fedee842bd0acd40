"""Moves as their decisions made them: what, from whom, how long, how few would do."""

from fairlead.core.model import MessageQueue
from fairlead.history.grant_history import grant_history
from fairlead.history.moves import DecidedMoves, chosen_moves, decided_moves, moves_by_trigger
from tests.kit.decision_bodies import START_MS, audits, decision

JOINED = {"kind": "client_joined", "client_id": "c2", "at": ["t.heartbeats", 0, 8]}
LEFT = {"kind": "client_left", "client_id": "c1", "at": ["t.heartbeats", 0, 9]}
RELEASED = {"kind": "released", "client_id": "c1", "at": ["t.releases", 0, 1]}
FIRST = decision(1, [("granted", number, "c1", (1, 1)) for number in range(4)])
HANDED = decision(
    2,
    [
        *(("dropped", number, "c1", (1, 1)) for number in (2, 3)),
        *(("gated", number, "c2", (1, 2)) for number in (2, 3)),
    ],
    [JOINED],
)
OPENED = decision(
    2,
    [("resolved", 2, "c1", (1, 1)), ("granted", 2, "c2", (1, 2))],
    [RELEASED],
    new=False,
    at_ms=START_MS + 2_400,
)


def _moves(*bodies: dict[str, object], since_ms: int = 0) -> list[DecidedMoves]:
    return decided_moves(grant_history(audits(*bodies)), {}, since_ms)


def _told(decided: DecidedMoves) -> list[tuple[object, ...]]:
    rows = [move.to_json() for move in decided.moves]
    return [(row["queue"], row["kind"], row["from"], row["to"]) for row in rows]


def test_a_handover_is_one_move_with_its_time() -> None:
    """A handover is one move of the decision that began it, with the time that it took."""
    first, handed = _moves(FIRST, HANDED, OPENED)
    assert len(first.moves) == 4
    assert _told(handed) == [
        (["orders", "main", 2], "moved", "c1", "c2"),
        (["orders", "main", 3], "moved", "c1", "c2"),
    ]
    assert [move.handover_ms for move in handed.moves] == [400, None]
    assert (handed.queues_moved, handed.least) == (2, 2)
    row = handed.moves[0].to_json()
    cause = row["chief_cause"]
    assert (row["trigger"], cause["client_id"], cause["at"]) == (
        "client_joined",
        "c2",
        ["t.heartbeats", 0, 8],
    )
    assert (row["start_position"], row["start_why"], row["epoch"]) == ([0, 7], "progress", [1, 2])


def test_a_queue_between_owners_comes_from_the_last_one() -> None:
    """A queue that nobody gets is left without an owner, and comes from who had it last."""
    dropped = decision(2, [("dropped", 0, "c1", (1, 1))], [LEFT])
    ended = decision(2, [("resolved", 0, "c1", (1, 1))], [RELEASED], new=False)
    given = decision(3, [("granted", 0, "c2", (1, 3))], [JOINED])
    again = decision(4, [("dropped", 0, "c2", (1, 3)), ("gated", 0, "c2", (1, 4))])
    decided = _moves(decision(1, [("granted", 0, "c1", (1, 1))]), dropped, ended, given, again)
    assert [row for each in decided for row in _told(each)] == [
        (["orders", "main", 0], "moved", None, "c1"),
        (["orders", "main", 0], "given_up", "c1", None),
        (["orders", "main", 0], "moved", "c1", "c2"),
        (["orders", "main", 0], "renewed", "c2", "c2"),
    ]
    assert sum(each.queues_moved for each in decided) == 2


def test_a_window_knows_the_owners_before_it() -> None:
    """From a time on, a move tells who had the queue before, and owners that stand count."""
    (handed,) = decided_moves(
        grant_history(audits(HANDED, OPENED)),
        {MessageQueue("orders", "main", number): "c1" for number in (0, 1)},
        START_MS + 1_500,
    )
    assert (len(handed.moves), handed.least) == (2, 2)
    assert _told(handed)[0] == (["orders", "main", 2], "moved", "c1", "c2")
    assert _moves(FIRST, HANDED, since_ms=START_MS + 3_000) == []


def test_filters_leave_only_their_moves() -> None:
    """Of some queues and clients only their moves are left; a decision without any is left out."""
    decided = _moves(FIRST, HANDED)
    queue = MessageQueue("orders", "main", 3)
    assert [len(each.moves) for each in chosen_moves(decided, {queue}, ())] == [1, 1]
    assert [len(each.moves) for each in chosen_moves(decided, (), {"c2"})] == [2]
    assert chosen_moves(decided, {queue}, {"c9"}) == []


def test_moves_count_under_their_trigger() -> None:
    """Moves count under what led to them, not under the release that came of it."""
    left = decision(
        3, [("resolved", 0, "c1", (1, 1)), ("granted", 0, "c2", (1, 3))], [RELEASED, LEFT]
    )
    assert moves_by_trigger(_moves(FIRST, HANDED, left)) == {
        "none": 4,
        "client_joined": 2,
        "client_left": 1,
    }
