"""What a mark excuses: two owners whom it lies between, and no others of the same queue."""

from dataclasses import replace

import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.history import Consumed, History, Journal, JournalRecord, Start, Stop
from fairlead.verify.journals_judge import judge_journals
from fairlead.verify.tenures import Tenure, read_tenures
from fairlead.verify.unsafe_grants import UnsafeGrants
from fairlead.verify.verdicts import Verdicts
from fairlead.wire.decision_records import DecisionRecord
from tests.kit.decisions import decision_of, move_of

QUEUE = MessageQueue("orders", "main", 0)
ALL = (1, 2, 3)


def _decisions(marked: tuple[int, ...], told: tuple[int, ...] = ALL) -> list[DecisionRecord]:
    """Decisions that grant the queue, each under its own number."""
    return [
        decision_of(
            Epoch(1, number),
            [move_of(QUEUE, "granted", "a", Epoch(1, number), 0, unsafe=number in marked)],
            members=("a", "b"),
        )
        for number in told
    ]


@pytest.mark.parametrize(
    "one, other, marked, told, excused",
    [
        (1, 2, (2,), ALL, True),
        (2, 1, (2,), ALL, True),
        (1, 3, (2,), ALL, True),
        (1, 2, (), ALL, False),
        (1, 2, (3,), ALL, False),
        (2, 3, (2,), ALL, False),
        (2, 3, (2,), (1, 2), True),
        (2, 3, (), (1, 2), False),
    ],
    ids=[
        "the younger one is marked",
        "whoever began first",
        "one between the two is marked",
        "no mark",
        "a later mark",
        "the elder one is marked",
        "no decision tells of the younger one",
        "nor is there a mark",
    ],
)
def test_only_an_unsafe_grant_excuses_two_owners(
    one: int, other: int, marked: tuple[int, ...], told: tuple[int, ...], *, excused: bool
) -> None:
    """Only a grant that did not wait for the elder one may meet it."""
    unsafe = UnsafeGrants(_decisions(marked, told))
    pair = [Tenure(QUEUE, "a", Epoch(1, number), number, 0) for number in (one, other)]
    assert unsafe.excuse(*pair) == excused


def test_a_drop_tells_of_no_mark() -> None:
    """A grant whose own decision was never written is in no other light once it is dropped."""
    marked, untold = _decisions((2,), (2, 3))
    dropped = replace(untold, moves=tuple(replace(m, stage="dropped") for m in untold.moves))
    pair = [Tenure(QUEUE, "a", Epoch(1, number), number, 0) for number in (2, 3)]
    assert UnsafeGrants([marked, dropped]).excuse(*pair)
    assert not UnsafeGrants([marked, untold]).excuse(*pair)


def _journal(client_id: str, number: int, *times: int) -> Journal:
    """Start at the first time, process offset 0 at each between, stop at the last."""
    epoch = Epoch(1, number)
    records: list[JournalRecord] = [Start(QUEUE, epoch, 0, times[0])]
    records += [Consumed(QUEUE, 0, 0, each) for each in times[1:-1]]
    records.append(Stop(QUEUE, epoch, 1, times[-1]))
    return Journal(client_id, tuple(records))


@pytest.mark.parametrize("marked, broken", [((2,), []), ((1,), ["S1", "S5"]), ((), ["S1", "S5"])])
def test_two_owners_of_one_queue(marked: tuple[int, ...], broken: list[str]) -> None:
    """A mark on an older grant of the queue excuses neither two owners nor what both read."""
    journals = (_journal("a", 1, 10, 20, 40), _journal("b", 2, 30, 35, 50))
    grants = frozenset({(QUEUE, "a", Epoch(1, 1)), (QUEUE, "b", Epoch(1, 2))})
    history = History(
        journals=journals,
        source={QUEUE: {0: 0}},
        decisions=tuple(_decisions(marked)),
        grants=grants,
    )
    verdicts = Verdicts()
    judge_journals(history, read_tenures(journals, ()), verdicts)
    assert sorted(verdicts.findings) == broken
    assert bool(verdicts.reasons) == (not broken)


@pytest.mark.parametrize(
    "one, other, again, excused",
    [
        (Epoch(1, 1), Epoch(1, 2), False, True),
        (Epoch(1, 1), Epoch(2, 3), False, False),
        (Epoch(1, 2), Epoch(2, 3), False, False),
        (Epoch(1, 1), Epoch(2, 3), True, True),
    ],
    ids=["its own grant", "a newer driver's", "which waits for it too", "written before"],
)
def test_mark_of_a_superseded_driver(
    one: Epoch, other: Epoch, *, again: bool, excused: bool
) -> None:
    """A newer driver knows nothing of it, and waits for whoever it did not wait for."""
    first, marked = _decisions((2,), (1, 2))
    move = replace(first.moves[0], epoch=Epoch(2, 3))
    newer = decision_of(Epoch(2, 3), [move], members=first.members)
    before = [marked] if again else []
    unsafe = UnsafeGrants([first, *before, newer, replace(marked, superseded=True)])
    pair = [Tenure(QUEUE, "a", epoch, epoch.number, 0) for epoch in (one, other)]
    assert unsafe.excuse(*pair) == excused
