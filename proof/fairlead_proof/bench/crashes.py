"""What a client's death costs: from its last heartbeat until somebody else reads all its queues.

Nobody announces a death, so its queues wait until its lease and the engine's margin are over, and
both count from the append of its last heartbeat. What comes on top is the engine's and the
successors' time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Crash:
    """One client that was killed.

    Attributes:
        client_id: who.
        adopted_ns: when the last of its queues stood at its position at another client, monotonic.
        wall_ahead_ns: wall clock minus monotonic clock.
    """

    client_id: str
    adopted_ns: int
    wall_ahead_ns: int

    def total_ms(self, heartbeats: Mapping[str, Sequence[int]]) -> float:
        """Return how long its queues had no reader who is alive, at most.

        Args:
            heartbeats: per client id, when each of its heartbeats was appended, in milliseconds of
                the wall clock of this host.

        Raises:
            ValueError: it had none before its queues were adopted.
        """
        adopted_ms = (self.adopted_ns + self.wall_ahead_ns) / 1e6
        before = [time for time in heartbeats.get(self.client_id, ()) if time <= adopted_ms]
        if not before:
            raise ValueError(f"{self.client_id}: no heartbeat before its queues were adopted")
        return adopted_ms - max(before)
