"""A broker of RocketMQ: its consumer ids, notifications, locks and stored offsets.

Source: ConsumerManager, ClientHousekeepingService, DefaultConsumerIdsChangeListener,
ConsumerOffsetManager. Each broker knows only the clients whose heartbeats it gets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.rocketmq.queue_locks import QueueLocks
from fairlead_proof.pitfalls.rocketmq.times import Times

__all__ = ["Broker"]

Notify = Callable[["Broker", str], None]
"""Notifies one process that the broker's consumer ids have changed."""


@dataclass(slots=True)
class Broker:
    """A broker of one group.

    ``channels``: connection (named by its process) -> [client id, when it last heartbeat], in the
    order in which they came.
    """

    name: str
    times: Times
    notify: Notify
    locks: QueueLocks = field(init=False)
    channels: dict[str, tuple[str, int]] = field(default_factory=dict)
    offsets: dict[MessageQueue, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin without locks."""
        self.locks = QueueLocks(self.times.lock_ms)

    @property
    def client_ids(self) -> list[str] | None:
        """The client id of every connection, unsorted, with duplicates; None: no such group."""
        return [client_id for client_id, _ in self.channels.values()] or None

    def heartbeat(self, process: str, client_id: str, now_ms: int) -> None:
        """Count a heartbeat; notify everybody of a new connection."""
        new = process not in self.channels
        self.channels[process] = (client_id, now_ms)
        if new:
            self._notify_all()

    def close(self, process: str) -> None:
        """Remove an unregistered or broken connection, and notify the others."""
        if self.channels.pop(process, None) is not None:
            self._notify_all()

    def scan(self, now_ms: int) -> None:
        """Forget connections without a heartbeat, and notify nobody.

        Source: ConsumerManager#scanNotActiveChannel. The close event finds nothing any more.
        """
        for process, (_, seen_ms) in list(self.channels.items()):
            if now_ms - seen_ms > self.times.expiry_ms:
                del self.channels[process]

    def _notify_all(self) -> None:
        for process in self.channels:
            self.notify(self, process)
