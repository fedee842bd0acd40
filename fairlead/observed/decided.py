"""What the decisions of one group add up to: where it stands, who was granted what, and when.

A decision counts when all its parts were read (docs/protocol.md §2). Of the grants of a queue
those stay that no decision has called resolved.
"""

import contextlib
import zlib
from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.handover.forced_handover import MUTE_MEMBER
from fairlead.core.model import Epoch, MessageQueue
from fairlead.observed.bounds import MANY, Bounds
from fairlead.wire.decision_parts import DecisionParts
from fairlead.wire.decision_records import DecisionRecord, decision_record
from fairlead.wire.quick_decisions import (
    ADDED,
    JOINED,
    CutPlace,
    GroupCounts,
    Part,
    Step,
)
from fairlead.wire.quick_fields import Place, epoch_of
from fairlead.wire.raw import RawRecord

__all__ = [
    "Decided",
    "Decision",
    "Grant",
    "Taken",
    "Tenure",
]

_BEGUN_MAX: Final = 8
"""So many beginnings of a shard's state are told apart."""


class Grant(NamedTuple):
    """An unresolved grant of a queue.

    Attributes:
        stage: gated, granted or dropped.
        since_ms: when the decision was appended that brought it there.
        unsafe: it did not wait for somebody who may be working on the queue.
    """

    client_id: str
    epoch: Epoch
    stage: str
    since_ms: int
    unsafe: bool = False


class Tenure(NamedTuple):
    """Who has been granted a queue last.

    Attributes:
        client_id: who.
        epoch: of the grant.
        decision: the place of the record that granted it.
        decided_ms: when that was appended.
        since_ms: when the first grant was appended since when nobody else was granted the queue.
    """

    client_id: str
    epoch: Epoch
    decision: Place
    decided_ms: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One complete decision. What it says in full is unpacked when it is asked for.

    Attributes:
        place: of its first part.
        append_ms: when its last part was appended.
        at_ms: when the newest record was appended that it had read.
        queues_moved: how many queues it gave to a client that did not have them.
        packed: all its parts, joined and compressed.
        superseded: its engine was superseded before: it changes nothing.
    """

    group: str
    place: Place
    append_ms: int
    at_ms: int
    epoch: Epoch
    previous_epoch: Epoch
    triggers: tuple[str, ...]
    strategy: str
    members: tuple[str, ...]
    phase: str
    counts: GroupCounts
    alarms: tuple[str, ...]
    queues_moved: int
    packed: bytes
    superseded: bool = False

    def body(self) -> dict[str, Any]:
        """Return the record as docs/protocol.md §3.14 has it, its parts joined."""
        found: dict[str, Any] = orjson.loads(zlib.decompress(self.packed))
        return found

    def record(self) -> DecisionRecord:
        """Return the decision as a record.

        Raises:
            ValueError: it is none; no engine wrote it.
        """
        place = self.place
        row = RawRecord(
            *(place.topic, place.partition, place.offset, self.append_ms),
            append_time_is_log=True,
            key=None,
            value=None,
        )
        return decision_record(self.body(), row)

    def document(self) -> dict[str, Any]:
        """Return the record with its place (``at``), when it was appended, and what it moved."""
        return {
            "at": self.place.document(),
            "append_ms": self.append_ms,
            "queues_moved": self.queues_moved,
            **self.body(),
        }


class Granted(NamedTuple):
    """A grant that was not there before. ``before``: who was granted the queue last."""

    step: Step
    before: str | None


class Taken(NamedTuple):
    """A decision that has just been taken in, and what it changed.

    ``given_up``: the grants that were dropped before, and are resolved now. ``again``: the decision
    of this step was read before, and its batch was run again.
    """

    decision: Decision
    parts: list[Part]
    steps: tuple[Step, ...]
    granted: list[Granted]
    given_up: list[Step]
    again: bool = False

    def causes(self) -> Iterator[dict[str, Any]]:
        """Yield what led to it."""
        for part in self.parts:
            yield from part.body["cause"]


@dataclass(slots=True)
class _Changes:
    granted: list[Granted] = field(default_factory=list)
    given_up: list[Step] = field(default_factory=list)
    holders: dict[MessageQueue, str] = field(default_factory=dict)


@dataclass(slots=True)
class Decided:
    """The decisions of one group, in the order of the topic.

    Attributes:
        bounds: how much is kept.
        newest: the last one; None: none was read.
        history: the last ones, oldest first.
        last_move: the newest that gave a queue to another client.
        grants: per queue its unresolved grants, oldest first.
        tenures: per queue who was granted it last.
        phase_since_ms: when the decision was appended that brought the group into its phase; None:
            it is older than what was read.
        muted: clients that are mute, and when the decision was appended that found it.
        ended: per queue the epochs of the grants that were resolved last, and when the decision
            was appended that said so.
    """

    bounds: Bounds = MANY
    newest: Decision | None = None
    history: deque[Decision] = field(default_factory=deque)
    last_move: Decision | None = None
    grants: dict[MessageQueue, tuple[Grant, ...]] = field(default_factory=dict)
    tenures: dict[MessageQueue, Tenure] = field(default_factory=dict)
    ended: dict[MessageQueue, dict[Epoch, int]] = field(default_factory=dict)
    phase_since_ms: int | None = None
    muted: dict[str, int] = field(default_factory=dict)
    _record: tuple[Decision | None, DecisionRecord | None] | None = None
    _parts: DecisionParts[Part] = field(default_factory=DecisionParts)
    _counted: dict[int, int] = field(default_factory=dict)

    def take(self, group: str, part: Part) -> Taken | None:
        """Return the decision that this record completes; None: it completes none.

        A decision of an engine that was superseded stands in the history and changes nothing.
        """
        whole = self._parts.join(part.name, part)
        if whole is None:
            return None
        parts = whole.parts
        steps = tuple(step for each in parts for step in each.steps)
        if whole.superseded:
            self._keep(_decision(group, parts, 0, superseded=True))
            return None
        changes = self._apply_all(steps, parts)
        moved = sum(change.before != change.step.client_id for change in changes.granted)
        decision = _decision(group, parts, moved)
        if self.newest is not None and self.newest.phase != decision.phase:
            self.phase_since_ms = decision.append_ms
        self.newest = decision
        self._note_mute(decision, parts)
        self._keep(decision)
        if moved:
            self.last_move = decision
        again = self._was_counted(parts[0].cut)
        return Taken(decision, parts, steps, changes.granted, changes.given_up, again=again)

    def _note_mute(self, decision: Decision, parts: list[Part]) -> None:
        for part in parts:
            for cause in part.body["cause"]:
                if cause["kind"] == MUTE_MEMBER and "client_id" in cause:
                    self.muted.setdefault(cause["client_id"], decision.append_ms)
        if MUTE_MEMBER not in decision.alarms:
            self.muted.clear()

    def _keep(self, decision: Decision) -> None:
        self.history.append(decision)
        if len(self.history) > self.bounds.decisions:
            self.history.popleft()

    def _was_counted(self, cut: CutPlace) -> bool:
        """Tell whether the group's decision of this step was read before, and note that it was.

        A batch that is run twice, since its task was tried again or its driver died before it was
        committed, writes its decisions again under the step that they had.
        """
        if cut.step <= self._counted.get(cut.began, -1):
            return True
        self._counted[cut.began] = cut.step
        if len(self._counted) > _BEGUN_MAX:
            del self._counted[min(self._counted)]
        return False

    def forget_before(self, oldest_ms: int, topics: Container[str]) -> None:
        """Forget the decisions that were appended before this time, as history.

        Of queues that nobody has been granted since, and whose topics are none of these, all is
        forgotten.
        """
        while self.history and self.history[0].append_ms < oldest_ms:
            self.history.popleft()
        gone = [
            queue
            for queue, tenure in self.tenures.items()
            if tenure.decided_ms < oldest_ms and queue.topic not in topics
        ]
        for queue in gone:
            for kept in (self.tenures, self.grants, self.ended):
                kept.pop(queue, None)

    def owners(self) -> dict[MessageQueue, str]:
        """Return who is to own what, by the newest grants that were not dropped."""
        newest = {queue: grants[-1] for queue, grants in self.grants.items()}
        return {queue: each.client_id for queue, each in newest.items() if each.stage != "dropped"}

    def _apply_all(self, steps: tuple[Step, ...], parts: list[Part]) -> _Changes:
        changes, row = _Changes(), parts[0].row
        place = Place(row.topic, row.partition, row.offset)
        append_ms = parts[-1].row.append_ms
        for step in steps:
            self._apply(step, append_ms, changes)
            if step.stage in ADDED:
                self._own(step, place, append_ms, changes)
        return changes

    def _apply(self, step: Step, append_ms: int, changes: _Changes) -> None:
        queue, stage = step.queue, step.stage
        known = self.grants.get(queue, ())
        others = [grant for grant in known if grant.epoch != step.epoch]
        if stage == "resolved":
            ended = {**self.ended.get(queue, {}), step.epoch: append_ms}
            self.ended[queue] = dict(list(ended.items())[-self.bounds.ends :])
            if any(grant.epoch == step.epoch and grant.stage == "dropped" for grant in known):
                changes.given_up.append(step)
        else:
            before = self.grant(queue, step.epoch)
            unsafe, since_ms = step.unsafe, append_ms
            if before is not None:
                unsafe |= before.unsafe
                since_ms = before.since_ms if before.stage == stage else append_ms
            others.append(Grant(step.client_id, step.epoch, stage, since_ms, unsafe))
            others.sort(key=lambda grant: grant.epoch)
        if stage == "dropped":
            changes.holders[queue] = step.client_id
        if others:
            self.grants[queue] = tuple(others)
        else:
            self.grants.pop(queue, None)

    def _own(self, step: Step, place: Place, append_ms: int, changes: _Changes) -> None:
        known = self.tenures.get(step.queue)
        if known is not None and known.epoch >= step.epoch:
            return
        # Who had it before the first decision that was read is told by its drop.
        before = changes.holders.get(step.queue) if known is None else known.client_id
        changes.granted.append(Granted(step, before))
        since_ms = append_ms
        if known is not None and known.client_id == step.client_id:
            since_ms = known.since_ms
        self.tenures[step.queue] = Tenure(step.client_id, step.epoch, place, append_ms, since_ms)

    def grant(self, queue: MessageQueue, epoch: Epoch) -> Grant | None:
        """Return an unresolved grant of a queue; None: no decision that was read tells of it."""
        return next((each for each in self.grants.get(queue, ()) if each.epoch == epoch), None)

    def record(self) -> DecisionRecord | None:
        """Return the newest decision as a record; None: there is none, or no engine wrote it."""
        if self._record is None or self._record[0] is not self.newest:
            record = None
            if self.newest is not None:
                # The quick reader passes what no engine writes.
                with contextlib.suppress(ValueError):
                    record = self.newest.record()
            self._record = self.newest, record
        return self._record[1]

    def is_over(self, queue: MessageQueue, epoch: Epoch) -> bool:
        """Tell whether the grant of a queue under this epoch is known to be resolved."""
        return epoch in self.ended.get(queue, ())


def _decision(
    group: str, parts: list[Part], queues_moved: int, *, superseded: bool = False
) -> Decision:
    first, last = parts[0], parts[-1]
    body = dict(first.body)
    for name in JOINED:
        body[name] = [entry for each in parts for entry in each.body[name]]
    body["part"], body["parts"] = 0, 1
    return Decision(
        group=group,
        place=Place(first.row.topic, first.row.partition, first.row.offset),
        append_ms=last.row.append_ms,
        at_ms=body["at_ms"],
        epoch=first.epoch,
        previous_epoch=epoch_of(body["previous_epoch"]),
        triggers=tuple(body["triggers"]),
        strategy=body["strategy"],
        members=tuple(body["members"]),
        phase=body["state"]["phase"],
        counts=first.counts,
        alarms=tuple(body["alarms"]),
        queues_moved=queues_moved,
        packed=zlib.compress(orjson.dumps(body), 1),
        superseded=superseded,
    )
