"""Two processes with one client id: one owns in any order; both get a notice, none in vain."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations, product

import pytest

from fairlead.core.model import MemberKey
from fairlead.core.outputs import Notice
from tests.kit.group_settling import settle
from tests.kit.group_world import GroupWorld, key_of, settled

PROCESSES = {1: (100, "p1"), 2: (200, "p2"), 3: (200, "p3")}
"""Number -> process; the third is the greatest, by its uuid. Its lives are 3, 13, 23, and so on."""


@dataclass(slots=True)
class Deployment:
    """Processes that share the client id ``a``. The loser stops, as clients do."""

    world: GroupWorld
    lives: dict[int, int] = field(default_factory=lambda: {number: number for number in PROCESSES})
    stopped: set[int] = field(default_factory=set)
    told: list[tuple[int, str]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def beat(self, number: int) -> None:
        """A process that runs heartbeats, and acknowledges what generation there is."""
        if number not in self.stopped:
            life = self.lives[number]
            self.world.beat("a", life=life, process=PROCESSES[number])
            self.world.claims("a", life=life)

    def begin_anew(self, number: int) -> None:
        """A process lost its lease: it draws another incarnation."""
        self.lives[number] += 10

    def run(self) -> None:
        """Step the engine; whoever reads that a greater process won stops and leaves."""
        self.world.run()
        for output in self.world.outputs:
            if isinstance(output, Notice):
                self._read(output)
        state = self.world.state
        assert state is not None
        for value in state.queues.values():
            for grant in value.chain:
                if not grant.dropped and grant.member.client_id == "a":
                    self.owners.append(_process_of(grant.member))

    def _read(self, notice: Notice) -> None:
        number = _process_of(notice.member)
        self.told.append((number, notice.code))
        if notice.code == "lapsed":
            self.begin_anew(number)
        elif notice.winner is not None and notice.winner > PROCESSES[number]:
            self.stopped.add(number)
            self.world.leave("a", self.lives[number])


def _process_of(member: MemberKey) -> int:
    return int(member.incarnation[-1])


def _rounds(deployment: Deployment, order: tuple[int, ...], rounds: int = 4) -> None:
    for _ in range(rounds):
        for number in order:
            deployment.world.pass_time(500)
            deployment.beat(number)
            deployment.run()
        settle(deployment.world)


@pytest.mark.parametrize("order", [*permutations(PROCESSES)])
def test_of_three_processes_the_greatest_owns_in_the_end(order: tuple[int, ...]) -> None:
    """In whatever order three processes come, the greatest owns in the end, and hears of it."""
    deployment = Deployment(settled("b"))
    _rounds(deployment, order)
    assert deployment.stopped == {1, 2}
    assert deployment.world.owned("a", 3) == [0, 1]
    assert {number for number, _ in deployment.told} == {1, 2, 3}
    assert len(deployment.told) == len(set(deployment.told))
    assert deployment.owners == sorted(deployment.owners), "it went back to a lesser process"


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_after_both_lapse_exactly_one_remains(order: tuple[int, ...]) -> None:
    """Both lapse before any notice and the engine forgets them: in any order one remains."""
    deployment = Deployment(settled(queues=2))
    _rounds(deployment, (1, 2), 1)
    deployment.world.pass_time(60_000)
    deployment.run()
    assert deployment.world.state is not None
    assert deployment.world.state.members == {}
    for number in order:
        deployment.begin_anew(number)
    _rounds(deployment, order)
    assert deployment.stopped == {1}


def _histories() -> Iterator[tuple[str, ...]]:
    """Yield every short life of two processes with losses of the checkpoint in between."""
    yield from product(("1", "2", "21", "loss", "lapse"), repeat=4)


def test_no_order_of_events_stops_both_processes() -> None:
    """No order of heartbeats, lapses and lost checkpoints makes both stop."""
    looked_at = 0
    for history in _histories():
        deployment = Deployment(GroupWorld())
        deployment.world.beat("b")
        for event in history:
            _happen(deployment, event)
        assert deployment.stopped <= {1}, history
        for _ in range(3):
            _happen(deployment, "12")
        assert deployment.stopped == {1}, history
        assert deployment.world.state is not None
        assert key_of("a", deployment.lives[2]) in deployment.world.state.members
        looked_at += 1
    assert looked_at == 625


def _happen(deployment: Deployment, event: str) -> None:
    world = deployment.world
    world.pass_time(1_000)
    if event == "loss":
        world.lose(world.generation + 1)
    elif event == "lapse":
        world.pass_time(14_000)
    else:
        for number in map(int, event):
            deployment.beat(number)
            world.pass_time(100)
    world.beat("b")
    world.claims("b")
    deployment.run()


def test_restart_is_no_duplicate() -> None:
    """A process started in place of a dead one is no duplicate, and nobody gets a notice."""
    deployment = Deployment(settled(queues=2))
    deployment.beat(1)
    deployment.run()
    for _ in range(8):
        deployment.world.pass_time(2_000)
        deployment.beat(2)
        # Where nobody answered it would be told that no bridge does.
        deployment.world.route(2)
        deployment.world.bounds(2)
        deployment.run()
        assert "duplicate_client_id" not in _alarms(deployment.world)
    assert deployment.told == []
    assert deployment.world.state is not None
    assert list(deployment.world.state.members) == [key_of("a", 2)]


def test_restart_under_a_clock_that_is_behind() -> None:
    """Restarted where the clock is behind, a process outlives its dead rival and is not stopped."""
    deployment = Deployment(settled(queues=2))
    deployment.beat(2)
    deployment.run()
    deployment.world.route(2)
    deployment.world.bounds(2)
    deployment.run()
    for _ in range(8):
        deployment.world.pass_time(2_000)
        deployment.beat(1)
        deployment.run()
    assert deployment.told == []
    assert deployment.world.owned("a", 1) == [0, 1]


def test_crash_loop_stops_nobody() -> None:
    """A greater process that dies as it starts, again and again, stops nobody."""
    deployment = Deployment(settled(queues=2))
    deployment.beat(1)
    deployment.run()
    for _ in range(6):
        deployment.world.pass_time(2_000)
        deployment.beat(1)
        deployment.begin_anew(2)
        deployment.beat(2)
        deployment.run()
    assert deployment.told == []
    assert deployment.stopped == set()


def test_leaver_is_no_duplicate() -> None:
    """A process that is leaving while its successor starts leaves in peace."""
    deployment = Deployment(settled(queues=2))
    deployment.beat(1)
    deployment.run()
    deployment.world.leave("a", 1)
    _rounds(deployment, (2, 1), 1)
    assert deployment.told == []


def test_the_alarm_stands_while_both_go_on() -> None:
    """While both go on the alarm stands in every decision, and no longer."""
    world = settled("b", queues=2)
    for _ in range(2):
        for life in (1, 2):
            world.pass_time(100)
            world.beat("a", life=life, process=PROCESSES[life])
            world.run()
    world.rule("slots", "group")
    world.run()
    assert "duplicate_client_id" in world.decision.alarms
    world.leave("a", 1)
    settle(world)
    world.rule("slots", "subscribers")
    world.run()
    assert "duplicate_client_id" not in world.decision.alarms


def test_both_heard_in_one_batch() -> None:
    """A tie on the clock proves nothing; the next heartbeats do."""
    deployment = Deployment(settled(queues=2))
    deployment.beat(1)
    deployment.beat(2)
    deployment.run()
    assert deployment.told == []
    deployment.world.pass_time(3_000)
    deployment.beat(1)
    deployment.beat(2)
    deployment.run()
    assert sorted(deployment.told) == [(1, "duplicate_client_id"), (2, "duplicate_client_id")]
    assert deployment.stopped == {1}


def _alarms(world: GroupWorld) -> tuple[str, ...]:
    return tuple(alarm for output in world.outputs for alarm in getattr(output, "alarms", ()))
