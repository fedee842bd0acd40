"""One group in full: its members, its queues, and the decisions that are remembered of it."""

from dataclasses import dataclass
from typing import Any

from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Subscription
from fairlead.observed.decided import Decision
from fairlead.observed.group_metrics import TopicFigures
from fairlead.observed.ownership import HoldState
from fairlead.observed.summary import GroupSummary
from fairlead.wire.assignment_records import HeldEntry
from fairlead.wire.quick_fields import Place

__all__ = ["GroupView", "MemberView", "QueueView"]


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member of a group: what it says of itself, and what it was told.

    Attributes:
        member: its client id and incarnation.
        live: its lease runs; False: it has fallen silent, or it was only told something.
        leaving: it has said that it leaves.
        heard_ms: when its newest heartbeat was appended; None: none was read.
        settled: its newest heartbeat says that it holds exactly what it was told, and nothing that
            it was told to give up; None: it was not heard, or not told yet.
        told: its set, as it stands in its newest assignment record, in the order of queues.
        owned: how many queues are its own, those that it waits for included.
    """

    member: MemberKey
    live: bool = False
    leaving: bool = False
    heard_ms: int | None = None
    address: str = ""
    language: str = ""
    version: str = ""
    zone: str | None = None
    model: str = "clustering"
    consume_type: str = "push"
    capacity: int = 1
    lease_ms: int | None = None
    subscriptions: tuple[Subscription, ...] = ()
    applied: Epoch | None = None
    settled: bool | None = None
    told: tuple[HeldEntry, ...] = ()
    owned: int = 0

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        sets: dict[str, list[list[Any]]] = {"held": [], "draining": [], "gated": []}
        for entry in self.told:
            sets[entry.state].append([*entry.queue])
        return {
            "client_id": self.member.client_id,
            "incarnation": self.member.incarnation,
            "live": self.live,
            "leaving": self.leaving,
            "heard_ms": self.heard_ms,
            "address": self.address,
            "language": self.language,
            "version": self.version,
            "zone": self.zone,
            "model": self.model,
            "consume_type": self.consume_type,
            "capacity": self.capacity,
            "lease_ms": self.lease_ms,
            "subscriptions": {
                each.topic: f"{each.expression_type} {each.expression}"
                for each in self.subscriptions
            },
            "applied": None if self.applied is None else [*self.applied],
            "settled": self.settled,
            "owned": self.owned,
            **sets,
        }


@dataclass(frozen=True, slots=True)
class QueueView:
    """One queue of a group.

    Attributes:
        state: ``held``, ``gated`` or ``draining``, as `ownership.Hold` has it;
            ``unassigned``: nobody has it.
        owner: whose it is, or is about to be; None: nobody's.
        holder: who gives it up and has not released it; None: nobody.
        also: who else was told to hold it.
        epoch: of the newest grant; None: it was never granted.
        since_ms: since when its owner has it without another in between; None: the decision is not
            among those that were read.
        decision: the record that granted it; None: as before.
        decided_ms: when that was appended.
        position: what was processed of it; None: nobody told.
        end: the next offset to be written; None: nobody told.
        lag_messages: None: position or end is not known.
        lag_seconds: how long ago the end was where the position is now.
        lag_at_least: the end is remembered for no longer than ``lag_seconds``: it may be more.
        idle_ms: how long its owner has not tried to pull it; None: nobody told.
    """

    queue: MessageQueue
    state: HoldState | str
    owner: MemberKey | None
    holder: MemberKey | None
    also: tuple[MemberKey, ...]
    epoch: Epoch | None
    since_ms: int | None
    decision: Place | None
    decided_ms: int | None
    position: Position | None = None
    end: int | None = None
    lag_messages: int | None = None
    lag_seconds: float | None = None
    lag_at_least: bool = False
    idle_ms: int | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "queue": [*self.queue],
            "state": self.state,
            "owner": _client(self.owner),
            "holder": _client(self.holder),
            "also": [member.client_id for member in self.also],
            "epoch": None if self.epoch is None else [*self.epoch],
            "since_ms": self.since_ms,
            "decision": None if self.decision is None else self.decision.document(),
            "decided_ms": self.decided_ms,
            "position": None if self.position is None else [*self.position],
            "end": self.end,
            "lag_messages": self.lag_messages,
            "lag_seconds": self.lag_seconds,
            "lag_at_least": self.lag_at_least,
            "idle_ms": self.idle_ms,
        }


def _client(member: MemberKey | None) -> str | None:
    return None if member is None else member.client_id


@dataclass(frozen=True, slots=True)
class GroupView:
    """One group as it is now, and its past as far as it is remembered.

    Attributes:
        summary: the line about it.
        topics: the figures of each topic that it shares.
        members: in the order of their client ids; those that have fallen silent and are still
            remembered come with ``live`` False.
        queues: in their order: those that anybody was told of, and those of its topics' routes.
        decisions: oldest first.
        in_force: its rules, each with who set it, when and why; not to be changed.
    """

    summary: GroupSummary
    topics: tuple[TopicFigures, ...]
    members: tuple[MemberView, ...]
    queues: tuple[QueueView, ...]
    decisions: tuple[Decision, ...]
    in_force: RulesInForce

    def document(self) -> dict[str, Any]:
        """Return it as JSON values, without the decisions."""
        return {
            "summary": self.summary.document(),
            "topics": [topic.document() for topic in self.topics],
            "members": [member.document() for member in self.members],
            "queues": [queue.document() for queue in self.queues],
        }
