"""Folds the decisions of one group into its ribbon, one by one, and tells which rows changed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.history.cause_words import chief_trigger, headline
from fairlead.history.grant_history import GrantHistory, GrantSpan
from fairlead.history.ribbon import (
    Ribbon,
    RibbonChange,
    RibbonMark,
    RibbonRow,
    RibbonWindow,
    clients_of,
)
from fairlead.history.ribbon_facts import OpenShares, RibbonFacts, RibbonPlace
from fairlead.history.ribbon_spans import RibbonSpans
from fairlead.observed.group_decisions import LoggedDecision
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["RibbonFold"]

_PRUNED_MS: Final = 60_000
"""Forget what the view has forgotten once it is this much."""
_OPENERS: Final = frozenset(("generation_passed", "recovery_passed"))
"""Causes by which gates of all queues may open."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A row or a mark, and by which version it came."""

    row: RibbonRow
    version: int


class RibbonFold:
    """The ribbon of one group, kept up to date. Callers lock it: it is changed while it is read.

    Attributes:
        group: the group's name.
        version: grows by one with each update that changed something.
        first_version: of nothing.
        place: how far it has followed its view; None: it has not begun.
        grants: the grants by all decisions that it has taken.
    """

    def __init__(self, group: str, first_version: int = 0) -> None:
        """Begin with nothing known; ``first_version``: the versions are greater than this."""
        self.group = group
        self.version = self.first_version = first_version
        self.place: RibbonPlace | None = None
        self._rows: dict[MessageQueue, _Known] = {}
        self._gone: dict[MessageQueue, int] = {}
        self._kept_since_ms: int | None = None
        self._begin()

    def _begin(self) -> None:
        self.grants = GrantHistory()
        self._spans = RibbonSpans()
        self._marks: list[tuple[RibbonMark, int]] = []
        self._open: OpenShares | None = None
        self._pruned_ms = 0

    def update(self, facts: RibbonFacts) -> bool:
        """Take what is new; return whether anything changed."""
        version, moved = self.version + 1, set[MessageQueue]()
        if facts.again:
            self._begin()
            moved.update(self._rows)
        for decision in facts.decisions:
            moved.update(self._take(decision, facts, version))
        if facts.open is not None:
            moved.update(self._settle(facts.open))
        moved.update(self._spans.take_silence(facts.silent))
        self._kept_since_ms = facts.kept_since_ms
        moved.update(self._forget())
        self.place = facts.place
        changed = self._renew(moved, version) or bool(facts.decisions) or facts.again
        if changed:
            self.version = version
        return changed

    def _take(
        self, decision: LoggedDecision, facts: RibbonFacts, version: int
    ) -> Iterable[MessageQueue]:
        """Apply a decision; return the queues that it may have changed."""
        if decision.superseded:
            return ()
        try:
            audit = decision.record(checked=False)
        except ValueError:
            # The view lets through what no engine writes.
            return ()
        self.grants.apply(audit, _lasting(audit))
        prelude = self.grants.prelude_of(audit)
        mark = RibbonMark(
            at=decision.place,
            append_ms=decision.append_ms,
            epoch=audit.epoch,
            trigger=chief_trigger(audit.triggers),
            says=headline(audit, prelude),
            queues_moved=decision.queues_moved,
            phase=audit.phase,
        )
        self._marks.append((mark, version))
        self._spans.heard[decision.place.offset] = facts.heard.get(decision.place.offset, {})
        if any(cause["kind"] in _OPENERS for cause in audit.causes):
            return self.grants.of
        return {move.queue for move in audit.moves}

    def _settle(self, shares: OpenShares) -> Iterator[MessageQueue]:
        """Take who has to do with the queues now; yield the queues where that changed."""
        before, self._open = self._open, shares
        self.grants.settle(shares.of)
        self._spans.open = shares
        if before is None:
            yield from {*shares.of, *shares.queues, *self.grants.of}
            return
        yield from shares.releases.differ(before.releases)
        yield from shares.queues ^ before.queues
        for queue in {*shares.of, *before.of}:
            if shares.of.get(queue) != before.of.get(queue):
                yield queue

    def _forget(self) -> Iterator[MessageQueue]:
        """Forget what the view has forgotten; yield the queues whose rows may be shorter."""
        oldest_ms = self._kept_since_ms or 0
        if oldest_ms - self._pruned_ms < _PRUNED_MS:
            return
        self._pruned_ms = oldest_ms
        before = {queue: len(grants) for queue, grants in self.grants.of.items()}
        self.grants.forget_before(oldest_ms)
        self._marks = [each for each in self._marks if each[0].append_ms >= oldest_ms]
        self._spans.forget(self.grants.of, {each.at.offset for each, _ in self._marks})
        for queue, grants in self.grants.of.items():
            if len(grants) < before[queue]:
                yield queue

    def _renew(self, queues: Iterable[MessageQueue], version: int) -> bool:
        """Make the rows of some queues again; return whether any is another one."""
        changed = False
        for queue in queues:
            known = self._rows.get(queue)
            spans = self._spans.of(self._all_grants(queue))
            routed = self._open is not None and queue in self._open.queues
            if not spans and not routed:
                if self._rows.pop(queue, None) is not None:
                    self._gone[queue], changed = version, True
            elif known is None or known.row.spans != spans:
                self._rows[queue], changed = _Known(RibbonRow(queue, spans), version), True
                self._gone.pop(queue, None)
        return changed

    def _all_grants(self, queue: MessageQueue) -> list[GrantSpan]:
        """Return the grants of a queue, also those that no remembered decision names."""
        grants = list(self.grants.of.get(queue, ()))
        epochs = {each.epoch for each in grants}
        for share in () if self._open is None else self._open.of.get(queue, ()):
            if share.epoch not in epochs:
                grant = GrantSpan(queue, share.member.client_id, share.epoch)
                grant.gate, grant.share = share.state == "gated", share.state
                grants.append(grant)
        grants.sort(key=lambda each: each.epoch)
        return grants

    @property
    def owners(self) -> dict[MessageQueue, str]:
        """The present or next owner of each queue that has one."""
        holds = {} if self.place is None else self.place.ownership.queues
        return {each: hold.owner.client_id for each, hold in holds.items() if hold.owner}

    def row(self, queue: MessageQueue) -> RibbonRow:
        """Return the row of a queue."""
        known = self._rows.get(queue)
        return RibbonRow(queue, ()) if known is None else known.row

    def ribbon(self, window: RibbonWindow, now_ms: int) -> Ribbon:
        """Return what a window shows."""
        marks = [mark for mark, _ in self._marks if mark.is_in(window)]
        rows = self._within(window, 0)
        return Ribbon(self.group, window, now_ms, self._kept_since_ms, rows, marks)

    def whole(self, now_ms: int) -> Ribbon:
        """Return all that is remembered, also grants that ended before they began."""
        rows = sorted(
            (each.row for each in self._rows.values()), key=lambda row: queue_order(row.queue)
        )
        marks = [mark for mark, _ in self._marks]
        return Ribbon(self.group, RibbonWindow(0), now_ms, self._kept_since_ms, rows, marks)

    def change(self, since_version: int, window: RibbonWindow) -> RibbonChange:
        """Return what came behind a version, as far as a window shows it."""
        rows = self._within(window, since_version)
        return RibbonChange(
            rows=rows,
            gone=[queue for queue, version in self._gone.items() if version > since_version],
            marks=[
                mark
                for mark, version in self._marks
                if version > since_version and mark.is_in(window)
            ],
            clients=clients_of(self._within(window, 0)) if rows else (),
        )

    def _within(self, window: RibbonWindow, since_version: int) -> list[RibbonRow]:
        """Return the rows behind a version, as a window shows them."""
        changed = (each.row for each in self._rows.values() if each.version > since_version)
        routed = frozenset[MessageQueue]() if self._open is None else self._open.queues
        rows = (each.within(window) for each in changed)
        shown = [each for each in rows if each.spans or since_version or each.queue in routed]
        return sorted(shown, key=lambda each: queue_order(each.queue))


def _lasting(audit: DecisionRecord) -> DecisionRecord:
    """Return what is remembered of a decision: its moves are most of it, and the grants have them.

    Only the headline of a new route is made from its moves.
    """
    routed = any(cause["kind"] == "route_changed" for cause in audit.causes)
    return audit if routed else replace(audit, moves=())
