"""The real session of a thin client, with copies and images."""

from copy import copy
from typing import Any

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.memory import NEVER_MS
from fairlead_client.thin.thin_session import ThinSession

from fairlead_proof.explorer.exchange import NOW_MS
from fairlead_proof.explorer.memory_image import FOREVER_MS

__all__ = ["SearchedThin"]


class SearchedThin(ThinSession):
    """The real thin session, with copies and images."""

    @property
    def token(self) -> int:
        """The number of the state that it echoes."""
        return int(self._token)

    @property
    def sequence(self) -> int:
        """The number of its newest poll."""
        return self._sequence

    @property
    def held(self) -> tuple[tuple[Queue, Epoch, int, bool], ...]:
        """What it works on, from which offset on, and whether it is to stop."""
        return tuple(
            (queue, each.epoch, each.position, each.stopping)
            for queue, each in sorted(self._held.works.items())
            if each.position is not None
        )

    def copied(self) -> "SearchedThin":
        """Return a copy that can change without changing the original."""
        fresh = copy(self)
        fresh.detach()
        return fresh

    def detach(self) -> None:
        """Share nothing with the session that this is a copy of."""
        held = self._held = copy(self._held)
        held.works = {queue: copy(work) for queue, work in held.works.items()}
        self._stopped, self._done = dict(self._stopped), []

    def settle(self) -> None:
        """Set everything outside of the image to its one value."""
        self._sequence = 1
        self._sent_ms = self._due_ms = NOW_MS
        self.lease_until_ms = FOREVER_MS
        works_on = any(not work.stopping for work in self._held.works.values())
        if self.hands_over:
            self._hand_over_until_ms = FOREVER_MS if works_on else NEVER_MS

    def image(self) -> Any:
        """Return it as a hashable value, after it is settled."""
        stopped = tuple(sorted(self._stopped.values(), key=repr))
        said = tuple(sorted(self._said))
        granted = tuple(work.granted for _, work in sorted(self._held.works.items()))
        standing = (self._held.now, self._held.freeze, self._held.is_loose, granted)
        words = (self.state, self.held, stopped, said, self._closing, self._token, self._under_way)
        return (*words, standing, self._hand_over_until_ms)
