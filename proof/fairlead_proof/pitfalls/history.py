"""The events of a group and its topics, the same on both sides of a run."""

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
    "event_text",
    "play",
]


@dataclass(frozen=True, slots=True)
class Joins:
    """A process starts to consume; without a client id its name is the id."""

    at_ms: int
    process: str
    client_id: str = ""
    topics: tuple[str, ...] = ("orders",)


@dataclass(frozen=True, slots=True)
class Leaves:
    """A process shuts down properly."""

    at_ms: int
    process: str


@dataclass(frozen=True, slots=True)
class Killed:
    """A process dies without a word (kill -9); its host closes its connections."""

    at_ms: int
    process: str


@dataclass(frozen=True, slots=True)
class Freezes:
    """A process stands still for a while; its connections stay open."""

    at_ms: int
    process: str
    for_ms: int


@dataclass(frozen=True, slots=True)
class Unsubscribes:
    """A process unsubscribes from one topic, and keeps the others."""

    at_ms: int
    process: str
    topic: str


@dataclass(frozen=True, slots=True)
class Grows:
    """A topic grows to this many queues on each of its brokers."""

    at_ms: int
    topic: str
    queues: int


Event = Joins | Leaves | Killed | Freezes | Unsubscribes | Grows


class Played(Protocol):
    """A side of a run, which lets events happen at their time."""

    def at(self, event: Event) -> None:
        """Plan an event."""


def play(history: Iterable[Event], side: Played) -> None:
    """Plan all events of a history, in the order of their times."""
    for event in sorted(history, key=lambda event: event.at_ms):
        side.at(event)


def event_text(event: Event) -> str:
    """Return an event in a few words, without its time."""
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
