"""What is done to one broker of three, and what each such outage came to.

An outage's clock starts when other brokers lead in place of the broken one: until then nobody could
decide anything. From then on the engine owes a decision about whatever happened meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["BROKERS", "BrokerFault", "Outage", "faults_of", "names_of"]

BROKERS: Final = 3


class BrokerFault(StrEnum):
    """What is done to whom. The leader is that of the partition with the group's heartbeats."""

    LEADER_KILL = "leader-kill"
    LEADER_FREEZE = "leader-freeze"
    FOLLOWER_KILL = "follower-kill"
    FOLLOWER_FREEZE = "follower-freeze"
    CONTROLLER_KILL = "controller-kill"
    CONTROLLER_FREEZE = "controller-freeze"
    ROLLING = "rolling"

    @property
    def freezes(self) -> bool:
        """Whether the broker stands still, instead of ending."""
        return self.value.endswith("freeze")


_SHORT: Final = (BrokerFault.LEADER_KILL, BrokerFault.LEADER_FREEZE, BrokerFault.ROLLING)


@dataclass(frozen=True, slots=True)
class Outage:
    """One broker out of service, and the first decision without it; milliseconds since 1970.

    Attributes:
        fault: what was done.
        node: to whom.
        begun_ms: when.
        leaders_ms: the last moment at which it still led, or was waited for by, any partition.
        decided_ms: when the decision about what happened meanwhile was appended.
        expired: the client ids that the engine took for dead until the broker was back.
    """

    fault: BrokerFault
    node: int
    begun_ms: int
    leaders_ms: int
    decided_ms: int
    expired: tuple[str, ...] = ()

    @property
    def seconds_to_leaders(self) -> float:
        """How long the brokers took to replace it."""
        return (self.leaders_ms - self.begun_ms) / 1_000

    @property
    def seconds_to_decision(self) -> float:
        """How long the decision took from then on; 0 if it needed none of the leaders it lost."""
        return max(0, self.decided_ms - self.leaders_ms) / 1_000


def faults_of(rounds: int) -> tuple[BrokerFault, ...]:
    """Return what is played: every fault in each of these rounds, or with none a short choice."""
    return tuple(BrokerFault) * rounds or _SHORT


def names_of(faults: Sequence[BrokerFault]) -> tuple[str, ...]:
    """Return the names of the steps that these faults make, with the start before them."""
    steps = ["start"]
    for fault in faults:
        if fault is BrokerFault.ROLLING:
            steps += [f"{fault}-{node}" for node in range(1, BROKERS + 1)]
        else:
            steps.append(fault.value)
    return tuple(steps)
