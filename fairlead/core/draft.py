"""The working copy of one step: the group's state on its way to the next, and what to write.

It decides nothing about members or queues. It collects causes, moves, commands and rejections, so
that the step writes each once and in a fixed order. Only here the step draws a decision's epoch.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import (
    Add,
    After,
    Cause,
    Drop,
    Gone,
    Move,
    Notice,
    Rejection,
    Request,
    Stage,
)
from fairlead.core.records import Arrival
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.core.standing import Footing
from fairlead.core.state import Grant, GroupState, Member, QueueState, ReportedPosition

__all__ = ["GATE", "HANDOVER", "HANDOVER_MS", "SLOW_HANDOVER", "Draft"]

HANDOVER = "handover"
"""Counter of dropped grants: ``ended``, ``overtaken``, ``blocked`` (no successor is wanted now).

``told_again`` counts each time that the engine writes an unanswered drop again.
"""

HANDOVER_MS = "handover_ms"
"""Counter: milliseconds of the shard's clock from drop to end, summed."""

SLOW_HANDOVER = "slow_handover"
"""Counter of dropped grants that took long to end, by the greatest bound that they passed."""

SLOW_MS = (("30s", 30_000), ("5s", 5_000), ("1s", 1_000))
"""The bounds, greatest first, in milliseconds of the shard's clock."""

GATE = "gate"
"""Counter of gates that opened: ``by_engine``, or ``by_client`` where a report showed it."""


@dataclass(slots=True)
class Draft:
    """One step in the making."""

    state: GroupState
    moment: Moment
    engine: EngineRules
    rules: GroupRules
    dirty: bool = False
    """Targets must be computed again."""
    epoch_drawn: bool = False
    causes: dict[Hashable, Cause] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    drops: dict[MemberKey, list[Drop]] = field(default_factory=dict)
    adds: dict[MemberKey, list[Add]] = field(default_factory=dict)
    to_assign: set[MemberKey] = field(default_factory=set)
    """The members whose assignment this step writes."""
    shortened: dict[MessageQueue, None] = field(default_factory=dict)
    """The queues whose newest, wanted grant lost a gate in this step: its add is written again."""
    resets: dict[MessageQueue, tuple[int, Position]] = field(default_factory=dict)
    """Per queue the newest reset in this step without an identity: (append time, new position)."""
    leavers: dict[MemberKey, tuple[Epoch, Source]] = field(default_factory=dict)
    """The members that said in this step that they leave: (newest started epoch, record)."""
    reported: dict[tuple[MessageQueue, str], ReportedPosition] | None = None
    """The barrier's ``reported``, once this step has added to it."""
    releases: dict[tuple[MessageQueue, MemberKey], tuple[Epoch, Position | None]] | None = None
    """The barrier's ``releases``, once this step has added to them."""
    unrouted_resets: dict[MessageQueue, Arrival] = field(default_factory=dict)
    """Per queue that no route has yet, the newest reset in this step."""
    looks_void: bool = False
    """No look at the members that was read so far counts any more."""
    idle: dict[MessageQueue, tuple[Grant, Source]] = field(default_factory=dict)
    """The queues that nobody pulls, as a report in this step says: (its grant, record)."""
    asked: Cause | None = None
    """The first heartbeat of this step by which a member asked for a decision."""
    answers: list[tuple[MessageQueue, int]] = field(default_factory=list)
    """The queues whose bounds a bridge told in this step, and when it appended each answer."""
    gone: list[Gone] = field(default_factory=list)
    closing: list[MemberKey] = field(default_factory=list)
    """Members that left and still hold something: the step writes them an empty assignment."""
    notices: list[Notice] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    letters_sent: set[tuple[str, int]] = field(default_factory=set)
    """(reason, second of the log) that have a dead letter: the next refusals get none."""
    alarms: set[str] = field(default_factory=set)
    cut_short: bool = False
    """The strategy stopped at a limit of its own."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    evicted: bool = False
    client_ids: set[str] | None = None
    """The client ids of all members; gathered when the first one joins in this step."""
    ask_routes: bool = False
    """The quota changed, so a refused route may be allowed now: request all routes again."""
    state_bytes: int | None = None
    """About how many bytes the state takes; counted when something new needs room."""
    may_return: dict[str, int] | None = None
    """Until when each client may come back into a full shard; gathered when one needs room."""
    gone_bytes: dict[int, int] = field(default_factory=dict)
    """How many bytes remembered members take that are gone, by the clock of the memory."""
    weighed_ms: int = 0
    """The clock up to which this step has weighed queues."""
    weigh_now: bool = False
    """Weigh queues in this step, whether or not a trigger is due."""

    def because(
        self,
        kind: str,
        *,
        client_id: str | None = None,
        topic: str | None = None,
        at: Source | None = None,
    ) -> None:
        """Note a cause; its evidence is the first record that showed it."""
        self.causes.setdefault((kind, client_id, topic), Cause(kind, client_id, topic, at))

    def because_of(self, cause: Cause) -> None:
        """Note a cause by its record: two of one kind may come in one step."""
        self.causes[cause.at or (cause.kind, cause.topic)] = cause

    def reject(
        self, arrival: Arrival, reason: str, field_path: str | None, texts: tuple[str, str]
    ) -> None:
        """Refuse a record; ``texts`` are the detail and the remedy."""
        detail, remedy = texts
        self.rejections.append(Rejection(arrival.source, reason, field_path, detail, remedy))

    def new_epoch(self) -> Epoch:
        """Return this decision's epoch; the first call draws the group's next number (rule H5)."""
        if not self.epoch_drawn:
            self.epoch_drawn = True
            self.state.number += 1
        return self.state.epoch

    def next_epoch(self) -> Epoch:
        """Return the epoch that this decision has or, if none was drawn yet, would have."""
        epoch = self.state.epoch
        return epoch if self.epoch_drawn else Epoch(epoch.generation, epoch.number + 1)

    def last_epoch(self) -> Epoch:
        """Return the newest epoch before this decision: no grant is newer so far."""
        epoch = self.state.epoch
        return Epoch(epoch.generation, epoch.number - self.epoch_drawn)

    def set_queue(self, queue: MessageQueue, value: QueueState) -> None:
        """Put a queue's new state in place."""
        self.state.queues[queue] = value

    def command_drop(
        self, queue: MessageQueue, grant: Grant, successor: Grant | None = None
    ) -> None:
        """Command a grant's member to stop and release the queue; ``successor`` waits for that."""
        waiting = None if successor is None else successor.member.client_id
        self.drops.setdefault(grant.member, []).append(Drop(queue, grant.epoch, waiting))
        self.moves.append(Move(queue, "dropped", grant.member, grant.epoch))
        self.to_assign.add(grant.member)

    def close(self, member: MemberKey) -> None:
        """Write an empty assignment to a member that is gone, and delete it again."""
        self.closing.append(member)
        self.gone.append(Gone(self.state.group, member))

    def command_add(self, queue: MessageQueue, grant: Grant, value: QueueState) -> None:
        """Command a grant's member to start once everything older in the chain is released."""
        add = self.add_of(queue, grant, value)
        self.adds.setdefault(grant.member, []).append(add)
        stage: Stage = "gated" if add.after else "granted"
        unsafe = bool(value.overtaken)
        self.moves.append(
            Move(queue, stage, grant.member, grant.epoch, add.position, add.why, unsafe)
        )
        self.to_assign.add(grant.member)

    def add_of(self, queue: MessageQueue, grant: Grant, value: QueueState) -> Add:
        """Return the add of a grant as its queue's chain stands now, gates newest first."""
        if value.base is None:
            message = f"{queue} is granted without a known start"
            raise AssertionError(message)
        older = [entry for entry in value.chain if entry.epoch < grant.epoch]
        after = tuple(After(entry.member, entry.epoch) for entry in reversed(older))
        identity = value.identity or self.state.identity_of(queue.topic)
        standing = self.state.standing
        former = standing is not None and (standing.footing, standing.epoch) == (
            Footing.CONFIRMING,
            grant.epoch,
        )
        return Add(queue, grant.epoch, value.base, value.why, after, identity, former)

    def resolved(self, queue: MessageQueue, grants: Iterable[Grant], base: Position | None) -> None:
        """Note for the audit record that grants of a queue ended, and how long that took."""
        for grant in grants:
            self.moves.append(Move(queue, "resolved", grant.member, grant.epoch, base))
            if grant.dropped_ms is not None:
                self.counts[HANDOVER, "ended"] += 1
                took_ms = self.moment.clock_ms - grant.dropped_ms
                self.counts[HANDOVER_MS, ""] += took_ms
                over = next((word for word, bound_ms in SLOW_MS if took_ms > bound_ms), None)
                if over is not None:
                    self.counts[SLOW_HANDOVER, over] += 1

    def update_member(self, member: Member, **changes: object) -> Member:
        """Replace some fields of a member."""
        changed: Member = replace(member, **changes)  # type: ignore[arg-type]  # fields of Member
        self.state.members[member.key] = changed
        return changed
