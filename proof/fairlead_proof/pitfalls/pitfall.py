"""One pitfall: a history that goes wrong under RocketMQ, with what makes it go wrong."""

from collections.abc import Mapping
from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.history import Event, Grows, Joins, Killed, Leaves, play
from fairlead_proof.pitfalls.ledger import Ledger, Tally
from fairlead_proof.pitfalls.ours.world import OurWorld
from fairlead_proof.pitfalls.rocketmq.network import UNTROUBLED, Network
from fairlead_proof.pitfalls.rocketmq.times import RELEASE_4_9, Times
from fairlead_proof.pitfalls.rocketmq.world import RocketmqWorld
from fairlead_proof.pitfalls.scene import Scene

__all__ = ["OURS", "ROCKETMQ", "Pitfall", "Side", "Told"]

ROCKETMQ = "RocketMQ"
OURS = "Fairlead"


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A story that is told under RocketMQ and under ours.

    ``wrong`` says what RocketMQ does, ``right`` why it does not happen here. ``history`` is the
    same on both sides; ``network`` is what goes wrong between RocketMQ's clients and brokers. The
    time from ``from_ms`` to ``to_ms`` is watched. ``seen``: issues, as
    owner/repository#number, in which RocketMQ's users tell of it.
    ``somebody_dies``: queues of who is dead or stands still have nobody until that is noticed, on
    both sides; everywhere else ours has no such queue.
    """

    name: str
    title: str
    wrong: str
    right: str
    scene: Scene
    history: tuple[Event, ...]
    from_ms: int
    to_ms: int
    network: Network = UNTROUBLED
    times: Times = RELEASE_4_9
    seen: tuple[str, ...] = ()
    somebody_dies: bool = False

    @property
    def queues(self) -> tuple[MessageQueue, ...]:
        """All queues that the story has at its end, in RocketMQ's order."""
        grown = {each.topic: each.queues for each in self.history if isinstance(each, Grows)}
        return tuple(
            queue
            for topic in self.scene.queues
            for queue in self.scene.queues_of(topic, grown.get(topic))
        )

    def _there(self) -> list[str]:
        """Return the processes that are there at the end, in the order of their joining."""
        gone = {each.process for each in self.history if isinstance(each, Leaves | Killed)}
        joined = [each.process for each in self.history if isinstance(each, Joins)]
        return [process for process in joined if process not in gone]

    def tell(self) -> "Told":
        """Run the history on both sides."""
        theirs, ours = RocketmqWorld(self.scene, self.network, self.times), OurWorld(self.scene)
        sides: dict[str, Side] = {}
        for name, world in ((ROCKETMQ, theirs), (OURS, ours)):
            play(self.history, world)
            world.run_until(self.to_ms)
            tally = world.ledger.tally(self.queues, self.from_ms, self.to_ms)
            shares = world.ledger.shares(self.queues, self.to_ms - 1)
            per_client = tuple(shares.get(process, 0) for process in self._there())
            sides[name] = Side(world.ledger, tally, per_client)
        return Told(self, sides)


@dataclass(frozen=True, slots=True)
class Side:
    """What one side made of a story. ``per_client``: how many queues each has at the end."""

    ledger: Ledger
    tally: Tally
    per_client: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A pitfall, told on both sides, by their names."""

    pitfall: Pitfall
    sides: Mapping[str, Side]
