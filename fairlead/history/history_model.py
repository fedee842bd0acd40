"""What a story of a queue is made of: grants, decisions, causes, handovers, and who has it now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.core.model import Epoch
from fairlead.history.cause_check import CauseCheck
from fairlead.history.grant_history import Tenure
from fairlead.kafka.missing_record import Place
from fairlead.observed.decision_head import decision_head
from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "CauseTold",
    "DecisionTold",
    "Handover",
    "Holder",
    "Released",
    "TenureTold",
    "begins_by_release",
    "standing_of",
]

QueueState = Literal["held", "draining", "gated", "unassigned"]


@dataclass(frozen=True, slots=True)
class CauseTold:
    """One cause of a decision: what it means, and what its record is."""

    cause: Mapping[str, Any]
    says: str
    check: CauseCheck

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            **self.cause,
            "says": self.says,
            "status": self.check.status,
            "record": self.check.text,
            "append_ms": self.check.append_ms,
        }


@dataclass(frozen=True, slots=True)
class Released:
    """The record by which a holder gave a queue up. ``offset`` None: it had never started."""

    place: Place
    append_ms: int
    client_id: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Handover:
    """How a queue came from one owner to the next.

    Attributes:
        before: the grant before.
        dropped_ms: when its holder was told to give it up; None: it was not, or not as is known.
        released: the release; None: there was none.
        how: what ended the grant, where no release did.
        granted_ms: when its successor was told that it waits for nobody; None: it waits.
        gap_ms: from the release to that, by the times at which both were written.
        by_release: the successor began by the release itself, before a decision let it in or
            without one.
    """

    before: Tenure
    dropped_ms: int | None
    released: Released | None
    how: str | None
    granted_ms: int | None
    gap_ms: int | None
    by_release: bool

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
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


def begins_by_release(tenure: Tenure, released: Released | None) -> bool:
    """Tell whether a client began by the release that it waited for; note where, in that case.

    It did where no decision let it in. Where one did and knows a later position than the release,
    that is the client's own: it was at work already.
    """
    position, offset = tenure.position, None if released is None else released.offset
    if position is None or offset is None:
        return tenure.opened is not None
    if tenure.why == "progress" and position.offset == offset:
        # Its holder had told the same before: that it stopped there is the release's word.
        tenure.why = "release"
    told_itself = tenure.gate and tenure.why == "progress" and position.offset > offset
    if told_itself or (tenure.opened is not None and position.offset < offset):
        tenure.position, tenure.why = position._replace(offset=offset), "release"
    return told_itself or tenure.opened is not None


@dataclass(frozen=True, slots=True)
class DecisionTold:
    """One decision, and its causes."""

    audit: DecisionRecord
    causes: tuple[CauseTold, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            **decision_head(self.audit),
            "cause": [each.document() for each in self.causes],
        }


@dataclass(frozen=True, slots=True)
class TenureTold:
    """One owner of the queue: the grant, why it was given, and the handover before it.

    ``given``: the decision that gave it; None: it was not found. ``led_by``: the decisions that
    this one only followed up.
    """

    tenure: Tenure
    given: DecisionTold | None
    led_by: tuple[DecisionTold, ...]
    handover: Handover | None

    @property
    def causes(self) -> list[CauseTold]:
        """The causes of all decisions that are told of."""
        decisions = (*self.led_by, *([self.given] if self.given else ()))
        return [cause for each in decisions for cause in each.causes]

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        tenure = self.tenure
        return {
            "client_id": tenure.client_id,
            "epoch": [*tenure.epoch],
            "state": tenure.state,
            "position": None if tenure.position is None else [*tenure.position],
            "why": tenure.why,
            "unsafe": tenure.unsafe,
            "given_ms": _at_ms(tenure.given),
            "granted_ms": _at_ms(tenure.granted),
            "dropped_ms": _at_ms(tenure.dropped),
            "ended_ms": _at_ms(tenure.ended),
            "given_by": None if self.given is None else self.given.document(),
            "led_by": [each.document() for each in self.led_by],
            "handover": None if self.handover is None else self.handover.document(),
        }


def _at_ms(audit: DecisionRecord | None) -> int | None:
    return None if audit is None else audit.written_ms


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a queue.

    Attributes:
        state: ``held``; ``draining``: it was told to stop; ``gated``: it waits for those before it.
        owner: the client; None: nobody.
        epoch: of its grant.
        since_ms: from when on; None: not known.
        successor: who gets it next.
        waits_for: those it is gated behind.
    """

    state: QueueState
    owner: str | None = None
    epoch: Epoch | None = None
    since_ms: int | None = None
    successor: str | None = None
    waits_for: tuple[str, ...] = ()


def standing_of(known: Sequence[Tenure], told: tuple[str, Epoch, str] | None) -> Holder:
    """Return who has a queue now.

    Args:
        known: its grants by the decisions, oldest first.
        told: client, epoch and state (a word of assignments) by the newest assignment records;
            None: it is in none. It counts where the decisions that tell of it are gone.
    """
    if told is not None and (not known or known[-1].epoch < told[1]):
        client_id, epoch, word = told
        state: QueueState = "draining" if word == "draining" else "held"
        return Holder("gated" if word == "gated" else state, client_id, epoch)
    alive = [tenure for tenure in known if tenure.state != "over"]
    if not alive:
        return Holder("unassigned")
    first, last = alive[0], alive[-1]
    begun = first.granted or first.given
    since_ms = None if begun is None else begun.written_ms
    if first.state == "gated":
        before = tuple(each.client_id for each in known if each.epoch < first.epoch)
        return Holder("gated", first.client_id, first.epoch, since_ms, waits_for=before[-1:])
    successor = None if last is first else last.client_id
    state = "held" if first.state == "held" and successor is None else "draining"
    return Holder(state, first.client_id, first.epoch, since_ms, successor)
