"""The time of a change is cut where the log says so, and its parts add up to the whole."""

from dataclasses import replace

import pytest
from fairlead_proof.bench.changes import Change, LogTimes, Phases, cut, engine_spans

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.outputs import Stage
from fairlead.wire.decision_records import DecisionRecord
from tests.kit.decisions import decision_of, move_of

QUEUE = MessageQueue("orders", "main", 7)
OTHER = MessageQueue("orders", "main", 8)
WALL_AHEAD_NS = 1_000_000_000_000_000_000
JOINED_AT = ("b.heartbeats", 1, 40)


def _ms(milliseconds: float) -> int:
    """A moment of the wall clock, so many ms after the event of the change."""
    return round(WALL_AHEAD_NS / 1e6 + milliseconds)


def _decision(number: int, *moves: tuple[MessageQueue, Stage, int]) -> DecisionRecord:
    return decision_of(
        Epoch(1, number),
        [move_of(queue, stage, "a", Epoch(1, epoch)) for queue, stage, epoch in moves],
        group="bench",
        members=("a", "b"),
        causes=[{"kind": "client_joined", "at": [*JOINED_AT]}],
    )


def _join(*decisions: DecisionRecord) -> Change:
    """A join that took 600 ms until the last queue was adopted under epoch 1.9."""
    return Change(
        kind="join",
        client_id="a",
        begun_ns=0,
        adopted_ns=600_000_000,
        wall_ahead_ns=WALL_AHEAD_NS,
        queues=2,
        last_queue=QUEUE,
        last_epoch=Epoch(1, 9),
        decisions=decisions,
    )


DROP = _decision(8, (OTHER, "dropped", 2), (QUEUE, "dropped", 3))
GRANT = _decision(9, (QUEUE, "granted", 9))
LOG = LogTimes(
    inputs={JOINED_AT: _ms(20)},
    releases={QUEUE: [_ms(-5_000), _ms(270), _ms(5_000)], OTHER: [_ms(300)]},
    decisions={Epoch(1, 8): _ms(250), Epoch(1, 9): _ms(500)},
)


def test_a_taken_queue_waits_for_its_drop_and_its_grant() -> None:
    """A queue that is taken from a member waits for the drop, and then for the grant."""
    assert engine_spans(_join(DROP, GRANT), LOG) == [(20.0, 250.0), (270.0, 500.0)]


def test_the_phases_divide_the_time_of_engine_and_clients() -> None:
    """What the engine had beyond a batch is waiting, what it had not is the clients'."""
    phases = cut(_join(DROP, GRANT), LOG, batch_ms=150.0)
    assert phases == Phases(160.0, 300.0, asking=20.0, releasing=20.0, taking=100.0, decisions=2)
    assert phases.client == 140.0


def test_phases_add_up() -> None:
    """A decision that was quicker than the median batch counts as that much batch, not more."""
    phases = cut(_join(DROP, GRANT), LOG, batch_ms=240.0)
    assert phases == Phases(0.0, 460.0, asking=20.0, releasing=20.0, taking=100.0, decisions=2)


def test_a_queue_whose_owner_left_needs_one_decision() -> None:
    """A queue that its owner had left passes one decision, and its newest release before counts."""
    assert engine_spans(_join(GRANT), LOG) == [(270.0, 500.0)]


def test_a_gated_successor_needs_no_second_decision() -> None:
    """A successor that got the gate together with the drop waits for no second decision."""
    both = _decision(8, (QUEUE, "dropped", 3), (QUEUE, "gated", 9))
    grant = _decision(9, (QUEUE, "granted", 9))
    assert engine_spans(_join(both, grant), LOG) == [(20.0, 250.0)]


def test_phases_of_a_direct_handover() -> None:
    """The holder has it from the decision to its release, the successor from then on."""
    both = _decision(8, (QUEUE, "dropped", 3), (QUEUE, "gated", 9))
    again = _decision(9, (QUEUE, "granted", 9))
    phases = cut(_join(both, again), LOG, batch_ms=150.0)
    assert phases == Phases(80.0, 150.0, asking=20.0, releasing=20.0, taking=330.0, decisions=1)


def test_record_before_the_event() -> None:
    """A decision without a newer cause counts from the event: nothing before it is its time."""
    change = replace(_join(GRANT), begun_ns=400_000_000)
    (span,) = engine_spans(change, LOG)
    assert span == pytest.approx((0.0, 100.0))


def test_a_drop_of_unknown_cause_counts_from_the_event() -> None:
    """A drop whose cause is no record of the log counts from the event."""
    log = replace(LOG, inputs={})
    assert engine_spans(_join(DROP), log) == [(0.0, 250.0)]


def test_a_change_without_a_decision_is_the_time_of_the_clients() -> None:
    """A change without a decision on its way is the clients' alone."""
    assert cut(_join(), LOG, batch_ms=200.0) == Phases(0.0, 0.0, 600.0, 0.0, 0.0, decisions=0)


def test_records_behind_their_answers() -> None:
    """Clients that answer before a decision's record is appended still make parts that add up."""
    log = replace(
        LOG,
        releases={QUEUE: [_ms(240)]},
        decisions={Epoch(1, 8): _ms(250), Epoch(1, 9): _ms(609)},
    )
    phases = cut(_join(DROP, GRANT), log, batch_ms=150.0)
    assert phases == Phases(280.0, 300.0, asking=20.0, releasing=0.0, taking=0.0, decisions=2)
    assert phases.waiting + phases.batch + phases.client == 600.0
