"""The list rule of one queue, and the runs that break each shortcut of it."""

import itertools
from dataclasses import replace

import pytest

from fairlead.core.handover.chain import (
    TRANSITIONS,
    Event,
    Phase,
    aim,
    answer_never,
    lapse,
    overtake,
    phase_of,
    progress,
    release,
)
from fairlead.core.model import Epoch, MemberKey, Position
from fairlead.core.state import Grant, QueueState

A, B, C = (MemberKey(name, f"{name}-1") for name in "abc")
E1, E2, E3 = (Epoch(1, number) for number in (1, 2, 3))
START = Position(0, 0)


def chain(*grants: tuple[MemberKey, Epoch]) -> QueueState:
    """Return a queue with these grants, all dropped but the newest."""
    entries = [Grant(member, epoch, dropped=True) for member, epoch in grants[:-1]]
    return QueueState(START, "release", (*entries, Grant(*grants[-1])))


def test_a_third_client_is_gated_on_both_before_it() -> None:
    """The newest grant names every grant that may still be working (counter-example 1; rule H1)."""
    queue = aim(chain((A, E1), (B, E2)), C, E3, 3).queue
    assert [grant.member for grant in queue.chain] == [A, B, C]
    blocked = aim(chain((A, E1), (B, E2)), C, E3, 2)
    assert blocked.add is None
    assert blocked.drop == Grant(B, E2)
    assert phase_of(blocked.queue) is Phase.BLOCKED


def test_a_null_answer_resolves_only_its_own_grant() -> None:
    """B never started: A may still be working (counter-example 2; rule H2)."""
    queue = aim(chain((A, E1), (B, E2)), C, E3, 2).queue
    ended = answer_never(queue, B, E2)
    assert ended is not None
    assert [grant.member for grant in ended.queue.chain] == [A]
    assert phase_of(ended.queue) is Phase.DRAINING


def test_a_lapse_of_the_gated_one_frees_nobody_else() -> None:
    """B died before it started: A may still be working (counter-example 3; rule H2)."""
    ended = lapse(chain((A, E1), (B, E2)), B)
    assert ended is not None
    assert [(grant.member, grant.dropped) for grant in ended.queue.chain] == [(A, True)]


def test_a_release_resolves_all_older_grants() -> None:
    """B's release proves that A had stopped, else B could not have started (rule H2)."""
    ended = release(chain((A, E1), (B, E2)), B, E2, Position(0, 9))
    assert ended is not None
    assert ended.queue.chain == ()
    assert ended.queue.base == Position(0, 9)


def test_a_release_of_the_holder_grants_the_successor() -> None:
    """The successor gets the same add with a shorter list (rule H4)."""
    ended = release(chain((A, E1), (B, E2)), A, E1, Position(0, 9))
    assert ended is not None
    assert ended.granted == Grant(B, E2)


def test_no_grant_is_sent_to_a_dropped_one() -> None:
    """A successor that was dropped itself gets no grant when its gate resolves (rule H4)."""
    queue = aim(chain((A, E1), (B, E2)), C, E3, 2).queue
    ended = release(queue, A, E1, Position(0, 1))
    assert ended is not None
    assert ended.granted is None


@pytest.mark.parametrize("member, epoch", [(B, E1), (A, E2), (MemberKey("a", "a-2"), E1)], ids=str)
def test_facts_are_matched_by_member_and_epoch(member: MemberKey, epoch: Epoch) -> None:
    """A release of another life or another epoch is not this grant's (rule H3)."""
    queue = chain((A, E1))
    assert release(queue, member, epoch, START) is None
    assert answer_never(queue, member, epoch) is None
    assert progress(queue, member, epoch, START) is None


def test_flapping_back_gates_on_the_own_older_grant() -> None:
    """A target that still drains its own older grant waits for that release too."""
    draining = aim(chain((A, E1)), None, E2, 2).queue
    again = aim(draining, A, E3, 2)
    assert again.add == Grant(A, E3)
    assert [grant.epoch for grant in again.queue.chain] == [E1, E3]


def test_without_a_known_start_nobody_is_granted() -> None:
    """A queue without a base stays free (rule H8)."""
    assert aim(QueueState(), A, E1, 2).queue.chain == ()


def test_positions_only_grow_and_a_former_life_counts_nothing() -> None:
    """The base is the maximum of all reports under epochs that still mean something (rule H7)."""
    queue = chain((A, E1))
    lower = progress(queue, A, E1, Position(0, 0))
    assert lower is not None
    assert lower.queue.base == START
    void = QueueState(None, "", (Grant(A, E1, dropped=True),), late=True, void=E1)
    ended = release(void, A, E1, Position(0, 50))
    assert ended is not None
    assert ended.queue.base is None


def test_every_reachable_transition_is_listed_and_every_listed_one_is_reached() -> None:
    """A search over all event orders meets exactly the transitions of the table."""
    met: set[tuple[Phase, Event, Phase]] = set()
    members = (A, B, C)
    for cap in (1, 2, 3):
        frontier = {QueueState(START)}
        for number in range(1, 6):
            following: set[QueueState] = set()
            for queue in frontier:
                for event, after in _successors(queue, members, Epoch(1, number), cap):
                    met.add((phase_of(queue), event, phase_of(after)))
                    following.add(after)
            frontier = following
    listed = {(start, event, end) for (start, event), ends in TRANSITIONS.items() for end in ends}
    assert met <= listed
    assert listed - met == set()


def _successors(
    queue: QueueState, members: tuple[MemberKey, ...], epoch: Epoch, cap: int
) -> list[tuple[Event, QueueState]]:
    found = [(Event.AIMED, aim(queue, target, epoch, cap).queue) for target in (*members, None)]
    for member, grant in itertools.product(members, queue.chain):
        if grant.member != member:
            continue
        for event, ended in (
            (Event.RELEASED, release(queue, member, grant.epoch, START)),
            (Event.NEVER, answer_never(queue, member, grant.epoch)),
            (Event.LAPSED, lapse(queue, member)),
            (Event.PROGRESSED, progress(queue, member, grant.epoch, START)),
        ):
            if ended is not None:
                found.append((event, ended.queue))
    for overtaken in ({grant} for grant in queue.chain), [set(queue.chain)]:
        for grants in overtaken:
            past = overtake(queue, grants.__contains__)
            if past is not None:
                found.append((Event.OVERTAKEN, replace(past.queue, overtaken=())))
    return found
