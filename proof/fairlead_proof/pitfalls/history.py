"""What happens to the members of a group and its topics, the same on both sides of a story."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "Event",
    "Freezes",
    "Grows",
    "Joins",
    "Killed",
    "Leaves",
    "Played",
    "Unsubscribes",
    "play",
    "said",
]


@dataclass(frozen=True, slots=True)
class Joins:
    """A process starts to consume; its client id is its own name unless one is given."""

    at_ms: int
    process: str
    client_id: str = ""
    topics: tuple[str, ...] = ("orders",)


@dataclass(frozen=True, slots=True)
class Leaves:
    """A process is shut down as it should be."""

    at_ms: int
    process: str


@dataclass(frozen=True, slots=True)
class Killed:
    """A process dies without a word (kill -9); its host closes its connections."""

    at_ms: int
    process: str


@dataclass(frozen=True, slots=True)
class Freezes:
    """Nothing of a process runs for so long; its connections stay open."""

    at_ms: int
    process: str
    for_ms: int


@dataclass(frozen=True, slots=True)
class Unsubscribes:
    """A process wants one topic no more, and goes on with the others."""

    at_ms: int
    process: str
    topic: str


@dataclass(frozen=True, slots=True)
class Grows:
    """A topic has so many queues from now on, on each of its brokers."""

    at_ms: int
    topic: str
    queues: int


Event = Joins | Leaves | Killed | Freezes | Unsubscribes | Grows


class Played(Protocol):
    """A side of a story: it lets events happen at their time."""

    def at(self, event: Event) -> None:
        """Plan an event."""


def play(history: Iterable[Event], side: Played) -> None:
    """Plan all events of a history, in the order of their times."""
    for event in sorted(history, key=lambda event: event.at_ms):
        side.at(event)


def said(event: Event) -> str:
    """Say an event in a few words, without its time."""
    match event:
        case Joins():
            named = event.client_id or event.process
            as_whom = "" if named == event.process else f" as {named}"
            topics = "" if event.topics == ("orders",) else f", for {' and '.join(event.topics)}"
            what = f"{event.process} joins{as_whom}{topics}"
        case Leaves():
            what = f"{event.process} leaves"
        case Killed():
            what = f"{event.process} is killed"
        case Freezes():
            what = f"{event.process} stands still for {event.for_ms / 1_000:g} s"
        case Unsubscribes():
            what = f"{event.process} unsubscribes {event.topic}"
        case Grows():
            what = f"{event.topic} has {event.queues} queues on each broker"
    return what
