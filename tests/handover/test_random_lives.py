"""Random lives of a group: the real core, the real client session, one virtual clock, many faults.

Whatever happens (slow reads, late answers, frozen and killed processes, killed drivers, states put
back, lost output), no queue has two owners and no message is skipped; and when the faults end,
every queue is owned again and silence returns.
"""

from collections import Counter
from random import Random

import pytest
from fairlead_client.model import Process

from fairlead.core.outputs import Assignment
from tests.handover.actors import Actor, BrokenError
from tests.handover.drivers import Driver
from tests.handover.log import DataPlane, Log

FAULTS = ("join", "leave", "kill", "freeze", "kill_driver", "old_state", "grow", "lost_output")
CLEAN = ("join", "leave", "kill_driver", "old_state", "grow", "lost_output")
"""Faults after which no message may be read twice: nobody died without a word."""

LEAVE_MS_MAX = 11_000
"""An application takes up to 8 s to stop; a lease and its margin end after 13 s."""


class Life:
    """One random schedule of one group."""

    def __init__(self, seed: int, chain_cap: int, names: tuple[str, ...] = FAULTS) -> None:
        """Begin with three clients and six queues."""
        self.rng = Random(seed)
        self.names = names
        self.log = Log(DataPlane(6))
        self.driver = Driver(self.log, self.rng, chain_cap)
        self.actors: list[Actor] = []
        self.faults: Counter[str] = Counter()
        self.epochs: dict[object, object] = {}
        for _ in range(3):
            self.join()

    def join(self) -> None:
        """A new process starts."""
        number = len(self.actors)
        process = Process(self.log.now_ms, f"process-{number}")
        clean = self.names is CLEAN
        self.actors.append(Actor(f"client-{number}", self.log, self.rng, process, clean))

    def turn(self, *, faults: bool) -> None:
        """Let a little time pass in which everybody does something, and look for two owners."""
        self.log.now_ms += self.rng.randint(20, 400)
        self.driver.tick()
        if faults and self.rng.random() < 0.06:
            self.fault(self.rng.choice(self.names))
        for actor in self.rng.sample(self.actors, len(self.actors)):
            if self.rng.random() < 0.8 or not faults:
                actor.run()
                self.look()
        if self.rng.random() < 0.6:
            self.driver.batch(whole=not faults)
        self.look()

    def fault(self, name: str) -> None:
        """Let one thing go wrong."""
        alive = [actor for actor in self.actors if actor.alive]
        self.faults[name] += 1
        if name == "join" and len(alive) < 6:
            self.join()
        elif name == "grow" and self.log.data.queues < 12:
            self.log.data.queues += 2
            self.log.answer("route")
        elif name == "kill_driver":
            self.driver.batch(killed=True)
            self.driver.start()
        elif name == "old_state":
            self.driver.start(back=self.rng.randint(1, 4))
        elif name == "lost_output":
            self.driver.lose_output = 0.5
            self.driver.batch()
            self.driver.lose_output = 0.0
        elif len(alive) > 1:
            self._hurt(self.rng.choice(alive), name)

    def _hurt(self, actor: Actor, name: str) -> None:
        if name == "kill":
            actor.alive = False
        elif name == "freeze":
            actor.frozen_until_ms = self.log.now_ms + self.rng.choice(
                (3_000, 9_000, 16_000, 30_000)
            )
        elif name == "leave" and self.log.now_ms >= actor.frozen_until_ms:
            actor.session_leaves()

    def look(self) -> None:
        """Raise if two processes would work on one queue."""
        owners: dict[object, str] = {}
        for actor in self.actors:
            for queue in actor.working():
                if queue in owners:
                    raise BrokenError(f"DOUBLE: {queue} by {owners[queue]} and {actor.name}")
                owners[queue] = actor.name

    def settle(self) -> None:
        """Let the faults end, and demand that every queue is owned and nothing more is written."""
        for actor in self.actors:
            actor.frozen_until_ms = -1
        self.join()  # for the others may all have left
        for _ in range(600):
            self.turn(faults=False)
        owned = Counter(queue for actor in self.actors for queue in actor.working())
        assert sum(owned.values()) == self.log.data.queues, owned
        told = len(self.log.told)
        for _ in range(100):
            self.turn(faults=False)
        assert len(self.log.told) == told, "a settled group is still told things"


def live(seed: int, chain_cap: int, names: tuple[str, ...]) -> None:
    """Live through a schedule, let the faults end, and make sure that something happened."""
    life = Life(seed, chain_cap, names)
    for _ in range(400):
        life.turn(faults=True)
    life.settle()
    assert sum(actor.starts for actor in life.actors) >= 6
    assert sum(life.faults.values()) >= 8


@pytest.mark.parametrize("chain_cap", [1, 2, 3])
@pytest.mark.parametrize("seed", range(25))
def test_no_queue_has_two_owners_and_silence_returns(seed: int, chain_cap: int) -> None:
    """Whatever goes wrong, a life keeps every promise, and converges."""
    live(seed, chain_cap, FAULTS)


@pytest.mark.parametrize("chain_cap", [1, 2])
@pytest.mark.parametrize("seed", range(100, 120))
def test_nothing_is_read_twice_while_nobody_dies(seed: int, chain_cap: int) -> None:
    """Joins, leaves, new queues, killed drivers and lost output repeat no message."""
    live(seed, chain_cap, CLEAN)


@pytest.mark.parametrize("chain_cap", [1, 2])
@pytest.mark.parametrize("seed", range(200, 220))
def test_who_leaves_is_granted_nothing_more(seed: int, chain_cap: int) -> None:
    """The others own everything long before the leaver's lease could have ended."""
    life = Life(seed, chain_cap, CLEAN)
    for _ in range(200):
        life.turn(faults=False)
    leaver = life.rng.choice([actor for actor in life.actors if actor.working()])
    told, begun_ms = len(life.log.told), life.log.now_ms
    leaver.session_leaves()
    while leaver.alive or sum(len(actor.working()) for actor in life.actors) < 6:
        life.turn(faults=False)
        assert life.log.now_ms - begun_ms < LEAVE_MS_MAX
    granted = [
        output
        for output in life.log.told[told:]
        if isinstance(output, Assignment) and output.member.client_id == leaver.name and output.add
    ]
    assert granted == []
