"""A client that stands by: it follows its data plane, freezes, and goes on in place."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fairlead_client.model import Epoch, Holder, Position, Queue
from fairlead_client.session import actions, events
from fairlead_client.session.records import Add, Assigned, Drop
from fairlead_client.session.states import QueueState, SessionState, Standing

if TYPE_CHECKING:
    from tests.session.conftest import Script

QUEUE = Queue("orders", "main", 1)
OTHER = Queue("orders", "main", 2)
NOTHING = "0000000000000000"


@pytest.fixture
def member(scripts: "Callable[..., Script]") -> "Script":
    """Return one that stands by and has a lease."""
    script = scripts(stands_by=True)
    script.run()
    return script


def kinds(done: list[actions.Action]) -> list[str]:
    """Names of the actions, in order."""
    return [type(action).__name__ for action in done]


def epoch(number: int) -> Epoch:
    """Return an epoch of generation 1."""
    return Epoch(1, number)


def follow(member: "Script", number: int) -> list[actions.Action]:
    """Read that the data plane's strategy decides."""
    return member.assign(number, standing=Standing.FOLLOW)


def frozen(member: "Script", number: int, *held: tuple[Queue, int | None]) -> list[actions.Action]:
    """Read a freeze, and answer it."""
    assert member.assign(number, standing=Standing.FREEZE)[-1:] == [actions.Freeze(epoch(number))]
    return member.feed(events.Froze(epoch(number), held))


def heartbeat(member: "Script") -> actions.SendHeartbeat:
    """Return the next heartbeat."""
    done = member.live(3_200)
    return next(action for action in done if isinstance(action, actions.SendHeartbeat))


def grant(member: "Script", queue: Queue, number: int, at: int) -> list[actions.Action]:
    """Read the grant of a queue, in a record whose whole set is that queue."""
    add = Add(queue, epoch(number), Position(0, at))
    return member.assign(number, add=(add,), assigned=(Assigned(queue, epoch(number), "held"),))


def test_it_waits_until_its_first_assignment(member: "Script") -> None:
    """Without an assignment it says wait; then it follows, says so, and holds nothing."""
    assert heartbeat(member).standing is Standing.WAIT
    assert follow(member, 5) == [actions.Follow()]
    said = heartbeat(member)
    assert (said.standing, said.digest, said.applied) == (Standing.FOLLOW, NOTHING, epoch(5))
    assert follow(member, 6) == []


def test_before_its_first_lease_the_application_follows_nothing(
    scripts: "Callable[..., Script]",
) -> None:
    """An assignment that comes before the acknowledgement counts with the lease."""
    script = scripts(stands_by=True)
    script.start()
    assert follow(script, 5) == []
    assert script.acknowledge_heartbeat() == [actions.Follow()]


def test_it_answers_a_freeze_with_all_that_it_holds(member: "Script") -> None:
    """The answer is written again until it is in the log, and holds no grant."""
    follow(member, 5)
    held = ((QUEUE, 120), (OTHER, None))
    answer = actions.SendFormer("me-1", epoch(6), held)
    assert frozen(member, 6, *held) == [answer]
    assert member.feed(events.FormerFailed("me-1", epoch(6))) == []
    assert answer in member.live(300)
    member.feed(events.FormerAppended("me-1", epoch(6)))
    said = heartbeat(member)
    assert (said.standing, said.digest) == (Standing.FREEZE, NOTHING)
    assert "SendFormer" not in kinds(member.live(5_000))


def test_it_goes_on_in_place(member: "Script") -> None:
    """A grant of what it holds frozen starts nothing and stops nothing: it has a new name."""
    follow(member, 5)
    frozen(member, 6, (QUEUE, 120))
    member.feed(events.ProgressMade(QUEUE, epoch(6), 130))
    assert grant(member, QUEUE, 7, 120) == [
        actions.StartWork(QUEUE, epoch(7), Position(0, 130), former=True)
    ]
    assert member.session.ownership.epochs == {QUEUE: epoch(7)}
    assert heartbeat(member).standing is Standing.OWN
    member.feed(events.ProgressMade(QUEUE, epoch(7), 140))
    sent = [each for each in member.live(1_000) if isinstance(each, actions.SendProgress)]
    assert [entry.position for each in sent for entry in each.entries] == [Position(0, 140)]


def test_a_lost_add_is_found_in_the_whole_set(member: "Script") -> None:
    """A queue that stands as held in `assigned` was granted, too."""
    frozen(member, 6, (QUEUE, 120))
    done = member.assign(8, assigned=(Assigned(QUEUE, epoch(7), "held"),))
    assert done == [actions.StartWork(QUEUE, epoch(7), Position(0, 120), former=True)]


def test_what_is_not_granted_stops_before_it_says_own(member: "Script") -> None:
    """Until then it says freeze, and a grant of the same queue waits for the stop."""
    frozen(member, 6, (QUEUE, 120), (OTHER, 7))
    done = grant(member, OTHER, 7, 7)
    assert done[-1] == actions.StopWork(QUEUE, epoch(6))
    assert heartbeat(member).standing is Standing.FREEZE
    held = Assigned(OTHER, epoch(7), "held"), Assigned(QUEUE, epoch(9), "held")
    assert member.assign(9, add=(Add(QUEUE, epoch(9), Position(0, 100)),), assigned=held) == []
    assert member.feed(events.WorkStopped(QUEUE, epoch(6), 125)) == [
        actions.StartWork(QUEUE, epoch(9), Position(0, 125))
    ]
    assert heartbeat(member).standing is Standing.OWN


def test_a_drop_of_a_lost_add_waits_for_the_stop(member: "Script") -> None:
    """It never says that it never started what it works on."""
    frozen(member, 6, (QUEUE, 120))
    done = member.assign(8, drop=(Drop(QUEUE, epoch(7), "other"),))
    assert kinds(done) == ["StartWork", "StopWork"]
    done = member.stopped(7, 128)
    released = [each for each in done if isinstance(each, actions.SendRelease)]
    assert [(each.epoch, each.position) for each in released] == [(epoch(7), Position(0, 128))]


def test_a_drop_of_what_already_stops_waits_as_well(member: "Script") -> None:
    """The release says where the work stopped."""
    frozen(member, 6, (QUEUE, 120))
    assert kinds(member.assign(7)) == ["StopWork"]
    assert member.assign(9, drop=(Drop(QUEUE, epoch(8), "other"),)) == []
    done = member.feed(events.WorkStopped(QUEUE, epoch(6), 128))
    done += member.commit(done)
    released = [each for each in done if isinstance(each, actions.SendRelease)]
    assert [(each.epoch, each.position) for each in released] == [(epoch(8), Position(0, 128))]


def test_a_second_freeze_is_answered_anew(member: "Script") -> None:
    """The first answer names nothing any more."""
    frozen(member, 6, (QUEUE, 120))
    assert frozen(member, 8, (OTHER, 3)) == [actions.SendFormer("me-1", epoch(8), ((OTHER, 3),))]
    assert member.session.ownership.epochs == {OTHER: epoch(8)}
    assert member.feed(events.Froze(epoch(6), ((QUEUE, 120),))) == []
    assert member.assign(8, standing=Standing.FREEZE) == []


def test_given_back_it_follows_and_forgets_epochs(member: "Script") -> None:
    """It releases nothing, and takes no grant from before; an old record takes nothing back."""
    frozen(member, 6, (QUEUE, 120))
    grant(member, QUEUE, 7, 120)
    assert follow(member, 9) == [actions.Follow()]
    said = heartbeat(member)
    assert (said.standing, said.digest) == (Standing.FOLLOW, NOTHING)
    assert grant(member, QUEUE, 8, 120) == []
    assert heartbeat(member).standing is Standing.FOLLOW
    assert member.feed(events.LeaveRequested()) == [actions.StopFollowing()]


def test_own_while_it_follows_stops_everything_first(member: "Script") -> None:
    """Only a loss leads there: grants begin after the application has stopped."""
    follow(member, 5)
    done = grant(member, QUEUE, 7, 120)
    assert done == [actions.StopFollowing()]
    assert heartbeat(member).standing is Standing.FOLLOW
    assert member.feed(events.Unfollowed()) == [
        actions.StartWork(QUEUE, epoch(7), Position(0, 120))
    ]
    assert heartbeat(member).standing is Standing.OWN


def test_unfollowed_counts_only_where_the_session_asks_for_it(member: "Script") -> None:
    """One that follows is not rid of what it holds because it says so."""
    follow(member, 5)
    member.feed(events.Unfollowed())
    assert member.session.memory.is_loose


def test_it_leaves_after_everything_has_stopped(member: "Script") -> None:
    """The engine gives the queues of one that leaves to others at once."""
    frozen(member, 6, (QUEUE, 120))
    assert kinds(member.feed(events.LeaveRequested())) == ["StopWork"]
    assert "SendLeave" not in kinds(member.live(2_000))
    member.feed(events.WorkStopped(QUEUE, epoch(6), 125))
    assert "SendLeave" in kinds(member.live(100))


def test_a_release_before_its_leave_does_not_say_that_it_leaves(member: "Script") -> None:
    """The engine would give to others at once what still runs without a grant."""
    frozen(member, 6, (QUEUE, 120), (OTHER, 7))
    member.feed(events.LeaveRequested())
    assert grant(member, QUEUE, 7, 120) == []
    done = member.feed(events.WorkStopped(QUEUE, epoch(6), 125))
    done += member.commit(done)
    released = [each for each in done if isinstance(each, actions.SendRelease)]
    assert [(each.epoch, each.last_started) for each in released] == [(epoch(7), None)]
    assert "SendLeave" not in kinds(member.live(100))
    member.feed(events.WorkStopped(OTHER, epoch(6), 9))
    assert "SendLeave" in kinds(member.live(100))


def test_the_end_of_its_lease_stops_all_and_begins_anew(member: "Script") -> None:
    """The next incarnation begins when nothing runs any more, and waits again."""
    frozen(member, 6, (QUEUE, 120))
    done = member.wait(11_000)
    stops = [each for each in done if isinstance(each, actions.StopEverything)]
    assert [each.work for each in stops] == [((QUEUE, epoch(6)),)]
    done = member.feed(events.WorkStopped(QUEUE, epoch(6), 125))
    assert kinds(done) == ["NewIncarnationNeeded"]
    member.run("me-2")
    assert heartbeat(member).standing is Standing.WAIT


def test_one_that_follows_stops_before_it_begins_anew(member: "Script") -> None:
    """It says when that is: no epoch names what it holds."""
    follow(member, 5)
    assert "StopEverything" in kinds(member.wait(11_000))
    assert member.session.state is SessionState.FENCED
    assert kinds(member.feed(events.Unfollowed())) == ["NewIncarnationNeeded"]


@pytest.mark.parametrize("standing", [Standing.FOLLOW, Standing.FREEZE])
def test_a_new_generation_changes_nothing_that_it_holds(
    member: "Script", standing: Standing
) -> None:
    """It claims nothing, says where it is at once, and hears no older engine any more."""
    follow(member, 5)
    if standing is Standing.FREEZE:
        frozen(member, 6, (QUEUE, 120))
    done = member.feed(events.GenerationRead(2))
    assert done == [actions.SendClaims("me-1", 2, ())]
    done = member.feed(events.TimePassed())
    assert [each.standing for each in done if isinstance(each, actions.SendHeartbeat)] == [standing]
    assert grant(member, QUEUE, 7, 0) == []
    if standing is Standing.FREEZE:
        memory = member.session.queue_memory(QUEUE)
        assert memory is not None
        assert memory.state is QueueState.FROZEN


def test_a_new_generation_hears_what_it_owns(member: "Script") -> None:
    """Taken over, it claims what it goes on with."""
    frozen(member, 6, (QUEUE, 120))
    grant(member, QUEUE, 7, 120)
    done = member.feed(events.GenerationRead(2))
    claims = [
        claim for each in done if isinstance(each, actions.SendClaims) for claim in each.claims
    ]
    assert [(each.queue, each.epoch, each.state) for each in claims] == [
        (QUEUE, epoch(7), "running")
    ]


def test_a_grant_behind_somebody_else_lets_it_stop_first(member: "Script") -> None:
    """Another one may work on the queue, so it does not go on in place."""
    frozen(member, 6, (QUEUE, 120))
    holder = Holder("a", "a-1", epoch(7))
    assert kinds(member.add(8, 120, after=(holder,))) == ["StopWork"]
    assert member.feed(events.WorkStopped(QUEUE, epoch(6), 121)) == []
    assert kinds(member.released(holder, 150)) == ["StartWork"]


def test_one_that_cannot_stand_by_takes_no_notice(script: "Script") -> None:
    """The words of an engine for others mean nothing to it."""
    script.add(3)
    assert heartbeat(script).standing is None
