"""Who had which queue when, by the decisions of one group: each grant from its gift to its end."""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.history.cause_words import is_consequence
from fairlead.wire.decision_records import DecisionRecord, MoveRecord

__all__ = ["GrantHistory", "GrantSpan", "GrantState", "grant_history"]

_PASSED: Final = frozenset(("generation_passed", "recovery_passed"))
_ASKING: Final = frozenset(("barrier", "recovering"))
_FIRST: Final = ("route_changed",)
"""What the first share-out waits for."""
_PRELUDE_MS: Final = 600_000
"""What was decided longer ago has not led to a decision."""

GrantState = Literal["gated", "held", "draining", "over"]


@dataclass(slots=True)
class GrantSpan:
    """One grant of one queue, as far as decisions tell.

    Attributes:
        queue: which.
        client_id: whose.
        epoch: of the grant; it names it.
        given: the decision that gave it; None: it is not among those that were read.
        gate: it waited for somebody.
        granted: the decision after which it waits for nobody; the one that gave it, or a later one.
        opened: the decision after which it waits for nobody although none granted it: its client
            went by the release itself, for no engine was there.
        dropped: the decision that took it back.
        ended: the decision that found that it had ended.
        position: where its client starts, by the newest word.
        why: where that is known from.
        unsafe: it was granted although somebody else may have been working.
    """

    queue: MessageQueue
    client_id: str
    epoch: Epoch
    given: DecisionRecord | None = None
    gate: bool = False
    granted: DecisionRecord | None = None
    opened: DecisionRecord | None = None
    dropped: DecisionRecord | None = None
    ended: DecisionRecord | None = None
    position: Position | None = None
    why: str | None = None
    unsafe: bool = False

    @property
    def state(self) -> GrantState:
        """How far it has come."""
        if self.ended is not None:
            return "over"
        if self.dropped is not None:
            return "draining"
        return "gated" if self.waits else "held"

    @property
    def waits(self) -> bool:
        """Whether it was given behind somebody, and nothing tells that it was let in."""
        return self.gate and self.granted is None and self.opened is None

    @property
    def taken_by(self) -> DecisionRecord | None:
        """The decision by which its client was no more the one to have the queue."""
        return self.dropped or self.ended


@dataclass(slots=True)
class GrantHistory:
    """The grants of a group's queues, oldest first, from its decisions in their order.

    Attributes:
        of: per queue.
        newest: the newest decision.
        preludes: offset of a decision -> those that it followed up.
        quiet: decisions since the last that moved anything.
    """

    of: dict[MessageQueue, list[GrantSpan]] = field(default_factory=dict)
    newest: DecisionRecord | None = None
    preludes: dict[int, tuple[DecisionRecord, ...]] = field(default_factory=dict)
    quiet: list[DecisionRecord] = field(default_factory=list)
    _by_name: dict[tuple[MessageQueue, Epoch], GrantSpan] = field(default_factory=dict)
    _alive: dict[MessageQueue, list[GrantSpan]] = field(default_factory=dict)

    def apply(self, audit: DecisionRecord) -> None:
        """Add the next decision; one of an engine that was superseded counts for nobody."""
        if audit.superseded:
            return
        self.newest, is_first = audit, not self.of
        for move in audit.moves:
            self._take(move, audit)
        for move in audit.moves:
            if move.stage == "granted" and not move.unsafe:
                self._end_older(move, audit)
        self._open_gates(audit)
        self._note_prelude(audit, is_first=is_first)

    def prelude_of(self, audit: DecisionRecord) -> tuple[DecisionRecord, ...]:
        """Return the decisions that moved nothing and that one only followed up, oldest first.

        A route changes in one decision, and queues move when their bounds are told; changes are
        collected one by one, and shared out together. Who joins a group before any queue is known
        gets the first ones when their routes are told.
        """
        return self.preludes.get(audit.row.offset, ())

    def _take(self, move: MoveRecord, audit: DecisionRecord) -> None:
        tenure = self._named(move)
        match move.stage:
            case "gated" | "granted":
                # A decision without a new epoch has that of the one before it.
                if move.epoch == audit.epoch > audit.previous_epoch and tenure.given is None:
                    tenure.given = audit
                tenure.gate |= move.stage == "gated"
                if move.stage == "granted" and tenure.granted is None:
                    tenure.granted = audit
                tenure.position = move.position or tenure.position
                tenure.why = move.why or tenure.why
                tenure.unsafe |= move.unsafe
            case "dropped":
                tenure.dropped = tenure.dropped or audit
            case "resolved":
                tenure.ended = tenure.ended or audit

    def _named(self, move: MoveRecord) -> GrantSpan:
        """Return the grant that a line is of; one that was not seen before is put in its place."""
        found = self._by_name.get((move.queue, move.epoch))
        if found is None:
            found = GrantSpan(move.queue, move.client_id, move.epoch)
            self._by_name[move.queue, move.epoch] = found
            for tenures in (self.of, self._alive):
                insort(tenures.setdefault(move.queue, []), found, key=lambda each: each.epoch)
        return found

    def _end_older(self, move: MoveRecord, audit: DecisionRecord) -> None:
        """Who is granted a queue and waits for nobody follows grants that are all over."""
        alive = self._alive[move.queue]
        for tenure in alive:
            if tenure.epoch < move.epoch:
                tenure.ended = tenure.ended or audit
        self._alive[move.queue] = [tenure for tenure in alive if tenure.ended is None]

    def _open_gates(self, audit: DecisionRecord) -> None:
        """Let in who waits for nobody any more although no decision says so.

        A client goes by the releases, and needs no grant; an engine that has started takes it at
        its word. While that asks everybody, nobody is let in by a decision.
        """
        passed = any(cause["kind"] in _PASSED for cause in audit.causes)
        queues = self.of if passed else {move.queue for move in audit.moves}
        if audit.phase in _ASKING:
            return
        for queue in queues:
            alive = [tenure for tenure in self._alive[queue] if tenure.ended is None]
            if len(alive) == 1 and alive[0].state == "gated" and alive[0].given is not None:
                alive[0].opened = None if alive[0] is self.of[queue][0] else audit

    def _note_prelude(self, audit: DecisionRecord, *, is_first: bool) -> None:
        """Note what led to a decision; ``is_first``: nothing had an owner before it."""
        if any(move.stage == "dropped" or move.epoch == audit.epoch for move in audit.moves):
            follows = _FIRST if is_first else ()
            if all(is_consequence(each) or each["kind"] in follows for each in audit.causes):
                since_ms = audit.at_ms - _PRELUDE_MS
                led = tuple(each for each in self.quiet if each.at_ms >= since_ms)
                self.preludes[audit.row.offset] = led
            self.quiet = []
        elif not all(map(is_consequence, audit.causes)):
            self.quiet.append(audit)


def grant_history(audits: Iterable[DecisionRecord]) -> GrantHistory:
    """Return what decisions of one group add up to."""
    found = GrantHistory()
    for audit in audits:
        found.apply(audit)
    return found
