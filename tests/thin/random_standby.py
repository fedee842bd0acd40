"""Draws what may happen to a thin client that stands by, beside all that may happen to any."""

from dataclasses import dataclass, field
from typing import Any, Final

from fairlead_client.thin import thin_session as words

from tests.thin.random_gateway import RandomGateway
from tests.thin.vector_words import QUEUES, Row

__all__ = ["RandomStandby"]

_NEXT: Final = {
    "wait": ("follow", "follow", "freeze", "own"),
    "follow": ("freeze", "freeze", "own"),
    "freeze": ("follow", "freeze", "own", "own"),
    "own": ("follow", "freeze"),
}
"""What an engine may tell next: mostly what leads to a take-over, sometimes a leap."""


@dataclass(slots=True)
class RandomStandby(RandomGateway):
    """Draws one event after another, for a session that stands by."""

    _told: str = "wait"
    _freeze: Row | None = None
    _frozen: set[int] = field(default_factory=set)
    _is_asked: bool = False
    """Whether the session waits for an answer to a freeze, or for the end of what it followed."""

    def see(self, actions: list[words.Action]) -> None:
        """Take note of what the session did."""
        RandomGateway.see(self, actions)
        for action in actions:
            match action:
                case words.Follow() | words.Freeze():
                    self._works.clear()
                    self._frozen.clear()
                    self._is_asked = isinstance(action, words.Freeze)
                case words.StartWork(queue):
                    self._frozen.discard(queue.queue_id)
                case words.StopFollowing():
                    self._is_asked = True
                case words.StopAll():
                    self._told, self._freeze, self._is_asked = "wait", None, True
                case _:
                    pass

    def next_event(self, due_ms: int) -> Row:
        """Draw the next event, and let time pass before it."""
        if self._is_asked and self.chance.random() < 0.4:
            self.now_ms += self.chance.choice((0, 1, 40))
            return self._about_standing()
        return RandomGateway.next_event(self, due_ms)

    def _about_standing(self) -> Row:
        chance = self.chance
        if self._freeze is None or chance.random() < 0.15:
            self._is_asked = chance.random() < 0.1
            return ["unfollowed"]
        epoch = self._freeze if chance.random() < 0.9 else [1, 1]
        queues = sorted(chance.sample(range(QUEUES), chance.randrange(3)))
        held = [[queue, chance.choice((None, chance.randrange(1_000)))] for queue in queues]
        if epoch == self._freeze:
            self._is_asked = False
            self._frozen = set(queues)
            self._works = dict.fromkeys(queues, epoch)
        return ["frozen", epoch, held]

    def draw_answer(self, number: int, lease_ms: int) -> dict[str, Any]:
        """Draw the answer to a poll."""
        chance = self.chance
        if chance.random() < 0.45:
            self._told = chance.choice(_NEXT[self._told])
            self._freeze = None
            if self._told == "freeze":
                self._epochs += 1
                self._freeze = [1, self._epochs]
        if self._told == "own":
            return self._owned(number, lease_ms)
        nothing: dict[str, Any] = {"start": [], "stop": [], "working": []}
        told = {"state": f"t{number}", "lease_ms": lease_ms, **nothing, "standby": self._told}
        return told if self._freeze is None else {**told, "freeze": self._freeze}

    def _owned(self, number: int, lease_ms: int) -> dict[str, Any]:
        """Grant most of what is frozen, beside what any gateway may tell."""
        told = RandomGateway.draw_answer(self, number, lease_ms)
        for queue in sorted(self._frozen):
            told["start"] = [row for row in told["start"] if row[0] != queue]
            told["working"] = [row for row in told["working"] if row[0] != queue]
            luck = self.chance.random()
            if luck < 0.8:
                self._epochs += 1
                epoch = [1, self._epochs]
                told["start"].append([queue, epoch, self.chance.randrange(1_000), luck < 0.7])
                told["working"].append([queue, epoch])
        return told
