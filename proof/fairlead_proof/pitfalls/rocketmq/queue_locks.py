"""A broker's locks of ordered queues (RebalanceLockManager)."""

from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue

__all__ = ["QueueLocks"]


@dataclass(slots=True)
class QueueLocks:
    """The holder of each queue's lock, and since when; in memory, without a fencing token."""

    lease_ms: int
    held: dict[MessageQueue, tuple[str, int]] = field(default_factory=dict)

    def lock(self, queue: MessageQueue, client_id: str, now_ms: int) -> bool:
        """Give or renew a lock; a lock without renewal for the lease changes its holder."""
        holder, stamp_ms = self.held.get(queue, (client_id, now_ms))
        if holder != client_id and now_ms - stamp_ms <= self.lease_ms:
            return False
        self.held[queue] = (client_id, now_ms)
        return True

    def unlock(self, queue: MessageQueue, client_id: str) -> None:
        """Free a lock of this client; another client's lock stays."""
        if self.held.get(queue, ("", 0))[0] == client_id:
            del self.held[queue]
