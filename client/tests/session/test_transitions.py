"""The transition table is whole: nothing happens that it does not list."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from fairlead_client.errors import UnlistedTransitionError
from fairlead_client.session import events
from fairlead_client.session.standing_steps import STANDINGS
from fairlead_client.session.states import QueueState, SessionState, Signal, Standing
from fairlead_client.session.transitions import TRANSITIONS, transition_lines

if TYPE_CHECKING:
    from tests.session.conftest import Script

LIVING = (SessionState.STARTING, SessionState.RUNNING, SessionState.LEAVING)


def test_every_event_is_listed() -> None:
    """Every event can happen to a client with a lease, or the list below says why not."""
    never = {
        (SessionState.STARTING, events.Started),
        (SessionState.RUNNING, events.Started),
        (SessionState.LEAVING, events.Started),
        (SessionState.STARTING, events.LeaveAppended),
        (SessionState.STARTING, events.LeaveFailed),
        (SessionState.RUNNING, events.LeaveAppended),
        (SessionState.RUNNING, events.LeaveFailed),
        (SessionState.STARTING, events.AllReleased),
        (SessionState.RUNNING, events.AllReleased),
        (SessionState.STARTING, events.AllStopped),
        (SessionState.RUNNING, events.AllStopped),
        (SessionState.LEAVING, events.AllStopped),
    }
    missing = {
        (state, event)
        for state in LIVING
        for event in get_args(events.Event)
        if (state, event) not in TRANSITIONS
    }
    assert missing == never


def test_every_signal_is_listed() -> None:
    """Every signal can happen to every queue, but for those that only work can receive."""
    missing = {
        (state, signal)
        for state in QueueState
        for signal in Signal
        if (state, signal) not in TRANSITIONS
    }
    resting = {QueueState.IDLE, QueueState.GATED}
    of_work = {
        Signal.PROGRESS,
        Signal.COMMITTED,
        Signal.STOPPED,
        Signal.DRAIN_OVER,
        Signal.DUE,
    }
    # A client that freezes has given all queues up, and only frozen ones may get no grant.
    of_frozen = {Signal.FROZEN, Signal.HELD, Signal.YIELD}
    granted = set(QueueState) - {QueueState.FROZEN, QueueState.YIELDING}
    of_granted = {
        *((QueueState.IDLE, each) for each in of_frozen - {Signal.FROZEN}),
        *(
            (state, each)
            for state in (QueueState.GATED, QueueState.COMMITTING)
            for each in of_frozen
        ),
        *((state, Signal.FROZEN) for state in granted - {QueueState.IDLE}),
        *((QueueState.FROZEN, each) for each in (Signal.COMMITTED, Signal.DRAIN_OVER, Signal.DUE)),
        *((QueueState.YIELDING, each) for each in (Signal.COMMITTED, Signal.DUE)),
    }
    assert missing - of_granted == {(state, signal) for state in resting for signal in of_work} | {
        (QueueState.COMMITTING, Signal.STOPPED),
        (QueueState.COMMITTING, Signal.DRAIN_OVER),
        (QueueState.WORKING, Signal.DRAIN_OVER),
        (QueueState.WORKING, Signal.DUE),
        (QueueState.LINGERING, Signal.DRAIN_OVER),
        (QueueState.DRAINING, Signal.DUE),
    }
    assert of_granted <= missing


def test_an_engine_may_say_anything_to_one_that_stands_by() -> None:
    """Each standing lists each word of the engine; none leads back to the first one."""
    words = {Standing.FOLLOW, Standing.FREEZE, Standing.OWN}
    assert STANDINGS.keys() == {(before, told) for before in Standing for told in words}
    assert {after for _, after in STANDINGS.values()} == words


def test_every_state_can_be_left_or_is_the_last() -> None:
    """Every state but closed leads somewhere else."""
    for state in (*SessionState, *QueueState):
        targets = {to for (start, _), (_, leads_to) in TRANSITIONS.items() for to in leads_to
                   if start is state}  # fmt: skip
        assert (targets == {state}) == (state is SessionState.CLOSED)


def test_an_unlisted_event_is_an_error_that_names_it(script: "Script") -> None:
    """An event that the table does not list is an error that names it."""
    with pytest.raises(UnlistedTransitionError, match="Started in state running"):
        script.start("me-2")


def test_an_unlisted_signal_is_an_error_that_names_the_queue(script: "Script") -> None:
    """Work that stops without having been asked to is an error that names the queue."""
    script.add(1)
    with pytest.raises(UnlistedTransitionError, match=r"stopped of .*'orders'.* in working"):
        script.stopped(1)


def test_the_page_of_transitions_is_the_table() -> None:
    """TRANSITIONS.md is the table; paste what this test prints when the table changes."""
    page = Path(__file__).resolve().parents[2] / "TRANSITIONS.md"
    lines = list(transition_lines())
    assert len(lines) == len(TRANSITIONS) + len(STANDINGS) + 2
    assert page.read_text(encoding="utf-8").splitlines()[-len(lines) :] == lines
