"""The ownership ribbon: who worked on which queue when, between which decisions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.core.ordering import java_order
from fairlead.wire.quick_fields import RecordPlace

__all__ = [
    "Ribbon",
    "RibbonChange",
    "RibbonMark",
    "RibbonRow",
    "RibbonSpan",
    "RibbonWindow",
    "clients_of",
]


@dataclass(frozen=True, slots=True)
class RibbonWindow:
    """The part of a ribbon that somebody looks at.

    Attributes:
        from_ms: leave out what was over before.
        to_ms: leave out what began later; None: nothing.
        at_ms: show the ribbon as it was at this moment; None: as it is.
    """

    from_ms: int
    to_ms: int | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RibbonSpan:
    """The time that one client has one queue, under one grant. Times are append times.

    Attributes:
        client_id: the client.
        epoch: of the grant.
        given_ms: when the grant was given; None: before the decisions that are remembered.
        begins_ms: since when nobody else had to be waited for; None: see `began`.
        began: whether it began. If it did and `begins_ms` is None, it began before the decisions
            that are remembered; if it did not, it waits, or ended before it began.
        ends_ms: when its client had stopped; None: it goes on. Of a client that was taken for dead:
            when the engine took the queue.
        asked_ms: when an engine told its client to stop; None: it did not.
        released_ms: when its client said that it had stopped; None: it never said so.
        given_at: the decision that gave the grant; None: it is not remembered.
        start: where the client starts, by the newest word; None: not told.
        start_why: what told that position.
        unsafe: it was granted although somebody else may have been working.
        silent_since_ms: the last heartbeat of a client that was taken for dead, or that is silent
            now: from then on perhaps nobody read the queue. None: it is not silent, or not known.
    """

    client_id: str
    epoch: Epoch
    given_ms: int | None = None
    begins_ms: int | None = None
    began: bool = True
    ends_ms: int | None = None
    asked_ms: int | None = None
    released_ms: int | None = None
    given_at: RecordPlace | None = None
    start: Position | None = None
    start_why: str | None = None
    unsafe: bool = False
    silent_since_ms: int | None = None

    @property
    def waits(self) -> bool:
        """Whether it has a grant and may not begin yet."""
        return not self.began and self.ends_ms is None

    @property
    def since_ms(self) -> int | None:
        """Since when it began or waits; None: before what is remembered."""
        return self.begins_ms if self.began else self.given_ms

    def has(self, at_ms: int) -> bool:
        """Tell whether its client had the queue at a moment, and had begun."""
        begun = self.began and (self.begins_ms is None or self.begins_ms <= at_ms)
        return begun and (self.ends_ms is None or at_ms < self.ends_ms)

    def at(self, at_ms: int) -> "RibbonSpan | None":
        """Return the span as it was at a moment; None: there was none yet, or it never began."""
        if self.given_ms is not None and self.given_ms > at_ms:
            return None
        over = self.ends_ms is not None and self.ends_ms <= at_ms
        began = self.began and (self.begins_ms is None or self.begins_ms <= at_ms)
        return replace(
            self,
            began=began,
            begins_ms=self.begins_ms if began else None,
            ends_ms=self.ends_ms if over else None,
            asked_ms=_until(self.asked_ms, at_ms),
            released_ms=_until(self.released_ms, at_ms),
            silent_since_ms=_until(self.silent_since_ms, at_ms),
        )

    def is_in(self, window: RibbonWindow) -> bool:
        """Tell whether a window shows it; a grant that ended before it began is never shown."""
        if not self.began and not self.waits:
            return False
        begun = window.to_ms is None or self.since_ms is None or self.since_ms <= window.to_ms
        return begun and (self.ends_ms is None or self.ends_ms >= window.from_ms)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "client_id": self.client_id,
            "epoch": [*self.epoch],
            "begins_ms": self.since_ms,
            "ends_ms": self.ends_ms,
            "asked_ms": self.asked_ms,
            "released_ms": self.released_ms,
            "silent_since_ms": self.silent_since_ms,
            "given_at": None if self.given_at is None else self.given_at.to_json(),
            "start_offset": None if self.start is None else self.start.offset,
            "start_why": self.start_why,
            "unsafe": self.unsafe,
            "waits": self.waits,
        }


@dataclass(frozen=True, slots=True)
class RibbonRow:
    """The spans of one queue, oldest first."""

    queue: MessageQueue
    spans: tuple[RibbonSpan, ...]

    def within(self, window: RibbonWindow) -> "RibbonRow":
        """Return what a window shows of it."""
        at_ms = window.at_ms
        spans: Iterator[RibbonSpan | None] = iter(self.spans)
        if at_ms is not None:
            spans = (each.at(at_ms) for each in self.spans)
        return RibbonRow(self.queue, tuple(each for each in spans if each and each.is_in(window)))

    def owners_at(self, at_ms: int) -> list[RibbonSpan]:
        """Return the spans whose clients had the queue at a moment and had begun."""
        return [each for each in self.spans if each.has(at_ms)]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"queue": [*self.queue], "spans": [each.to_json() for each in self.spans]}


@dataclass(frozen=True, slots=True)
class RibbonMark:
    """A decision on the ribbon: when it was written, and what led to it."""

    at: RecordPlace
    append_ms: int
    epoch: Epoch
    trigger: str | None
    says: str
    queues_moved: int
    phase: str

    def is_in(self, window: RibbonWindow) -> bool:
        """Tell whether a window shows it."""
        ends = [each for each in (window.to_ms, window.at_ms) if each is not None]
        return window.from_ms <= self.append_ms and all(self.append_ms <= each for each in ends)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "at": self.at.to_json(),
            "append_ms": self.append_ms,
            "epoch": [*self.epoch],
            "trigger": self.trigger,
            "says": self.says,
            "queues_moved": self.queues_moved,
            "phase": self.phase,
        }


@dataclass(frozen=True, slots=True)
class Ribbon:
    """What a window shows of a group's ribbon.

    Attributes:
        group: the group.
        window: the window.
        now_ms: the time of the answer.
        kept_since_ms: the oldest decision that is remembered; None: there is none.
        rows: the queues, in RocketMQ's order.
        marks: the decisions, oldest first.
    """

    group: str
    window: RibbonWindow
    now_ms: int
    kept_since_ms: int | None
    rows: Sequence[RibbonRow]
    marks: Sequence[RibbonMark]

    def owners_at(self, at_ms: int) -> Mapping[MessageQueue, list[RibbonSpan]]:
        """Return who had each queue at a moment of the window, and had begun."""
        return {each.queue: each.owners_at(at_ms) for each in self.rows}

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "group": self.group,
            "from_ms": self.window.from_ms,
            "to_ms": self.now_ms if self.window.to_ms is None else self.window.to_ms,
            "at_ms": self.window.at_ms,
            "now_ms": self.now_ms,
            "kept_since_ms": self.kept_since_ms,
            "clients": clients_of(self.rows),
            "rows": [each.to_json() for each in self.rows],
            "marks": [each.to_json() for each in self.marks],
        }


@dataclass(frozen=True, slots=True)
class RibbonChange:
    """What has changed in a window since somebody looked.

    Attributes:
        rows: the rows that changed.
        gone: queues that have no row any more.
        marks: the decisions that are new.
        clients: all clients in the window, sorted.
    """

    rows: Sequence[RibbonRow]
    gone: Sequence[MessageQueue]
    marks: Sequence[RibbonMark]
    clients: Sequence[str]

    def __bool__(self) -> bool:
        """Tell whether anything has changed."""
        return bool(self.rows or self.gone or self.marks)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "rows": [each.to_json() for each in self.rows],
            "rows_gone": [[*each] for each in self.gone],
            "marks": [each.to_json() for each in self.marks],
            "clients": [*self.clients],
        }


def clients_of(rows: Sequence[RibbonRow]) -> list[str]:
    """Return the clients that have spans in some rows, in RocketMQ's order."""
    return sorted({span.client_id for row in rows for span in row.spans}, key=java_order)


def _until(moment_ms: int | None, at_ms: int) -> int | None:
    return None if moment_ms is None or moment_ms > at_ms else moment_ms
