"""One broker: the consumer ids that it knows, whom it notifies, its locks and stored offsets.

Source: ConsumerManager, ClientHousekeepingService, DefaultConsumerIdsChangeListener,
ConsumerOffsetManager. Each broker knows only the clients that it hears itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.rocketmq.queue_locks import QueueLocks
from fairlead_proof.pitfalls.rocketmq.times import Times

__all__ = ["Broker"]

Notify = Callable[["Broker", str], None]
"""Sends one process that the broker's consumer ids have changed."""


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
        """Every connection's client id, neither sorted nor without doubles; None: no such group."""
        return [client_id for client_id, _ in self.channels.values()] or None

    def heartbeat(self, process: str, client_id: str, now_ms: int) -> None:
        """Count a heartbeat; a new connection is told to everybody."""
        new = process not in self.channels
        self.channels[process] = (client_id, now_ms)
        if new:
            self._notify_all()

    def close(self, process: str) -> None:
        """A connection is unregistered, or has broken: the others are told."""
        if self.channels.pop(process, None) is not None:
            self._notify_all()

    def scan(self, now_ms: int) -> None:
        """Forget connections without a heartbeat; nobody is told.

        Source: ConsumerManager#scanNotActiveChannel. The close event finds nothing any more.
        """
        for process, (_, seen_ms) in list(self.channels.items()):
            if now_ms - seen_ms > self.times.expiry_ms:
                del self.channels[process]

    def _notify_all(self) -> None:
        for process in self.channels:
            self.notify(self, process)
