"""What the decisions of one group add up to: its phase, and who was granted what, and when.

A decision counts when all its parts were read (docs/protocol.md §2). A grant of a queue stays until
a decision has called it resolved.
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
from fairlead.wire.quick_fields import RecordPlace, epoch_of
from fairlead.wire.raw import RawRecord

__all__ = [
    "AppliedDecision",
    "GroupDecisions",
    "LastGrant",
    "LoggedDecision",
    "OpenGrant",
]

_BEGUN_MAX: Final = 8
"""Keep apart this many beginnings of a shard's state."""


class OpenGrant(NamedTuple):
    """An unresolved grant of a queue.

    Attributes:
        stage: gated, granted or dropped.
        since_ms: when the decision that brought it to this stage was appended.
        unsafe: it did not wait for somebody who may be working on the queue.
    """

    client_id: str
    epoch: Epoch
    stage: str
    since_ms: int
    unsafe: bool = False


class LastGrant(NamedTuple):
    """The newest grant of a queue.

    Attributes:
        client_id: who was granted the queue.
        epoch: of the grant.
        decision: the place of the record that granted it.
        decided_ms: when that record was appended.
        since_ms: since when this client has been granted the queue without another in between.
    """

    client_id: str
    epoch: Epoch
    decision: RecordPlace
    decided_ms: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One complete decision; its full body is unpacked only when it is asked for.

    Attributes:
        place: of its first part.
        append_ms: when its last part was appended.
        at_ms: when the newest record it had read was appended.
        queues_moved: how many queues it gave to a client that did not have them.
        packed: all its parts, joined and compressed.
        generation: of the engine that wrote it; its epoch may be older.
        superseded: its engine was superseded before, so it changes nothing.
    """

    group: str
    place: RecordPlace
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
    generation: int
    superseded: bool = False

    def body(self) -> dict[str, Any]:
        """Return the record of docs/protocol.md §3.14, its parts joined."""
        body: dict[str, Any] = orjson.loads(zlib.decompress(self.packed))
        return body

    def record(self, *, checked: bool = True) -> DecisionRecord:
        """Return the decision as a record; ``checked``: with every field, as judges need it.

        Raises:
            ValueError: no engine wrote it.
        """
        place = self.place
        row = RawRecord(
            *(place.topic, place.partition, place.offset, self.append_ms),
            append_time_is_log=True,
            key=None,
            value=None,
        )
        return decision_record(self.body(), row, checked=checked)

    def to_json(self) -> dict[str, Any]:
        """Return the record with its place (``at``), append time, and number of moved queues."""
        return {
            "at": self.place.to_json(),
            "append_ms": self.append_ms,
            "queues_moved": self.queues_moved,
            **self.body(),
        }


class NewGrant(NamedTuple):
    """A grant that was not there before. ``before``: who was last granted the queue."""

    step: Step
    before: str | None


class AppliedDecision(NamedTuple):
    """A decision that was just applied, and what it changed.

    ``given_up``: dropped grants that it resolved. ``again``: the decision of this step was read
    before, because its batch ran twice.
    """

    decision: LoggedDecision
    parts: list[Part]
    steps: tuple[Step, ...]
    granted: list[NewGrant]
    given_up: list[Step]
    again: bool = False

    def causes(self) -> Iterator[dict[str, Any]]:
        """Yield its causes."""
        for part in self.parts:
            yield from part.body["cause"]


@dataclass(slots=True)
class _Changes:
    granted: list[NewGrant] = field(default_factory=list)
    given_up: list[Step] = field(default_factory=list)
    holders: dict[MessageQueue, str] = field(default_factory=dict)


@dataclass(slots=True)
class GroupDecisions:
    """The decisions of one group, in the order of the topic.

    Attributes:
        bounds: how much to keep.
        newest: the last one; None: none was read.
        history: the last ones, oldest first.
        last_move: the newest that gave a queue to another client.
        grants: the unresolved grants of each queue, oldest first.
        newest_grants: the newest grant of each queue.
        phase_since_ms: when the decision that brought the group into its phase was appended; None:
            it is older than what was read.
        muted: mute clients, and when the decision that found it was appended.
        ended: per queue, the epochs of the grants that were resolved last, and when the decision
            that resolved them was appended.
    """

    bounds: Bounds = MANY
    newest: LoggedDecision | None = None
    history: deque[LoggedDecision] = field(default_factory=deque)
    last_move: LoggedDecision | None = None
    grants: dict[MessageQueue, tuple[OpenGrant, ...]] = field(default_factory=dict)
    newest_grants: dict[MessageQueue, LastGrant] = field(default_factory=dict)
    ended: dict[MessageQueue, dict[Epoch, int]] = field(default_factory=dict)
    phase_since_ms: int | None = None
    muted: dict[str, int] = field(default_factory=dict)
    _record: tuple[LoggedDecision | None, DecisionRecord | None] | None = None
    _parts: DecisionParts[Part] = field(default_factory=DecisionParts)
    _counted: dict[int, int] = field(default_factory=dict)

    def apply_part(self, group: str, part: Part) -> AppliedDecision | None:
        """Return the decision that this record completes; None: it completes none.

        A superseded engine's decision stands in the history and changes nothing.
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
        return AppliedDecision(
            decision, parts, steps, changes.granted, changes.given_up, again=again
        )

    def _note_mute(self, decision: LoggedDecision, parts: list[Part]) -> None:
        for part in parts:
            for cause in part.body["cause"]:
                if cause["kind"] == MUTE_MEMBER and "client_id" in cause:
                    self.muted.setdefault(cause["client_id"], decision.append_ms)
        if MUTE_MEMBER not in decision.alarms:
            self.muted.clear()

    def _keep(self, decision: LoggedDecision) -> None:
        self.history.append(decision)
        if len(self.history) > self.bounds.decisions:
            self.history.popleft()

    def _was_counted(self, cut: CutPlace) -> bool:
        """Note the group's decision of this step; tell whether it was read before.

        A batch may run twice, because its task was tried again or its driver died before the
        commit. It then writes its decisions again under the same step.
        """
        if cut.step <= self._counted.get(cut.began, -1):
            return True
        self._counted[cut.began] = cut.step
        if len(self._counted) > _BEGUN_MAX:
            del self._counted[min(self._counted)]
        return False

    def forget_before(self, oldest_ms: int, topics: Container[str]) -> None:
        """Forget the decisions that were appended before this time, as history.

        Also forget the queues that nobody has been granted since, unless their topics are named
        here.
        """
        while self.history and self.history[0].append_ms < oldest_ms:
            self.history.popleft()
        gone = [
            queue
            for queue, newest_grant in self.newest_grants.items()
            if newest_grant.decided_ms < oldest_ms and queue.topic not in topics
        ]
        for queue in gone:
            for kept in (self.newest_grants, self.grants, self.ended):
                kept.pop(queue, None)

    def owners(self) -> dict[MessageQueue, str]:
        """Return the owner of each queue by the newest grants that were not dropped."""
        newest = {queue: grants[-1] for queue, grants in self.grants.items()}
        return {queue: each.client_id for queue, each in newest.items() if each.stage != "dropped"}

    def _apply_all(self, steps: tuple[Step, ...], parts: list[Part]) -> _Changes:
        changes, row = _Changes(), parts[0].row
        place = RecordPlace(row.topic, row.partition, row.offset)
        append_ms = parts[-1].row.append_ms
        for step in steps:
            self._apply(step, append_ms, changes)
            if step.stage in ADDED:
                self._own(step, place, append_ms, changes)
        return changes

    def _apply(self, step: Step, append_ms: int, changes: _Changes) -> None:
        queue, stage = step.queue, step.stage
        others: list[OpenGrant] = []
        before: OpenGrant | None = None
        for grant in self.grants.get(queue, ()):
            if grant.epoch == step.epoch:
                before = grant
            else:
                others.append(grant)
        if stage == "resolved":
            ended = {**self.ended.get(queue, {}), step.epoch: append_ms}
            self.ended[queue] = dict(list(ended.items())[-self.bounds.ends :])
            if before is not None and before.stage == "dropped":
                changes.given_up.append(step)
        else:
            unsafe, since_ms = step.unsafe, append_ms
            if before is not None:
                unsafe |= before.unsafe
                since_ms = before.since_ms if before.stage == stage else append_ms
            others.append(OpenGrant(step.client_id, step.epoch, stage, since_ms, unsafe))
            others.sort(key=lambda grant: grant.epoch)
        if stage == "dropped":
            changes.holders[queue] = step.client_id
        if others:
            self.grants[queue] = tuple(others)
        else:
            self.grants.pop(queue, None)

    def _own(self, step: Step, place: RecordPlace, append_ms: int, changes: _Changes) -> None:
        known = self.newest_grants.get(step.queue)
        if known is not None and known.epoch >= step.epoch:
            return
        # The drop tells who had the queue before the first decision that was read.
        before = changes.holders.get(step.queue) if known is None else known.client_id
        changes.granted.append(NewGrant(step, before))
        since_ms = append_ms
        if known is not None and known.client_id == step.client_id:
            since_ms = known.since_ms
        self.newest_grants[step.queue] = LastGrant(
            step.client_id, step.epoch, place, append_ms, since_ms
        )

    def grant(self, queue: MessageQueue, epoch: Epoch) -> OpenGrant | None:
        """Return an unresolved grant of a queue; None: no decision that was read has it."""
        return next((each for each in self.grants.get(queue, ()) if each.epoch == epoch), None)

    def record(self) -> DecisionRecord | None:
        """Return the newest decision as a record; None: there is none, or no engine wrote it."""
        if self._record is None or self._record[0] is not self.newest:
            record = None
            if self.newest is not None:
                # The quick reader lets through what no engine writes.
                with contextlib.suppress(ValueError):
                    record = self.newest.record()
            self._record = self.newest, record
        return self._record[1]

    def is_over(self, queue: MessageQueue, epoch: Epoch) -> bool:
        """Tell whether a decision has resolved the grant of a queue under this epoch."""
        return epoch in self.ended.get(queue, ())


def _decision(
    group: str, parts: list[Part], queues_moved: int, *, superseded: bool = False
) -> LoggedDecision:
    first, last = parts[0], parts[-1]
    body = dict(first.body)
    for name in JOINED:
        body[name] = [entry for each in parts for entry in each.body[name]]
    body["part"], body["parts"] = 0, 1
    return LoggedDecision(
        group=group,
        place=RecordPlace(first.row.topic, first.row.partition, first.row.offset),
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
        generation=first.cut.generation,
        superseded=superseded,
    )
