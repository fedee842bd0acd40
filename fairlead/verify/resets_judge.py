"""S5 by the topics: the engine follows an operator's reset, which lies within its queue."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.core.model import NOTHING, Epoch, MessageQueue, Position
from fairlead.recording import SourceRuns
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import PositionReport
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.pace_judge import patience_ms
from fairlead.verify.verdicts import Evidence, Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import MoveRecord
from fairlead.wire.raw import RawRecord

__all__ = ["ResetsJudge"]

_LATE_MS: Final = 60_000
"""A reported end of a queue may be this old."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The first start that follows a reset."""

    epoch: Epoch
    position: Position
    reset: RawRecord
    decided_ms: int
    decision: Evidence


class ResetsJudge:
    """Judges resets: the engine forgets none, and none points outside its queue.

    The engine starts a queue exactly at a reset. Outside the messages that the topic holds, the
    data plane starts it somewhere else: it skips messages or reads them again.
    """

    def __init__(self, verdicts: Verdicts, sources: SourceRuns) -> None:
        """Begin.

        Args:
            verdicts: collects the findings.
            sources: the recorded offsets of messages, by topic and partition.
        """
        self._verdicts = verdicts
        self._ends: Mapping[tuple[str, int], int] = {
            (topic, number): runs[-1][1] + 1
            for topic, parts in sources.items()
            for number, runs in parts.items()
            if runs
        }
        self._starts: dict[tuple[str, MessageQueue], _Start] = {}

    def step(self, step: Step) -> None:
        """Judge starts at a reset against the beginning of their queue."""
        for move in step.decision.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                self._judge(step, move, move.position)

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge nothing: a later decision grants the queue again."""

    def finish(self, end: ShardEnd) -> None:
        """Judge starts at a reset against the end of their queue, and resets without a start."""
        facts = end.facts
        for name, group in sorted(facts.groups.items()):
            for queue in sorted(group.positions.resets):
                start = self._starts.get((name, queue))
                reset = group.positions.resets[queue]
                if start is not None and start.position.reset >= reset.position.reset:
                    self._judge_end(facts, group, queue, start)
                else:
                    self._judge_unfollowed(facts, group, queue, reset)

    def _judge(self, step: Step, move: MoveRecord, position: Position) -> None:
        reset, place = (
            step.group.positions.resets.get(move.queue),
            (step.decision.group, move.queue),
        )
        known = self._starts.get(place)
        if reset is None or position != reset.position or (known and known.position == position):
            return
        self._verdicts.count("S5", "starts at a reset")
        decision = evidence_of(step.decision.row, f"{step.decision.text}: {move.text}")
        self._starts[place] = _Start(move.epoch, position, reset.row, step.decision.at_ms, decision)
        bounds = step.group.positions.bounds.get(move.queue)
        if bounds is None or bounds.row is None or position.offset >= bounds.first:
            return
        self._verdicts.add_finding(
            "S5",
            f"{_text(move.queue)} starts at the reset to {position.offset}, and its first message "
            f"is {bounds.first}: the topic no longer holds the messages between",
            evidence_of(reset.row, f"resets it to {position.offset}"),
            evidence_of(bounds.row, f"it begins at {bounds.first}"),
            decision,
        )

    def _judge_end(
        self, facts: ShardFacts, group: GroupFacts, queue: MessageQueue, start: _Start
    ) -> None:
        bounds = group.positions.bounds.get(queue)
        ends = [self._ends.get((queue.topic, queue.queue_id))]
        late = bounds is not None and bounds.told_ms >= start.decided_ms + _LATE_MS
        # After a jump of the broker's clock nobody knows which report is later.
        if bounds is not None and late and not facts.clock.jumps:
            ends.append(bounds.end)
        known = [end for end in ends if end is not None]
        if not known or start.epoch <= group.positions.void.get(queue.topic, NOTHING):
            self._verdicts.excuse("S5", "resets: nobody reported the end of their queues since")
            return
        if start.position.offset <= max(known):
            return
        offset = start.position.offset
        self._verdicts.add_finding(
            "S5",
            f"{_text(queue)} starts at the reset to {offset}, beyond its end {max(known)}: "
            "messages are skipped",
            evidence_of(start.reset, f"resets it to {offset}"),
            start.decision,
        )

    def _judge_unfollowed(
        self, facts: ShardFacts, group: GroupFacts, queue: MessageQueue, reset: PositionReport
    ) -> None:
        place = evidence_of(reset.row, f"resets it to {reset.position.offset}")
        reset_text = f"the reset of {_text(queue)} at {place.place}"
        route = facts.routes.get(queue.topic)
        if route is not None and not route.has(queue):
            reason = f"{reset_text}: no route has that queue, so nobody can follow it"
            self._verdicts.excuse("S5", reason)
            return
        grants = group.grants.get(queue, {})
        newest = grants[max(grants)] if grants else None
        waited_ms = facts.ticked_ms - reset.clock_ms
        works = newest is not None and newest.resolved is None and newest.dropped is None
        if not works or waited_ms <= patience_ms(group) or group.rule("pause"):
            self._verdicts.excuse("S5", f"{reset_text}: nobody has followed it yet")
            return
        assert newest is not None, "it works"
        self._verdicts.add_finding(
            "S5",
            f"the engine did not follow {reset_text} for {waited_ms:,} ms, and {newest.client_id} "
            "works on",
            place,
            evidence_of(newest.issued, newest.text),
        )


def _text(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))
