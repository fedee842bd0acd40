"""Each rule of hosted sessions that is dropped lets the search of a small world find a violation.

The stories with the rules in force are in `tests/gateway/test_counter_examples.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from fairlead_client.model import EPOCH_ZERO
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.records import Assignment, Notice
from fairlead_client.session.states import QueueState
from fairlead_proof.explorer.appending import appended
from fairlead_proof.explorer.counterexample_replay import replay_run
from fairlead_proof.explorer.exchange import NOW_MS, Exchange
from fairlead_proof.explorer.gateways import Gateways
from fairlead_proof.explorer.search import search
from fairlead_proof.explorer.thin_event import ThinEvent
from fairlead_proof.explorer.world import Restart, WorldBounds

from fairlead.core.model import MemberKey
from fairlead.gateway import hosted_session
from fairlead.gateway.hosted_session import HostedSession
from fairlead.gateway.poll_words import Poll

MOVED = WorldBounds(clients=2, thin=1, moves=1)
BEGIN = HostedSession.begin
RESTARTED = WorldBounds(clients=2, thin=1, moves=1, losses=1, restart=Restart.INTACT)


def found(world: WorldBounds) -> tuple[str, tuple[str, ...]]:
    """Return the violation of a world, and its run, which can be told again."""
    counterexample = search(world).counterexample
    assert counterexample is not None, "the rule is needed for nothing in this world"
    run = counterexample.run
    assert len(list(replay_run(world, run))) == len(run)
    return counterexample.violation.partition(":")[0], run


class Hasty(Exchange):
    """What a session would do without a rule."""

    def read(
        self: HostedSession,
        generation: int,
        assignment: Assignment | None,
        _notices: Sequence[Notice],
        now_ms: int,
    ) -> None:
        """Obey an assignment of any age."""
        self._handle(on.GenerationRead(generation), now_ms)
        if assignment is not None:
            self._handle(on.AssignmentRead(assignment), now_ms)

    def read_newer(
        self: HostedSession,
        generation: int,
        assignment: Assignment | None,
        _notices: Sequence[Notice],
        now_ms: int,
    ) -> None:
        """Obey no assignment that was applied before."""
        self._handle(on.GenerationRead(generation), now_ms)
        if assignment is not None and assignment.epoch > (self.applied or EPOCH_ZERO):
            self._handle(on.AssignmentRead(assignment), now_ms)

    def release_untold(self: Exchange) -> list[act.Action]:
        """Release what was started and dropped in one poll."""
        for queue in list(self.memory.queues.values()):
            name = queue.queue, queue.started
            if queue.state is QueueState.DRAINING and name not in self._told:
                return self._session.handle(on.WorkStopped(*name, None), NOW_MS)
        return []

    def begin(self: HostedSession, poll: Poll, now_ms: int) -> list[act.Action]:
        """Tell the progress of works that no answer has told the client."""
        done = BEGIN(self, poll, now_ms)
        untold = [each for each in self._works if (each.queue, each.started) not in self._told]
        name = self._session.memory.incarnation
        return [*done, *(act.SendProgress(name, (each.progress,)) for each in untold)]


def write_at_once(monkeypatch: pytest.MonkeyPatch, chosen: Callable[[act.Action], bool]) -> None:
    """Let gateways write some of what a session wants to write as soon as it has read."""
    kept: list[act.Action] = []
    keep, read = vars(HostedSession)["_keep"], ThinEvent.read

    def keep_or_write(session: HostedSession, action: act.Action) -> None:
        keep(session, action)
        if chosen(action):
            kept.append(action)

    def read_and_write(event: ThinEvent, reading: Callable[[Exchange], None]) -> None:
        kept.clear()
        read(event, reading)
        event.write(list(kept))

    monkeypatch.setattr(HostedSession, "_keep", keep_or_write)
    monkeypatch.setattr(ThinEvent, "read", read_and_write)


@pytest.mark.parametrize("world", [MOVED, RESTARTED], ids=lambda world: world.name)
def test_with_all_rules_they_hold(world: WorldBounds) -> None:
    """The worlds of these tests keep every promise."""
    searched = search(world)
    assert searched.whole
    assert searched.counterexample is None


def test_g1_never_started_is_written_when_the_drop_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another gateway that has only read the add starts what was released."""
    write_at_once(
        monkeypatch, lambda action: isinstance(action, act.SendRelease) and action.position is None
    )
    violation, run = found(MOVED)
    assert violation == "UNTRACKED"
    assert "c0.z hears: start 0@1.2 from 0" in run
    assert run[-1] == "engine 1 reads c0.z's release of 0@1.2 (never started)"


def test_g2_claims_are_written_when_the_generation_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another gateway that has not read the generation starts a grant of before it."""
    # A gateway that begins a poll with the generation that it has read, not with the echoed one,
    # writes the same claims.
    write_at_once(monkeypatch, lambda action: isinstance(action, act.SendClaims))
    violation, run = found(RESTARTED)
    assert violation == "UNTRACKED"
    assert "c0.z's gateway reads the claim of generation 2" in run
    assert "engine 2 reads c0.z's acknowledgement of generation 2 (nothing)" in run[-1]


def test_g4_assignments_below_the_echoed_one_are_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that lags starts what the client has answered already."""
    monkeypatch.setattr(HostedSession, "read", Hasty.read)
    violation, run = found(MOVED)
    assert violation == "UNTRACKED"
    told = run.index("c0.z hears: start 0@1.2 from 0")
    drop = run.index("c0.z's gateway reads assignment 1.3 of generation 1 (drop 0@1.2)")
    assert drop < told


def test_g5_what_began_and_ended_untold_is_released_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another gateway that has only read the add starts what was released."""
    read = ThinEvent.read

    def read_and_release(event: ThinEvent, reading: Callable[[Exchange], None]) -> None:
        read(event, reading)
        event.write(Hasty.release_untold(event.exchange))

    monkeypatch.setattr(ThinEvent, "read", read_and_release)
    violation, run = found(MOVED)
    assert violation == "UNTRACKED"
    assert run[-1] == "engine 1 reads c0.z's release of 0@1.2 (0)"


def test_g6_a_join_acknowledges_the_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A join that comes again acknowledges for a client that works by then."""
    join = Gateways.join

    def join_and_claim(
        gateways: Gateways, member: MemberKey, generation: int
    ) -> tuple[Exchange, int]:
        exchange, facts = join(gateways, member, generation)
        claims = act.SendClaims(member.incarnation, generation, ())
        claimed, _ = appended(gateways.facts, gateways.world, member, claims)
        return exchange, facts | claimed

    monkeypatch.setattr(Gateways, "join", join_and_claim)
    violation, run = found(RESTARTED)
    assert violation == "UNTRACKED"
    assert "c0.z's join comes once more, to one that knows 2" in run


def test_g7_drops_are_answered_with_every_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client polls for ever, and hears nothing new."""
    monkeypatch.setattr(hosted_session, "without_answered", lambda word, _queues, **_: word)
    violation, run = found(MOVED)
    assert violation == "CYCLE"
    assert run[-1] == "c0.z hears: nothing new"


def test_g9_a_start_that_nobody_was_told_shows_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine takes the grant for started, and no other gateway gets a word to start it."""
    monkeypatch.setattr(HostedSession, "begin", Hasty.begin)
    violation, run = found(replace(MOVED, moves=2, mutes=1, offsets=0))
    assert violation == "STUCK"
    assert "c0.z's progress on 0@1.4" in run[-1]


def test_g8_an_assignment_is_obeyed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate of a client that goes from gateway to gateway is lost."""
    monkeypatch.setattr(HostedSession, "read", Hasty.read_newer)
    violation, run = found(replace(MOVED, moves=2))
    assert violation == "STUCK"
    assert any(" after " in step for step in run)
