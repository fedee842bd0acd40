"""A trial: one request, a strategy's answer, and its answers after small changes of the group.

It judges nothing; laws examine a trial and report faults.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from fairlead.core.allocation import Allocation, AllocationRequest, Strategy
from fairlead.core.model import MessageQueue

__all__ = ["Change", "Owners", "Trial", "alike", "owners_of"]

Owners = Mapping[MessageQueue, str]
"""Queue -> client id."""

What = Literal["join", "leave", "growth"]


@dataclass(frozen=True, slots=True)
class Change:
    """A member joins or leaves, or a topic gets one more queue; all else stays the same.

    ``subject`` is the client id or the topic. ``last``: the member, or the queue in its topic,
    sorts behind all others. ``held`` and ``owned`` are the strategy's answers before and after; the
    second request has the first answer as its current owners.
    """

    what: What
    subject: str
    last: bool
    before: AllocationRequest
    after: AllocationRequest
    held: Owners
    owned: Owners

    def moved(self) -> Iterator[tuple[MessageQueue, str, str | None]]:
        """Yield each queue that exists before and after and changes owner: queue, old, new."""
        still = {queue for queues in self.after.queues.values() for queue in queues}
        for queue, owner in self.held.items():
            if queue in still and self.owned.get(queue) != owner:
                yield queue, owner, self.owned.get(queue)

    def among_others(self) -> Iterator[MessageQueue]:
        """Yield the queues that move between two members that neither join nor leave."""
        for queue, owner, heir in self.moved():
            if self.what == "growth" or self.subject not in (owner, heir):
                yield queue

    def __str__(self) -> str:
        """Describe the change."""
        return f"{self.what} of {self.subject!a}{' (the last)' if self.last else ''}"


class Trial:
    """A strategy, a request, and the answers to it and to slightly changed requests."""

    def __init__(self, strategy: Strategy, request: AllocationRequest) -> None:
        """Ask the strategy."""
        self.strategy = strategy
        self.request = request
        self.allocation = self.ask(request)
        self.owners = owners_of(self.allocation)

    def ask(self, request: AllocationRequest) -> Allocation:
        """Return the strategy's answer to another request."""
        return self.strategy.allocate(request)

    def sharers(self, topic: str) -> list[str]:
        """Return the ids of the clients that may share a topic."""
        return [
            each.client_id
            for each in self.request.candidates
            if self.request.slots == "group" or topic in each.topics
        ]

    def queues(self) -> Iterator[MessageQueue]:
        """Yield every queue of the request."""
        for queues in self.request.queues.values():
            yield from queues

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return joins and leaves of the first, a middle and the last member, and growth."""
        return (*self._members(), *self._growth())

    def _members(self) -> Iterator[Change]:
        candidates = self.request.candidates
        for place in _places(len(candidates)):
            client_id = candidates[place].client_id
            fewer = replace(
                self.request, candidates=(*candidates[:place], *candidates[place + 1 :])
            )
            last = place == len(candidates) - 1
            yield self._change("leave", client_id, self.request, fewer, last=last)
            yield self._change("join", client_id, fewer, self.request, last=last)

    def _growth(self) -> Iterator[Change]:
        for topic, queues in self.request.queues.items():
            for kept in (queues[:-1], queues[1:]):
                if kept:
                    fewer = replace(self.request, queues={**self.request.queues, topic: kept})
                    last = kept[0] == queues[0]
                    yield self._change("growth", topic, fewer, self.request, last=last)

    def _change(
        self,
        what: What,
        subject: str,
        before: AllocationRequest,
        after: AllocationRequest,
        *,
        last: bool,
    ) -> Change:
        held = self.owners if before is self.request else owners_of(self.ask(before))
        owned = owners_of(self.ask(replace(after, owners=held)))
        return Change(what, subject, last, before, after, held, owned)


def owners_of(allocation: Allocation) -> Owners:
    """Return the owner of each queue; one of them if it has two."""
    return {
        queue: client_id
        for shares in allocation.topics.values()
        for client_id, owned in shares.items()
        for queue in owned
    }


def alike(request: AllocationRequest) -> bool:
    """Tell whether all members subscribe to the same topics of the request."""
    asked = frozenset(request.queues)
    return len({each.topics & asked for each in request.candidates}) <= 1


def _places(count: int) -> Iterable[int]:
    """Return the first, a middle and the last of ``count`` places."""
    return sorted({0, count // 2, count - 1}) if count else ()
