"""When each grant of a queue began and ended: by releases where they are known, else by decisions.

A client that waits begins with the last release that it waits for, or with the decision that lets
it in. It has stopped when its release was appended; without a release, when a decision found it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.history.grant_history import GrantSpan
from fairlead.history.ribbon import RibbonSpan
from fairlead.history.ribbon_facts import OpenShares
from fairlead.observed.silences import lapsed_clients
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.quick_fields import RecordPlace

__all__ = ["RibbonSpans"]

_Place = tuple[MessageQueue, Epoch]


@dataclass(slots=True)
class RibbonSpans:
    """Makes the spans of queues; remembers the releases and silences that it has seen.

    Attributes:
        open: who has to do with the queues now; None: not known.
        heard: offset of a decision -> client that it took for dead -> its last heartbeat.
    """

    open: OpenShares | None = None
    heard: dict[int, Mapping[str, int]] = field(default_factory=dict)
    _released: dict[_Place, int] = field(default_factory=dict)
    _silent: Mapping[MemberKey, int] = field(default_factory=dict)

    def take_silence(self, silent: Mapping[MemberKey, int]) -> Iterator[MessageQueue]:
        """Note who is silent now; yield the queues of others than before."""
        before, self._silent = self._silent, silent
        others = {each for each in {*silent, *before} if silent.get(each) != before.get(each)}
        if others and self.open is not None:
            for queue, shares in self.open.of.items():
                if any(share.member in others for share in shares):
                    yield queue

    def forget(
        self, kept: Mapping[MessageQueue, Sequence[GrantSpan]], decisions: Collection[int]
    ) -> None:
        """Forget what was noted of other grants and decisions than these."""
        places = {(queue, each.epoch) for queue, grants in kept.items() for each in grants}
        self._released = {place: ms for place, ms in self._released.items() if place in places}
        self.heard = {offset: each for offset, each in self.heard.items() if offset in decisions}

    def of(self, grants: Sequence[GrantSpan]) -> tuple[RibbonSpan, ...]:
        """Return the spans of a queue; ``grants``: all of it, oldest first."""
        spans: list[RibbonSpan] = []
        free_ms: int | None = None
        busy = False
        for number, grant in enumerate(grants):
            ends_ms = self._ends_ms(grant, grants, number)
            begins_ms, began = self._begins(grant, None if busy else free_ms, first=not number)
            if began and begins_ms is not None and ends_ms is not None and begins_ms > ends_ms:
                # It ended while it waited.
                begins_ms, began = None, False
            spans.append(self._span(grant, begins_ms, ends_ms, began=began))
            if ends_ms is None:
                busy = True
            else:
                free_ms = max(free_ms or 0, ends_ms)
        return tuple(spans)

    def _span(
        self, grant: GrantSpan, begins_ms: int | None, ends_ms: int | None, *, began: bool
    ) -> RibbonSpan:
        given, given_ms = _place_of(grant.given), _ms(grant.given)
        if self.open is not None and given is None:
            last = self.open.newest.get(grant.queue)
            if last is not None and last.epoch == grant.epoch:
                given, given_ms = last.decision, last.decided_ms
        return RibbonSpan(
            client_id=grant.client_id,
            epoch=grant.epoch,
            given_ms=given_ms,
            begins_ms=begins_ms,
            began=began,
            ends_ms=ends_ms,
            asked_ms=_ms(grant.dropped),
            released_ms=self._released_ms(grant),
            given_at=given,
            start=grant.position,
            start_why=grant.why,
            unsafe=grant.unsafe,
            silent_since_ms=self._silent_since_ms(grant, ends_ms),
        )

    def _released_ms(self, grant: GrantSpan) -> int | None:
        place = (grant.queue, grant.epoch)
        if place not in self._released and self.open is not None:
            at_ms = self.open.releases.at_ms(grant.queue, grant.client_id, grant.epoch)
            if at_ms is not None:
                self._released[place] = at_ms
        return self._released.get(place)

    def _ends_ms(self, grant: GrantSpan, grants: Sequence[GrantSpan], number: int) -> int | None:
        """Return when a client had stopped; None: it goes on.

        Args:
            grant: its grant.
            grants: all of its queue, oldest first.
            number: its place among them.
        """
        told = (self._released_ms(grant), _ms(grant.ended))
        known = [at_ms for at_ms in told if at_ms is not None]
        if known:
            # A release behind the end comes from a client that was taken for dead, or passed over.
            return min(known)
        if grant.share is not None or self.open is None:
            return None
        later = grants[number + 1 :]
        if not later and not self._is_told(grant):
            return None
        again = [each for each in later if each.client_id == grant.client_id]
        words = [word for each in again for word in (each.granted, each.dropped, each.ended)]
        replaced = [each.written_ms for each in words if each is not None]
        if replaced:
            # A client has one grant of a queue in the end: a later one came in its place.
            return min(replaced)
        # Its client says that it holds it no more: by its heartbeats, nothing else tells it.
        own = (grant.dropped, grant.granted, grant.opened, grant.given)
        last_ms = max((each.written_ms for each in own if each is not None), default=0)
        passed = [each.granted.written_ms for each in later if each.granted is not None]
        settled_ms = self.open.settled_ms.get(grant.client_id, 0)
        return max(last_ms, min([settled_ms, *passed]))

    def _is_told(self, grant: GrantSpan) -> bool:
        """Tell whether the client's assignment is as new as the grant: it may be read later."""
        if grant.dropped is not None or self.open is None:
            return True
        told = self.open.told.get(grant.client_id)
        return told is not None and told >= grant.epoch

    def _begins(
        self, grant: GrantSpan, free_ms: int | None, *, first: bool
    ) -> tuple[int | None, bool]:
        """Return when a client began, and whether it did.

        Args:
            grant: its grant.
            free_ms: when all older grants were over; None: one goes on, or none is known.
            first: no older grant is known.
        """
        if not grant.gate and grant.given is None and (first or grant.granted is None):
            return self._since_ms(grant), True
        let_in = [each.written_ms for each in (grant.granted, grant.opened) if each is not None]
        if grant.gate and free_ms is not None:
            let_in.append(free_ms)
        if not let_in and grant.share == "held" and self.open is not None:
            let_in.append(self.open.settled_ms.get(grant.client_id, 0))
        if not let_in:
            return None, False
        return max(min(let_in), _ms(grant.given) or 0), True

    def _since_ms(self, grant: GrantSpan) -> int | None:
        """Return since when a client has a queue that no remembered decision gave it."""
        if self.open is None or grant.share != "held":
            return None
        return self.open.since_ms.get((grant.queue, grant.epoch))

    def _silent_since_ms(self, grant: GrantSpan, ends_ms: int | None) -> int | None:
        if ends_ms is None:
            return self._silent_now_ms(grant)
        if grant.ended is None or ends_ms != grant.ended.written_ms:
            return None
        if grant.client_id not in lapsed_clients(grant.ended.causes):
            return None
        return self.heard.get(grant.ended.row.offset, {}).get(grant.client_id)

    def _silent_now_ms(self, grant: GrantSpan) -> int | None:
        for share in () if self.open is None else self.open.of.get(grant.queue, ()):
            if share.epoch == grant.epoch and share.state != "gated":
                return self._silent.get(share.member)
        return None


def _ms(audit: DecisionRecord | None) -> int | None:
    return None if audit is None else audit.written_ms


def _place_of(audit: DecisionRecord | None) -> RecordPlace | None:
    if audit is None:
        return None
    return RecordPlace(audit.row.topic, audit.row.partition, audit.row.offset)
