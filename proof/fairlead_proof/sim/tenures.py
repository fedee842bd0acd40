"""Who works on which queue at each moment of the virtual time.

It finds two breaches: two processes that may process messages of one queue at one moment, and a
start under an epoch that is not newer.
"""

from collections import Counter

from fairlead_client.model import Queue

from fairlead_proof.sim.application import Host, Work
from fairlead_proof.sim.violation import BreachError

__all__ = ["Tenures"]


class Tenures:
    """Every work on every queue.

    Attributes:
        handovers: how often a queue changed its process, by how the former owner ended.
        starts: how often work began.
        unsafe: queues that may have two owners, as the engine says.
    """

    def __init__(self, *, exclusive: bool) -> None:
        """Begin; without ``exclusive`` any queue may have two owners."""
        self._exclusive = exclusive
        self.unsafe: set[Queue] = set()
        self._working: dict[Queue, list[tuple[Host, Work]]] = {}
        self._newest: dict[Queue, tuple[tuple[int, int], str]] = {}
        self._clean: set[tuple[Queue, tuple[int, int]]] = set()
        self._gone: dict[str, str] = {}
        self.handovers: Counter[str] = Counter()
        self.starts = 0

    def started(self, client: Host, work: Work) -> None:
        """Begin work: nobody else may be working, and nobody newer may have worked."""
        self.starts += 1
        queue = work.queue
        newest = self._newest.get(queue)
        if newest is not None:
            epoch, name = newest
            if work.epoch <= epoch and self._judged(queue):
                raise BreachError(
                    "EPOCH", f"{client.name} starts {queue} under {work.epoch}, {name} had {epoch}"
                )
            if name != client.name:
                clean = (queue, epoch) in self._clean
                self.handovers["released" if clean else "taken over"] += 1
        why = self._gone.get(work.incarnation)
        if why is not None:
            raise BreachError("GONE", f"{client.name} starts {queue} after {why}")
        self._newest[queue] = (work.epoch, client.name)
        self._working.setdefault(queue, []).append((client, work))
        self.check_owners(queue)

    def _judged(self, queue: Queue) -> bool:
        return self._exclusive and queue not in self.unsafe

    def must_wait(self, queue: Queue) -> "list[tuple[Host, Work]]":
        """Return the owners that a successor must wait for."""
        return self.owners(queue) if self._judged(queue) else []

    def ended(self, client: Host, work: Work) -> None:
        """Work is over."""
        self._working[work.queue].remove((client, work))

    def released(self, queue: Queue, epoch: tuple[int, int]) -> None:
        """A release with a position is in the log."""
        self._clean.add((queue, epoch))

    def gone(self, incarnation: str, why: str) -> None:
        """Check that an incarnation that the engine forgot has stopped."""
        self._gone[incarnation] = why
        for queue in self._working:
            for client, work in self.owners(queue):
                if work.incarnation == incarnation:
                    raise BreachError("GONE", f"{client.name} works on {queue} in spite of {why}")

    def owners(self, queue: Queue) -> "list[tuple[Host, Work]]":
        """Return the processes that may process messages of a queue now."""
        return [pair for pair in self._working.get(queue, ()) if pair[0].owns(pair[1])]

    def check_owners(self, queue: Queue) -> None:
        """Raise if two processes may work on a queue."""
        working = self._working.get(queue, ())
        if len(working) < 2 or not self._judged(queue):  # noqa: PLR2004 - two owners are the breach
            return
        owners = self.owners(queue)
        if len(owners) > 1:
            named = " and ".join(f"{client.name} under {work.epoch}" for client, work in owners)
            raise BreachError("DOUBLE", f"{queue} is worked on by {named}")
