"""One poll of a thin client at a gateway that may answer it: the real hosted session, as a value.

Time does not pass here either, so an exchange has an image like a session's memory. Beside the
session it has what the gateway has read for the client: the real fold of assignments. What the
client said is applied at once, when the poll begins; then the gateway reads, and answers or not.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from fairlead_client.model import POSITION_ZERO, Epoch, Queue
from fairlead_client.session.memory import Memory
from fairlead_client.session.records import Add, Assignment
from fairlead_client.session.saved_session import SavedSession
from fairlead_client.session.session import Session
from fairlead_client.session.states import QueueState

from fairlead.gateway.hosted_session import HostedSession
from fairlead.gateway.session_log import SessionWords
from fairlead_proof.explorer.frozen import frozen
from fairlead_proof.explorer.memory_image import FOREVER_MS, copied, image, settle

__all__ = ["NOW_MS", "Exchange", "settled_state"]

NOW_MS = 1
"""The one moment. A state says 0 for a queue that nobody was asked to stop."""


class _Session(Session):
    """The real session, continued from the memory of another one."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory


class Fold(SessionWords):
    """The real fold of the engine's words to a client, with copies and an image."""

    def copied(self) -> "Fold":
        """Return a copy that can change without changing the original."""
        return Fold(self.group, assignment=self.assignment, _adds=dict(self._adds))

    def kept(self, is_new: Callable[[Add], bool]) -> "Fold":
        """Return the fold with these adds alone, and with nothing at all if there are none."""
        adds = {name: add for name, add in self._adds.items() if is_new(add)}
        return Fold(self.group, assignment=self.assignment if adds else None, _adds=adds)

    @property
    def adds(self) -> set[tuple[Queue, Epoch]]:
        """The adds that hold, and that it has kept."""
        return set(self._adds)

    def image(self) -> Any:
        """Return it as a hashable value."""
        newest = self.assignment
        return (newest and (newest.generation, newest.epoch), frozen(self._adds))


class Exchange(HostedSession):
    """The real hosted session, with copies and images.

    Attributes:
        words: what the gateway has read of the engine's words to this client.
    """

    words: Fold

    def read_word(self, record: Assignment) -> None:
        """Read an assignment into the fold, and pass the newest word on, as a gateway does."""
        if self.words.apply(record):
            self.read(self.memory.generation, self.words.assignment, (), NOW_MS)

    @property
    def memory(self) -> Memory:
        """The memory of its session."""
        return self._session.memory

    @property
    def waits(self) -> bool:
        """Whether a gate is open, or work is to stop."""
        return any(
            queue.gate is not None or queue.state is QueueState.DRAINING
            for queue in self.memory.queues.values()
        )

    def copied(self) -> "Exchange":
        """Return a copy that can change without changing the original."""
        fresh = copy(self)
        fresh.detach()
        return fresh

    def detach(self) -> None:
        """Share nothing with the exchange that this is a copy of."""
        self._session = _Session(copied(self.memory))
        self._told, self._named = set(self._told), set(self._named)
        self._adopted = set(self._adopted)
        self._stops_told, self._from_release, self._notices = set(), set(), []
        self.words = self.words.copied()

    def settle(self) -> None:
        """Set everything outside of the image to its one value."""
        memory = self.memory
        applied = memory.applied
        unsent = {queue.queue for queue in memory.queues.values() if queue.unsent}
        settle(memory)
        memory.applied = applied
        for queue in memory.queues.values():
            queue.unsent = queue.works and queue.queue in unsent
            # No position goes back here, so the place of the start decides nothing.
            queue.start = queue.position if queue.works else POSITION_ZERO
            queue.granted = POSITION_ZERO
        for name in ("claims_due_ms", "leave_due_ms"):
            if getattr(memory, name) is not None:
                setattr(memory, name, NOW_MS)
        if memory.hand_over_until_ms is not None:
            memory.hand_over_until_ms = FOREVER_MS
        self._now_ms = NOW_MS
        self._stops_told.clear()
        self._from_release.clear()
        # What was passed on stands in the session. The fold keeps adds that were not: an assignment
        # older than the session's newest one may offer them, and a newer one may uphold them.
        self.words = self.words.kept(self._is_new)

    def _is_new(self, add: Add) -> bool:
        queue = self.memory.queues.get(add.queue)
        if queue is None:
            return add.epoch.generation >= self.memory.generation
        return add.epoch > queue.top and (queue.gate is None or queue.gate.epoch < add.epoch)

    def image(self) -> Any:
        """Return it as a hashable value, after it is settled."""
        memory = self.memory
        return (
            image(memory),
            memory.applied,
            tuple(sorted(queue.queue for queue in memory.queues.values() if queue.unsent)),
            _sorted(self._told),
            _sorted(self._named),
            tuple(sorted(self._adopted)),
            self._claims_sent,
            self.lost,
            self.words.image(),
        )

    def only_forgets(self, other: "Exchange") -> bool:
        """Whether the other one differs by nothing but fewer adds that were not passed on."""
        same = self.image()[:-1] == other.image()[:-1]
        return bool(same and self.words.adds > other.words.adds)


def _sorted(works: set[tuple[Queue, Epoch]]) -> tuple[tuple[Queue, Epoch], ...]:
    return tuple(sorted(works))


def settled_state(saved: SavedSession) -> SavedSession:
    """Return a saved session with one value for each time and number that decides nothing."""
    queues = tuple(
        replace(each, draining_since_ms=each.draining_since_ms and NOW_MS)
        for each in sorted(saved.queues, key=lambda each: each.queue)
    )
    releases = tuple(sorted(saved.releases, key=lambda each: (each.queue, each.epoch)))
    return replace(saved, sequence=1, queues=queues, releases=releases)
