"""One pitfall: a history that goes wrong under RocketMQ, and the reason."""

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

__all__ = ["OURS", "ROCKETMQ", "Pitfall", "PitfallRun", "Side"]

ROCKETMQ = "RocketMQ"
OURS = "Fairlead"


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A history to run under RocketMQ and under ours.

    Attributes:
        wrong: what RocketMQ does.
        right: why it does not happen here.
        history: the events, the same on both sides.
        network: what goes wrong between RocketMQ's clients and brokers.
        from_ms: the watched time begins here.
        to_ms: it ends here.
        seen: issues of RocketMQ's users about it, as owner/repository#number.
        somebody_dies: on both sides the queues of a dead or frozen client have no owner until the
            group notices; otherwise ours has no such queue.
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
        """All queues at the end, in RocketMQ's order."""
        grown = {each.topic: each.queues for each in self.history if isinstance(each, Grows)}
        return tuple(
            queue
            for topic in self.scene.queues
            for queue in self.scene.queues_of(topic, grown.get(topic))
        )

    def _there(self) -> list[str]:
        """Return the processes that remain at the end, in the order of their joining."""
        gone = {each.process for each in self.history if isinstance(each, Leaves | Killed)}
        joined = [each.process for each in self.history if isinstance(each, Joins)]
        return [process for process in joined if process not in gone]

    def run(self) -> "PitfallRun":
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
        return PitfallRun(self, sides)


@dataclass(frozen=True, slots=True)
class Side:
    """The result of one side. ``per_client``: how many queues each client has at the end."""

    ledger: Ledger
    tally: Tally
    per_client: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PitfallRun:
    """A pitfall and the results of both sides, by their names."""

    pitfall: Pitfall
    sides: Mapping[str, Side]
