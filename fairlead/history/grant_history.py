"""Who had which queue when: each grant of a group from its begin to its end.

Its decisions tell the past. Who has a queue now, they do not decide: `settle` takes that from
`fairlead.observed.ownership`, as everybody else does.
"""

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.history.cause_words import is_consequence
from fairlead.observed.ownership import Share, ShareState
from fairlead.wire.decision_records import DecisionRecord, MoveRecord

__all__ = ["GrantHistory", "GrantSpan", "GrantState", "grant_history"]

_PASSED: Final = frozenset(("generation_passed", "recovery_passed"))
_ASKING: Final = frozenset(("barrier", "recovering"))
_FIRST: Final = ("route_changed",)
"""What the first decision with queues waits for."""
_PRELUDE_MS: Final = 600_000
"""A decision older than this has not led to another."""

GrantState = Literal["gated", "held", "draining", "over"]


@dataclass(slots=True)
class GrantSpan:
    """One grant of one queue, as far as decisions tell.

    Attributes:
        queue: the queue.
        client_id: who was granted it.
        epoch: of the grant; it identifies it.
        given: the decision that gave it; None: it is not among those that were read.
        gate: it waited for somebody.
        granted: the decision after which it waits for nobody; the one that gave it, or a later one.
        opened: the decision after which it waits for nobody although none granted it: without an
            engine, its client went by the release itself.
        dropped: the decision that took it back.
        ended: the decision that found that it had ended.
        position: where its client starts, by the newest word.
        why: what told that position.
        unsafe: it was granted although somebody else may have been working.
        share: what its client has to do with the queue now; None: the grant is over.
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
    share: ShareState | None = None

    @property
    def state(self) -> GrantState:
        """Its state now."""
        return "over" if self.share is None else self.share

    @property
    def began_by_release(self) -> bool:
        """Whether its client began although no decision let it in."""
        return self.granted is None and (
            self.opened is not None or (self.gate and self.share == "held")
        )

    @property
    def taken_by(self) -> DecisionRecord | None:
        """The decision by which its client stopped being the one to have the queue."""
        return self.dropped or self.ended


@dataclass(slots=True)
class GrantHistory:
    """The grants of a group's queues, oldest first, from its decisions in order.

    Attributes:
        of: the grants of each queue.
        newest: the newest decision.
        preludes: offset of a decision -> the decisions that it followed up.
        quiet: the decisions since the last one that moved anything.
    """

    of: dict[MessageQueue, list[GrantSpan]] = field(default_factory=dict)
    newest: DecisionRecord | None = None
    preludes: dict[int, tuple[DecisionRecord, ...]] = field(default_factory=dict)
    quiet: list[DecisionRecord] = field(default_factory=list)
    _by_name: dict[tuple[MessageQueue, Epoch], GrantSpan] = field(default_factory=dict)
    _alive: dict[MessageQueue, list[GrantSpan]] = field(default_factory=dict)

    def apply(self, audit: DecisionRecord, kept: DecisionRecord | None = None) -> None:
        """Add the next decision; one of a superseded engine does not count.

        Args:
            audit: the decision.
            kept: what the grants keep of it; None: all of it.
        """
        if audit.superseded:
            return
        kept = kept or audit
        self.newest, is_first = kept, not self.of
        for move in audit.moves:
            self._take(move, kept)
        for move in audit.moves:
            if move.stage == "granted" and not move.unsafe:
                self._end_older(move, kept)
        self._open_gates(audit, kept)
        self._note_prelude(audit, kept, is_first=is_first)

    def forget_before(self, oldest_ms: int) -> None:
        """Forget grants that a decision before this time has ended, but the newest of a queue."""
        for queue, grants in self.of.items():
            kept = [
                each
                for each in grants[:-1]
                if each.ended is None or each.ended.written_ms >= oldest_ms
            ]
            if len(kept) + 1 < len(grants):
                for each in grants[:-1]:
                    del self._by_name[queue, each.epoch]
                self._by_name.update({(queue, each.epoch): each for each in kept})
                self.of[queue] = [*kept, grants[-1]]
        led = {
            offset: tuple(each for each in audits if each.written_ms >= oldest_ms)
            for offset, audits in self.preludes.items()
        }
        self.preludes = {offset: audits for offset, audits in led.items() if audits}

    def settle(self, shares: Mapping[MessageQueue, Sequence[Share]]) -> None:
        """Note which grants go on now; all others are over.

        Args:
            shares: the shares in each queue, by `fairlead.observed.ownership`.
        """
        states = {(queue, share.epoch): share.state for queue in shares for share in shares[queue]}
        for place, grant in self._by_name.items():
            grant.share = states.get(place)

    def prelude_of(self, audit: DecisionRecord) -> tuple[DecisionRecord, ...]:
        """Return the decisions without moves that a decision followed up, oldest first.

        A route changes in one decision, and queues move when a bridge tells their bounds. The
        engine collects changes one by one, and decides on them together. A client that joins
        before any queue is known gets its first queues when a bridge tells their routes.
        """
        return self.preludes.get(audit.row.offset, ())

    def _take(self, move: MoveRecord, audit: DecisionRecord) -> None:
        grant = self._named(move)
        match move.stage:
            case "gated" | "granted":
                # A decision without a new epoch has the epoch of the one before it.
                if move.epoch == audit.epoch > audit.previous_epoch and grant.given is None:
                    grant.given = audit
                grant.gate |= move.stage == "gated"
                if move.stage == "granted" and grant.granted is None:
                    grant.granted = audit
                grant.position = move.position or grant.position
                grant.why = move.why or grant.why
                grant.unsafe |= move.unsafe
            case "dropped":
                grant.dropped = grant.dropped or audit
            case "resolved":
                grant.ended = grant.ended or audit

    def _named(self, move: MoveRecord) -> GrantSpan:
        """Return the grant of a line; add it if it is new."""
        grant = self._by_name.get((move.queue, move.epoch))
        if grant is None:
            grant = GrantSpan(move.queue, move.client_id, move.epoch)
            self._by_name[move.queue, move.epoch] = grant
            for grants in (self.of, self._alive):
                insort(grants.setdefault(move.queue, []), grant, key=lambda each: each.epoch)
        return grant

    def _end_older(self, move: MoveRecord, audit: DecisionRecord) -> None:
        """End all older grants: this one waits for nobody, so they are over."""
        alive = self._alive[move.queue]
        for grant in alive:
            if grant.epoch < move.epoch:
                grant.ended = grant.ended or audit
        self._alive[move.queue] = [grant for grant in alive if grant.ended is None]

    def _open_gates(self, audit: DecisionRecord, kept: DecisionRecord) -> None:
        """Open grants that wait for nobody any more although no decision says so.

        A client acts on the releases and needs no grant; an engine that has started believes it.
        While the engine asks everybody, no decision opens anything.
        """
        passed = any(cause["kind"] in _PASSED for cause in audit.causes)
        queues = self.of if passed else {move.queue for move in audit.moves}
        if audit.phase in _ASKING:
            return
        for queue in queues:
            alive = [grant for grant in self._alive[queue] if grant.ended is None]
            if len(alive) != 1 or alive[0] is self.of[queue][0]:
                continue
            (grant,) = alive
            waits = grant.gate and grant.granted is None and grant.opened is None
            if waits and grant.dropped is None and grant.given is not None:
                grant.opened = kept

    def _note_prelude(self, audit: DecisionRecord, kept: DecisionRecord, *, is_first: bool) -> None:
        """Note what led to a decision; ``is_first``: no queue had an owner before it."""
        if any(move.stage == "dropped" or move.epoch == audit.epoch for move in audit.moves):
            follows = _FIRST if is_first else ()
            if all(is_consequence(each) or each["kind"] in follows for each in audit.causes):
                since_ms = audit.at_ms - _PRELUDE_MS
                led = tuple(each for each in self.quiet if each.at_ms >= since_ms)
                self.preludes[audit.row.offset] = led
            self.quiet = []
        elif not all(map(is_consequence, audit.causes)):
            self.quiet.append(kept)


def grant_history(audits: Iterable[DecisionRecord]) -> GrantHistory:
    """Return what the decisions of one group add up to."""
    history = GrantHistory()
    for audit in audits:
        history.apply(audit)
    return history
