"""The working copy of one step.

The group's state on its way to the next, and what is to be written.

Decides nothing of the field; it collects causes, moves, commands and rejections so that each is
written once and in a fixed order, and it is the only place where a decision's epoch is drawn.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
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
from fairlead.core.rules.group_rules import EngineRules, GroupRules, Moment
from fairlead.core.state import Grant, GroupState, Member, QueueState, Told

__all__ = ["GATE", "HANDOVER", "HANDOVER_MS", "SLOW_HANDOVER", "Draft"]

HANDOVER = "handover"
"""What a dropped grant counts as: ``ended``, ``overtaken``, ``blocked`` (nobody is wanted now).

And ``told_again`` for each time that its drop is written again, since it was not answered.
"""

HANDOVER_MS = "handover_ms"
"""As what the time from each drop to its end is summed up, in milliseconds of the shard's clock."""

SLOW_HANDOVER = "slow_handover"
"""What a dropped grant counts as besides that took long to end: the greatest bound it passed."""

SLOW_MS = (("30s", 30_000), ("5s", 5_000), ("1s", 1_000))
"""The bounds, greatest first, in milliseconds of the shard's clock."""

GATE = "gate"
"""What a gated grant counts as when its gate opened: ``by_engine``, or ``by_client`` if it told."""


@dataclass(slots=True)
class Draft:
    """One step in the making.

    ``dirty``: targets must be computed anew; ``cut_short``: the strategy stopped at its limit.
    """

    state: GroupState
    moment: Moment
    engine: EngineRules
    rules: GroupRules
    dirty: bool = False
    epoch_drawn: bool = False
    causes: dict[Hashable, Cause] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    drops: dict[MemberKey, list[Drop]] = field(default_factory=dict)
    adds: dict[MemberKey, list[Add]] = field(default_factory=dict)
    tell: set[MemberKey] = field(default_factory=set)
    shortened: dict[MessageQueue, None] = field(default_factory=dict)
    """The queues whose newest, wanted grant lost a gate in this step: its add is written again."""
    resets: dict[MessageQueue, tuple[int, Position]] = field(default_factory=dict)
    """The newest reset of a queue that this step has read and that names no life of its topic.

    When it was appended, where it leads.
    """
    leavers: dict[MemberKey, tuple[Epoch, Source]] = field(default_factory=dict)
    """The members that told in this step that they leave: what they started last, and where."""
    told: dict[tuple[MessageQueue, str], Told] | None = None
    """What the barrier's records have told, once this step has added to it."""
    releases: dict[tuple[MessageQueue, MemberKey], tuple[Epoch, Position | None]] | None = None
    """The releases that the barrier remembers, once this step has added to them."""
    strange: dict[MessageQueue, Arrival] = field(default_factory=dict)
    """The newest reset that this step has read of a queue that no route had yet."""
    idle: dict[MessageQueue, tuple[Grant, Source]] = field(default_factory=dict)
    """The queues of which this step has read that nobody pulls them: by whose word, and where."""
    asked: Cause | None = None
    """The first heartbeat of this step by which a member asked for a decision."""
    answers: list[tuple[MessageQueue, int]] = field(default_factory=list)
    """Of which queues this step has read where they end, and when each answer was appended."""
    gone: list[Gone] = field(default_factory=list)
    closing: list[MemberKey] = field(default_factory=list)
    """Members that left, still hold something, and are told that they hold nothing."""
    notices: list[Notice] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    told_once: set[tuple[str, int]] = field(default_factory=set)
    """What has a dead letter by now, with the second of the log: the next ones have none."""
    alarms: set[str] = field(default_factory=set)
    cut_short: bool = False
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    evicted: bool = False
    client_ids: set[str] | None = None
    """The client ids of all members, gathered when the first one joins in this step."""
    ask_routes: bool = False
    """A route that the quota refused may be within it now: all routes are asked for again."""
    state_bytes: int | None = None
    """About what the state takes, counted when something new asks for room in this step."""
    may_return: dict[str, int] | None = None
    """Until when each client may come back into a full shard, gathered when one asks for room."""
    gone_bytes: dict[int, int] = field(default_factory=dict)
    """What members that are gone take, by the clock until which they are remembered."""
    weighed_ms: int = 0
    """The clock up to which this step has looked at what queues weigh."""
    weigh_now: bool = False
    """What queues weigh is looked at in this step, whether or not a trigger is due."""

    def because(
        self,
        kind: str,
        *,
        client_id: str | None = None,
        topic: str | None = None,
        at: Source | None = None,
    ) -> None:
        """Remember a cause; the first record that told of it is kept as its evidence."""
        self.causes.setdefault((kind, client_id, topic), Cause(kind, client_id, topic, at))

    def because_of(self, cause: Cause) -> None:
        """Remember a cause by the record that told it: two of one kind may come in one step."""
        self.causes[cause.at or (cause.kind, cause.topic)] = cause

    def reject(
        self, arrival: Arrival, reason: str, field_path: str | None, texts: tuple[str, str]
    ) -> None:
        """Refuse a record; ``texts`` are the detail and the remedy."""
        detail, remedy = texts
        self.rejections.append(Rejection(arrival.source, reason, field_path, detail, remedy))

    def new_epoch(self) -> Epoch:
        """Return this decision's epoch, drawing the group's next number at the first call."""
        if not self.epoch_drawn:
            self.epoch_drawn = True
            self.state.number += 1
        return self.state.epoch

    def next_epoch(self) -> Epoch:
        """Return the epoch that this decision has or, if none was drawn yet, would have."""
        epoch = self.state.epoch
        return epoch if self.epoch_drawn else Epoch(epoch.generation, epoch.number + 1)

    def last_epoch(self) -> Epoch:
        """Return the newest epoch of before this decision: nothing was granted later so far."""
        epoch = self.state.epoch
        return Epoch(epoch.generation, epoch.number - self.epoch_drawn)

    def set_queue(self, queue: MessageQueue, value: QueueState) -> None:
        """Put a queue's new state in place."""
        self.state.queues[queue] = value

    def command_drop(
        self, queue: MessageQueue, grant: Grant, successor: Grant | None = None
    ) -> None:
        """Tell a grant's member to stop and release the queue, and who waits for the release."""
        waiting = None if successor is None else successor.member.client_id
        self.drops.setdefault(grant.member, []).append(Drop(queue, grant.epoch, waiting))
        self.moves.append(Move(queue, "dropped", grant.member, grant.epoch))
        self.tell.add(grant.member)

    def close(self, member: MemberKey) -> None:
        """Tell a member that is gone that it holds nothing; its record is deleted again."""
        self.closing.append(member)
        self.gone.append(Gone(self.state.group, member))

    def command_add(self, queue: MessageQueue, grant: Grant, value: QueueState) -> None:
        """Tell a grant's member to start, once everything older in the chain is released."""
        add = self.add_of(queue, grant, value)
        self.adds.setdefault(grant.member, []).append(add)
        stage: Stage = "gated" if add.after else "granted"
        unsafe = bool(value.overtaken)
        self.moves.append(
            Move(queue, stage, grant.member, grant.epoch, add.position, add.why, unsafe)
        )
        self.tell.add(grant.member)

    def add_of(self, queue: MessageQueue, grant: Grant, value: QueueState) -> Add:
        """Return the add of a grant as its queue's chain stands now.

        Gates are listed newest first.
        """
        if value.base is None:
            message = f"{queue} is granted without a known start"
            raise AssertionError(message)
        older = [entry for entry in value.chain if entry.epoch < grant.epoch]
        after = tuple(After(entry.member, entry.epoch) for entry in reversed(older))
        identity = value.identity or self.state.identity_of(queue.topic)
        return Add(queue, grant.epoch, value.base, value.why, after, identity)

    def resolved(self, queue: MessageQueue, grants: Iterable[Grant], base: Position | None) -> None:
        """Note in the audit record that grants of a queue ended, and how long that took."""
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
