"""The verdict of the demo on RocketMQ, and the tables that people read."""

from dataclasses import replace

from fairlead_proof.demo_rocketmq.handled import Handled, judge_calls
from fairlead_proof.demo_rocketmq.handler_calls import Call
from fairlead_proof.demo_rocketmq.outcome import DemoOutcome, StepFigures, WayOutcome
from fairlead_proof.demo_rocketmq.table import print_outcome
from fairlead_proof.demo_rocketmq.way import Way
from rich.console import Console

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Closing, StepBegun, StepRecord

QUEUE = MessageQueue("orders", "broker-a", 0)
OTHER = MessageQueue("orders", "broker-b", 0)
MS = 1_000_000


def _call(who: str, offset: int, begin_ms: int, queue: MessageQueue = QUEUE) -> Call:
    return Call(who, queue, offset, begin_ms * MS, (begin_ms + 5) * MS, consumed=True)


def _clean() -> Handled:
    """Two moves: one in the join, one when all leave."""
    calls = [
        _call("c1", 0, 10),
        _call("c2", 1, 120),
        _call("c1", 0, 130, OTHER),
        _call("c2", 1, 310, OTHER),
    ]
    return judge_calls(calls, {QUEUE: 2, OTHER: 2}, {})


LOG: list[StepRecord] = [StepBegun("start", 0), StepBegun("join", 100 * MS), Closing(300 * MS)]


def _way(handled: Handled, way: Way = Way.FAIRLEAD) -> WayOutcome:
    return WayOutcome.of(way, LOG, handled, None)


def _outcome(*ways: WayOutcome) -> DemoOutcome:
    return DemoOutcome(ways, server="5.3.3", client="4.9.8", ordered=False, seed=1, took_s=61.5)


def test_a_move_belongs_to_the_step_in_which_it_came() -> None:
    """What moves when all leave belongs to no step."""
    assert _way(_clean()).steps == (
        StepFigures("start", 0, None, None),
        StepFigures("join", 1, 105.0, 20.0),
    )


def test_a_sound_run_passes() -> None:
    """It did what is demanded; RocketMQ's own way is shown, and nothing is demanded of it."""
    theirs = judge_calls([_call("c1", 0, 10), _call("c2", 0, 12)], {QUEUE: 2}, {})
    assert theirs.begun_again
    assert theirs.beside
    assert _outcome(_way(_clean()), _way(theirs, Way.ROCKETMQ)).passed


def test_each_fault_of_ours_fails_the_run() -> None:
    """Beside, again, missed, nothing moved, ended early: each one alone is enough."""
    sound = _clean()
    call = _call("c9", 7, 10)
    faults = [
        replace(sound, beside=(call,)),
        replace(sound, begun_again=(call,)),
        replace(sound, missed={QUEUE: (7,)}),
        replace(sound, moves=()),
    ]
    assert [_outcome(_way(each)).passed for each in faults] == [False] * 4
    early = replace(_way(sound), failure="waited in vain")
    assert not _outcome(early).passed
    assert not _outcome(replace(_way(sound, Way.ROCKETMQ), failure="waited in vain")).passed


def test_a_frozen_consumer_must_be_succeeded_in_time() -> None:
    """Where somebody was frozen, never and late both fail."""
    frozen = replace(_way(_clean()), steps=(StepFigures("freeze", 2, 18_500.0, 18_600.0),))
    took = {None: False, 18_600.0: True, 20_001.0: False}
    for taken_over_ms, passes in took.items():
        handled = replace(frozen.handled, taken_over_ms=taken_over_ms)
        assert _outcome(replace(frozen, handled=handled)).passed is passes


def test_a_roll_out_must_be_clean_while_we_vouch_for_it() -> None:
    """RocketMQ's own steps may repeat; ours may not, and neither way over may move a queue."""
    steps = {
        "attach": StepFigures("attach", 4, 5.0, 900.0, again=7, beside=3),
        "take_over": StepFigures("take_over", 0, None, None),
        "join": StepFigures("join", 2, 40.0, 90.0),
        "let_go": StepFigures("let_go", 0, None, None),
        "detach": StepFigures("detach", 4, 5.0, 900.0, again=7, beside=3),
    }

    def passes(handled: Handled | None = None, **changed: StepFigures) -> bool:
        way = replace(
            _way(handled or _clean(), Way.ROLL_OUT), steps=tuple({**steps, **changed}.values())
        )
        return _outcome(way).passed

    assert passes()
    assert not passes(take_over=StepFigures("take_over", 1, 40.0, 90.0))
    assert not passes(let_go=StepFigures("let_go", 1, 40.0, 90.0))
    assert not passes(join=StepFigures("join", 2, 40.0, 90.0, again=1))
    assert not passes(join=StepFigures("join", 2, 40.0, 90.0, beside=1))
    assert not passes(replace(_clean(), missed={QUEUE: (7,)}))


def test_both_ways_stand_side_by_side() -> None:
    """A person reads both columns, what failed, and the verdict."""
    console = Console(width=120, record=True, file=None, quiet=False)
    fault = replace(_clean(), missed={QUEUE: (7,)})
    with console.capture() as captured:
        print_outcome(_outcome(_way(fault), _way(_clean(), Way.ROCKETMQ)), console)
    text = captured.get()
    assert "Fairlead" in text
    assert "RocketMQ's own" in text
    assert "messages missed: 1, required: 0" in text
    assert "FAILED in 62 s (brokers 5.3.3, clients 4.9.8, concurrent listeners, seed 1)" in text
