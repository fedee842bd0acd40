"""What the process of a client needs of its world."""

from typing import Protocol

from fairlead_proof.sim.application import Observer
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.data_plane import DataPlane
from fairlead_proof.sim.kafka import Kafka
from fairlead_proof.sim.scenario import Scenario
from fairlead_proof.sim.timeline import Timeline

__all__ = ["ClientEnvironment"]


class ClientEnvironment(Protocol):
    """The environment of a client."""

    timeline: Timeline
    chance: Chance
    kafka: Kafka
    data: DataPlane
    scenario: Scenario

    @property
    def judge(self) -> Observer:
        """The observer."""

    def narrate(self, who: str, what: str, *values: object) -> None:
        """Add a line to the story."""

    def note(self, kind: str) -> None:
        """Count something of this kind."""
