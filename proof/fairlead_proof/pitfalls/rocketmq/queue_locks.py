"""The locks that a broker gives for ordered queues (RebalanceLockManager)."""

from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue

__all__ = ["QueueLocks"]


@dataclass(slots=True)
class QueueLocks:
    """Who has the lock of which queue, and since when; in memory, and without a fencing token."""

    lease_ms: int
    held: dict[MessageQueue, tuple[str, int]] = field(default_factory=dict)

    def lock(self, queue: MessageQueue, client_id: str, now_ms: int) -> bool:
        """Give or renew a lock; one that was not renewed for the lease is taken over."""
        holder, stamp_ms = self.held.get(queue, (client_id, now_ms))
        if holder != client_id and now_ms - stamp_ms <= self.lease_ms:
            return False
        self.held[queue] = (client_id, now_ms)
        return True

    def unlock(self, queue: MessageQueue, client_id: str) -> None:
        """Give a lock back; that of another client stays."""
        if self.held.get(queue, ("", 0))[0] == client_id:
            del self.held[queue]
