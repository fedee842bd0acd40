"""What the decisions of a group add up to, as the demo and the bench follow them."""

from dataclasses import replace

from fairlead_proof.local.ownership import Ownership

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.outputs import Stage
from fairlead.wire.decision_records import DecisionRecord
from tests.kit.decisions import decision_of, move_of


def _queue(number: int) -> MessageQueue:
    return MessageQueue("orders", "main", number)


def _decision(
    *moves: tuple[int, Stage, str, int], members: tuple[str, ...] = ("a",)
) -> DecisionRecord:
    return decision_of(
        Epoch(1, max(move[3] for move in moves)),
        [move_of(_queue(n), stage, who, Epoch(1, e)) for n, stage, who, e in moves],
        members=members,
    )


def test_grants_and_drops_add_up_to_owners() -> None:
    """Grants and drops add up to owners, open drops and moves between clients."""
    ownership = Ownership()
    ownership.apply(_decision((0, "granted", "a", 1), (1, "granted", "a", 1)))
    assert (ownership.moves, ownership.dropped) == (2, set())
    ownership.apply(_decision((1, "dropped", "a", 1), members=("a", "b")))
    assert ownership.dropped == {(_queue(1), Epoch(1, 1))}
    ownership.apply(_decision((1, "granted", "b", 3), members=("a", "b")))
    assert ownership.dropped == set()
    assert ownership.granted == {_queue(0): ("a", Epoch(1, 1)), _queue(1): ("b", Epoch(1, 3))}
    assert (ownership.moves, ownership.decisions) == (3, 3)


def test_settled_means_stable_with_every_queue_owned() -> None:
    """Settled means stable, with these members and so many queues, all owned by members."""
    ownership = Ownership()
    assert not ownership.is_settled_among(frozenset(), 0)
    both = _decision((0, "granted", "a", 1), (1, "granted", "b", 1), members=("a", "b"))
    ownership.apply(both)
    assert ownership.is_settled_among(frozenset("ab"), 2)
    assert not ownership.is_settled_among(frozenset("abc"), 2)
    assert not ownership.is_settled_among(frozenset("ab"), 3)
    ownership.newest = replace(both, state=replace(both.state, in_handover=1))
    assert not ownership.is_settled_among(frozenset("ab"), 2)
    ownership.newest = replace(both, members=("a",))
    assert not ownership.is_settled_among(frozenset("a"), 2)
