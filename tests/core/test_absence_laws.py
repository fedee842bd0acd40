"""Laws of who is waited for, of windows and of pauses, under random lives of a group."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.core.outputs import Assignment, Decision
from fairlead.core.step import due_ms
from tests.kit.group_operator import pause
from tests.kit.group_settling import owners, settle
from tests.kit.group_world import key_of, settled

CLIENTS = ("a", "b", "c", "d")
events = st.one_of(
    st.tuples(st.just("leave"), st.sampled_from(CLIENTS)),
    st.tuples(st.just("kill"), st.sampled_from(CLIENTS)),
    st.tuples(st.just("start"), st.sampled_from(CLIENTS)),
    st.tuples(st.just("pass"), st.sampled_from((1_000, 4_000, 9_000))),
)
strategies = st.sampled_from(("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY"))


class Life:
    """A group whose clients come, go and die; who runs heartbeats at each step, and obeys."""

    def __init__(self, strategy: str, **times: int) -> None:
        self.world = settled("a", "b", queues=8)
        self.world.rule("strategy", {"name": strategy})
        self.world.rule("timing", times)
        settle(self.world)
        self.running = {"a": 1, "b": 1}
        self.lives = {"a": 1, "b": 1}
        self.written: list[Decision] = []
        self.dropped: list[tuple[str, int]] = []

    def happen(self, event: tuple[str, str | int]) -> None:
        """Let one thing happen, and the group obey."""
        kind, subject = event
        if isinstance(subject, int):
            self.world.pass_time(subject)
        elif kind == "start":
            if subject not in self.running:
                self.lives[subject] = self.lives.get(subject, 0) + 1
                self.running[subject] = self.lives[subject]
        elif subject in self.running:
            life = self.running.pop(subject)
            if kind == "leave":
                self.world.leave(subject, life)
        self.obey()

    def obey(self) -> None:
        """Every running client heartbeats and gives up what the engine dropped."""
        for client, life in self.running.items():
            process = (life, client)
            self.world.beat(client, life=life, process=process)
        for output in settle(self.world):
            if isinstance(output, Decision):
                self.written.append(output)
            if isinstance(output, Assignment):
                name, _, number = output.member.incarnation.rpartition("-")
                if self.running.get(name) == int(number):
                    self.dropped += [(name, drop.queue.queue_id) for drop in output.drop]

    def quiet(self, milliseconds: int) -> None:
        """Let time pass in which nothing happens."""
        for _ in range(0, milliseconds, 4_000):
            self.world.pass_time(4_000)
            self.obey()


def _restarts(life: Life, order: Sequence[str], crash: Sequence[bool]) -> None:
    for client, dies in zip(order, crash, strict=False):
        life.happen(("kill" if dies else "leave", client))
        life.happen(("pass", 4_000))
        life.happen(("start", client))
        life.happen(("pass", 1_000))


@settings(max_examples=25, deadline=None)
@given(strategies, st.permutations(CLIENTS), st.lists(st.booleans(), min_size=4, max_size=4))
def test_restarts_move_nothing(strategy: str, order: list[str], crash: list[bool]) -> None:
    """Whoever is restarted within the grace, in order or killed: no live client loses a queue."""
    life = Life(strategy, restart_grace_ms=40_000)
    for client in ("c", "d"):
        life.happen(("start", client))
    life.quiet(20_000)
    before = dict(owners(life.world))
    life.dropped.clear()
    _restarts(life, order, crash)
    life.quiet(20_000)
    assert life.dropped == []
    assert owners(life.world) == before


@settings(max_examples=40, deadline=None)
@given(strategies, st.lists(events, max_size=14), st.sampled_from((0, 20_000)))
def test_pause_takes_nothing_away(
    strategy: str, happened: list[tuple[str, str | int]], grace_ms: int
) -> None:
    """While a group is paused no client that runs loses a queue, whatever happens to others."""
    life = Life(strategy, restart_grace_ms=grace_ms)
    pause(life.world)
    life.obey()
    life.dropped.clear()
    life.written.clear()
    for event in happened:
        life.happen(event)
        held = {owner for owner in owners(life.world).values() if owner in life.running}
        assert held <= {"a", "b"}, "somebody who had nothing was given something"
    assert life.dropped == []
    assert {decision.state.phase for decision in life.written} <= {"paused"}
    pause(life.world, ended=True)
    life.quiet(20_000 + grace_ms)
    _all_owned(life)


@settings(max_examples=40, deadline=None)
@given(strategies, st.lists(events, min_size=1, max_size=14))
def test_window_is_a_bound(strategy: str, happened: list[tuple[str, str | int]]) -> None:
    """No change waits longer than the window, and sharing is rarer than once in each."""
    life = Life(strategy, settle_ms=10_000)
    began_ms = life.world.clock_ms
    opened_ms: int | None = None
    for event in happened:
        life.happen(event)
        state = life.world.state
        assert state is not None
        if state.settling is None:
            opened_ms = None
            continue
        opened_ms = state.settling.opened_ms if opened_ms is None else opened_ms
        assert life.world.clock_ms < opened_ms + 10_000
        assert due_ms(state, life.world.rules) <= opened_ms + 10_000
    settled_at = [each.clock_ms for each in life.written if "settled" in each.triggers]
    assert len(settled_at) <= (life.world.clock_ms - began_ms) // 10_000 + 1
    life.quiet(40_000)
    _all_owned(life)


@settings(max_examples=40, deadline=None)
@given(
    strategies,
    st.lists(events, max_size=14),
    st.sampled_from((0, 5_000, 30_000)),
    st.sampled_from((0, 8_000)),
)
def test_every_queue_ends_with_an_owner_that_runs(
    strategy: str, happened: list[tuple[str, str | int]], grace_ms: int, settle_ms: int
) -> None:
    """When nothing happens any more every queue has an owner that runs, and nobody is awaited."""
    life = Life(strategy, restart_grace_ms=grace_ms, settle_ms=settle_ms)
    for event in happened:
        life.happen(event)
    life.quiet(20_000 + grace_ms + settle_ms)
    _all_owned(life)
    assert life.world.state is not None
    assert life.world.state.awaited == {}
    assert life.world.state.settling is None


def _all_owned(life: Life) -> None:
    state = life.world.state
    assert state is not None
    if not life.running:
        return
    members = {key_of(client, number) for client, number in life.running.items()}
    holders = {value.chain[0].member for value in state.queues.values() if value.chain}
    assert sum(bool(value.chain) for value in state.queues.values()) == 8
    assert holders <= members
