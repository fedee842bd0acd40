"""The common base of RocketMQ's world and the engine's: a history in virtual time."""

from abc import ABC, abstractmethod
from functools import partial

from fairlead_proof.pitfalls.history import Event
from fairlead_proof.pitfalls.ledger import Ledger
from fairlead_proof.pitfalls.scene import Scene
from fairlead_proof.sim.timeline import Timeline

__all__ = ["PitfallWorld"]


class PitfallWorld(ABC):
    """Runs a history, and writes the ledger.

    Attributes:
        scene: brokers, topics and strategy.
        timeline: future events and their times.
        ledger: who worked on which queue.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.timeline = Timeline()
        self.ledger = Ledger()
        self._routes = dict(scene.queues)

    @property
    def now_ms(self) -> int:
        """The present, in milliseconds since the story began."""
        return self.timeline.now_ms

    def at(self, event: Event) -> None:
        """Plan an event."""
        self.timeline.at(event.at_ms, partial(self._happen, event))

    def run_until(self, end_ms: int) -> None:
        """Let everything happen up to this time."""
        self.timeline.run_until(end_ms)

    @abstractmethod
    def _happen(self, event: Event) -> None:
        """Let an event of the history happen."""
