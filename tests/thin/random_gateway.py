"""Draws what may happen to a thin client: a gateway, a network, an application and a clock."""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import Poll

from tests.thin.vector_words import QUEUES, Row

__all__ = ["RandomGateway"]

REASONS: Final = ("lease_ended", "session_elsewhere", "state_replayed", "duplicate_client_id")


@dataclass(slots=True)
class RandomGateway:
    """Draws one event after another, mostly sensible ones.

    Attributes:
        chance: what it draws from.
        requests: the numbers of all requests so far, the newest last.
    """

    chance: Random
    now_ms: int = 1_000
    requests: list[int] = field(default_factory=list)
    _works: dict[int, Row] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _poll: Poll | None = None
    _joining: bool = False
    _epochs: int = 0

    def see(self, actions: list[words.Action]) -> None:
        """Take note of what the session did."""
        for action in actions:
            match action:
                case words.SendJoin(number):
                    self.requests.append(number)
                    self._joining = True
                case words.SendPoll(poll) | words.SendLeave(poll):
                    self.requests.append(poll.sequence)
                    self._poll, self._joining = poll, False
                case words.StartWork(queue, epoch, _):
                    self._works[queue.queue_id] = list(epoch)
                    self._asked.discard(queue.queue_id)
                case words.StopWork(queue, _):
                    self._asked.add(queue.queue_id)
                case words.Abandon(queue, _):
                    self._works.pop(queue.queue_id, None)
                case words.StopAll():
                    self._asked |= set(self._works)
                case _:
                    pass

    def next_event(self, due_ms: int) -> Row:
        """Draw the next event, and let time pass before it.

        Args:
            due_ms: when the session wants to hear that time has passed.
        """
        chance = self.chance
        self.now_ms += chance.choice((0, 0, 1, 40, 200, 900))
        kinds = ("answer", "answer", "answer", "application", "application", "time", "trouble")
        kind = chance.choice(kinds)
        if kind == "answer" and self.requests:
            return self._answered()
        if kind == "application":
            return self._application()
        if kind == "trouble" and self.requests:
            return self._trouble()
        if due_ms < words.NEVER_MS:
            self.now_ms = max(self.now_ms, due_ms - chance.choice((0, 0, 1)))
        if chance.random() < 0.15:
            self.now_ms += 9_000
        return ["passed"]

    def _number(self) -> int:
        """Return the number of a request: mostly of the newest one."""
        if self.chance.random() < 0.85:
            return self.requests[-1]
        return self.chance.choice(self.requests)

    def _answered(self) -> Row:
        number, lease_ms = self._number(), self.chance.choice((9_000, 9_000, 9_000, 3_000, 150, 0))
        if self._joining and self.chance.random() < 0.9:
            joined = {"session": f"s{number}", "state": f"j{number}", "poll_ms": 3_000}
            return ["joined", number, {**joined, "lease_ms": lease_ms}]
        if self.chance.random() < 0.1:
            return ["left"]
        return ["answered", number, self.draw_answer(number, lease_ms)]

    def draw_answer(self, number: int, lease_ms: int) -> dict[str, Any]:
        """Draw the answer to a poll."""
        chance = self.chance
        held = dict(sorted(self._works.items()))
        start, stop = [], []
        for queue in range(QUEUES):
            luck = chance.random()
            if queue not in held and luck < 0.4:
                self._epochs += 1
                held[queue] = [1, self._epochs]
                start.append([queue, held[queue], chance.randrange(1_000)])
            elif queue in held and luck < 0.25:
                stop.append([queue, held[queue], chance.choice((30_000, 5_000, 0))])
                if stop[-1][2] == 0:
                    del held[queue]
            elif queue in held and luck < 0.3:
                start.append([queue, held[queue], chance.randrange(1_000)])
            elif queue in held and luck < 0.35:
                self._epochs += 1
                held[queue] = [2, self._epochs]
                start.append([queue, held[queue], chance.randrange(1_000)])
            elif queue in held and luck < 0.38:
                del held[queue]
        working = [[queue, epoch] for queue, epoch in sorted(held.items())]
        return {
            "state": f"t{number}",
            "lease_ms": lease_ms,
            "start": start,
            "stop": stop,
            "working": working,
        }

    def _application(self) -> Row:
        chance = self.chance
        luck = chance.random()
        if luck < 0.1:
            return ["leave", chance.choice((0, 0, 600, 3_000))]
        if luck < 0.2:
            return ["subscribe", chance.sample(("orders", "payments", "refunds"), 2)]
        asked = sorted(self._asked & set(self._works))
        queue = chance.choice(asked) if asked and luck < 0.7 else chance.randrange(QUEUES)
        epoch = self._works.get(queue, [1, 1])
        end = chance.choice((None, 2_000))
        if luck < 0.5 and not asked:
            return ["progressed", queue, epoch, chance.randrange(2_000), end]
        offset = chance.choice((None, chance.randrange(2_000)))
        if queue in asked:
            self._asked.discard(queue)
            del self._works[queue]
        return ["stopped", queue, epoch, offset, end]

    def _trouble(self) -> Row:
        if self.chance.random() < 0.6:
            return ["failed", self._number()]
        return ["lost", self._number(), self.chance.choice(REASONS)]
