"""The parts of a queue's story: grants, decisions, causes, handovers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.history.cause_check import CauseCheck
from fairlead.history.grant_history import GrantSpan
from fairlead.kafka.missing_record import RecordPlace
from fairlead.observed.decision_head import decision_head
from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "ExplainedCause",
    "ExplainedDecision",
    "ExplainedGrant",
    "FoundRelease",
    "Handover",
    "begins_by_release",
]


@dataclass(frozen=True, slots=True)
class ExplainedCause:
    """One cause of a decision: what it means, and what its record says."""

    cause: Mapping[str, Any]
    says: str
    check: CauseCheck

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **self.cause,
            "says": self.says,
            "status": self.check.status,
            "record": self.check.text,
            "append_ms": self.check.append_ms,
        }


@dataclass(frozen=True, slots=True)
class FoundRelease:
    """The record by which a holder released a queue. ``offset`` None: it had never started."""

    place: RecordPlace
    append_ms: int
    client_id: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Handover:
    """How a queue came from one owner to the next.

    Attributes:
        before: the former grant.
        dropped_ms: when the engine told its holder to release it; None: never, as far as is known.
        released: the release; None: there was none.
        how: what ended the grant if no release did; None also: it goes on.
        granted_ms: when the engine told its successor to wait for nobody; None: it waits.
        gap_ms: from the release to that, by their append times. Negative: its successor was let in
            so long before it, so both may have worked on the queue.
        by_release: the successor began by the release itself, before a decision let it in or
            without one.
    """

    before: GrantSpan
    dropped_ms: int | None
    released: FoundRelease | None
    how: str | None
    granted_ms: int | None
    gap_ms: int | None
    by_release: bool

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        released = self.released
        return {
            "from": self.before.client_id,
            "epoch": [*self.before.epoch],
            "dropped_ms": self.dropped_ms,
            "released_ms": None if released is None else released.append_ms,
            "released_at": None if released is None else [*released.place],
            "released_by": None if released is None else released.client_id,
            "released_offset": None if released is None else released.offset,
            "ended": self.how,
            "granted_ms": self.granted_ms,
            "gap_ms": self.gap_ms,
            "by_release": self.by_release,
        }


def begins_by_release(grant: GrantSpan, released: FoundRelease | None) -> bool:
    """Tell whether a client began by the release that it waited for; then also note its position.

    It did if no decision let it in. If one did and knows a later position than the release has,
    that position is the client's own: it was working already.
    """
    if grant.unsafe:
        # Nobody waited for that release.
        return False
    position, offset = grant.position, None if released is None else released.offset
    if position is None or offset is None:
        return grant.began_by_release
    if grant.why == "progress" and position.offset == offset:
        # Its holder told the same position before; it stopped there, as the release says.
        grant.why = "release"
    told_itself = grant.gate and grant.why == "progress" and position.offset > offset
    if told_itself or (grant.began_by_release and position.offset < offset):
        grant.position, grant.why = position._replace(offset=offset), "release"
    return told_itself or grant.began_by_release


@dataclass(frozen=True, slots=True)
class ExplainedDecision:
    """One decision, and its causes."""

    audit: DecisionRecord
    causes: tuple[ExplainedCause, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **decision_head(self.audit),
            "cause": [each.to_json() for each in self.causes],
        }


@dataclass(frozen=True, slots=True)
class ExplainedGrant:
    """One owner of the queue: its grant, why it got it, and the handover before it.

    ``given``: the decision that gave it; None: it was not found. ``led_by``: the decisions that
    this one followed up.
    """

    grant: GrantSpan
    given: ExplainedDecision | None
    led_by: tuple[ExplainedDecision, ...]
    handover: Handover | None

    @property
    def causes(self) -> list[ExplainedCause]:
        """The causes of all these decisions."""
        decisions = (*self.led_by, *([self.given] if self.given else ()))
        return [cause for each in decisions for cause in each.causes]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        grant = self.grant
        return {
            "client_id": grant.client_id,
            "epoch": [*grant.epoch],
            "state": grant.state,
            "start_position": None if grant.position is None else [*grant.position],
            "start_why": grant.why,
            "unsafe": grant.unsafe,
            "given_ms": _at_ms(grant.given),
            "granted_ms": _at_ms(grant.granted),
            "dropped_ms": _at_ms(grant.dropped),
            "ended_ms": _at_ms(grant.ended),
            "given_by": None if self.given is None else self.given.to_json(),
            "led_by": [each.to_json() for each in self.led_by],
            "handover": None if self.handover is None else self.handover.to_json(),
        }


def _at_ms(audit: DecisionRecord | None) -> int | None:
    return None if audit is None else audit.written_ms
