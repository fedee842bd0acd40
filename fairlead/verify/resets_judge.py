"""S5 by the topics: an operator's reset is followed, and lies within what its queue holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.core.model import NOTHING, Epoch, MessageQueue, Position
from fairlead.recording import SourceRuns
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import Report
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.pace_judge import patience_ms
from fairlead.verify.verdicts import Docket, Evidence, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import MoveRecord
from fairlead.wire.raw import RawRecord

__all__ = ["ResetsJudge"]

_LATE_MS: Final = 60_000
"""What somebody tells of a queue's end may be so old."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The first start that follows a reset."""

    epoch: Epoch
    position: Position
    reset: RawRecord
    decided_ms: int
    decision: Evidence


class ResetsJudge:
    """Follows what operators asked for: what they mistyped is told, and nothing is forgotten.

    The engine starts a queue where it was told to. Before the first message that is kept, or behind
    the last one, the data plane starts it somewhere else, and messages are skipped or read again.
    """

    def __init__(self, docket: Docket, sources: SourceRuns) -> None:
        """Begin.

        Args:
            docket: takes what is found.
            sources: the recorded offsets of messages, by topic and partition.
        """
        self._docket = docket
        self._ends: Mapping[tuple[str, int], int] = {
            (topic, number): runs[-1][1] + 1
            for topic, parts in sources.items()
            for number, runs in parts.items()
            if runs
        }
        self._starts: dict[tuple[str, MessageQueue], _Start] = {}

    def step(self, step: Step) -> None:
        """Judge starts at a reset against where their queue begins."""
        for move in step.audit.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                self._judge(step, move, move.position)

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """The decision that this add is of was never written: its start is met again."""

    def end(self, ending: Ending) -> None:
        """Judge starts against where their queue ends, and resets that nobody followed."""
        facts = ending.facts
        for name, group in sorted(facts.groups.items()):
            for queue in sorted(group.positions.resets):
                start = self._starts.get((name, queue))
                reset = group.positions.resets[queue]
                if start is not None and start.position.reset >= reset.position.reset:
                    self._judge_end(facts, group, queue, start)
                else:
                    self._judge_unfollowed(facts, group, queue, reset)

    def _judge(self, step: Step, move: MoveRecord, position: Position) -> None:
        reset, place = step.group.positions.resets.get(move.queue), (step.audit.group, move.queue)
        known = self._starts.get(place)
        if reset is None or position != reset.position or (known and known.position == position):
            return
        self._docket.look("S5", "starts at a reset")
        decision = evidence_of(step.audit.row, f"{step.audit.text}: {move.text}")
        self._starts[place] = _Start(move.epoch, position, reset.row, step.audit.at_ms, decision)
        bounds = step.group.positions.bounds.get(move.queue)
        if bounds is None or bounds.row is None or position.offset >= bounds.first:
            return
        self._docket.find(
            "S5",
            f"{_text(move.queue)} starts at the reset to {position.offset}, and its first message "
            f"is {bounds.first}: what was wanted is gone",
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
        # If the broker's clock jumped nobody knows what was told later than what.
        if bounds is not None and late and not facts.clock.jumps:
            ends.append(bounds.end)
        known = [end for end in ends if end is not None]
        if not known or start.epoch <= group.positions.void.get(queue.topic, NOTHING):
            self._docket.excuse("S5", "resets: nobody told since how far their queues reach")
            return
        if start.position.offset <= max(known):
            return
        offset = start.position.offset
        self._docket.find(
            "S5",
            f"{_text(queue)} starts at the reset to {offset}, and nobody ever saw more than "
            f"{max(known)} of it: messages are skipped",
            evidence_of(start.reset, f"resets it to {offset}"),
            start.decision,
        )

    def _judge_unfollowed(
        self, facts: ShardFacts, group: GroupFacts, queue: MessageQueue, reset: Report
    ) -> None:
        place = evidence_of(reset.row, f"resets it to {reset.position.offset}")
        told = f"the reset of {_text(queue)} at {place.place}"
        route = facts.routes.get(queue.topic)
        if route is not None and not route.has(queue):
            self._docket.excuse("S5", f"{told}: no route has that queue, so nobody follows it")
            return
        grants = group.grants.get(queue, {})
        newest = grants[max(grants)] if grants else None
        waited_ms = facts.ticked_ms - reset.clock_ms
        works = newest is not None and newest.resolved is None and newest.dropped is None
        if not works or waited_ms <= patience_ms(group) or group.rule("pause"):
            self._docket.excuse("S5", f"{told}: nobody has followed it yet")
            return
        assert newest is not None, "it works"
        self._docket.find(
            "S5",
            f"{told} was read {waited_ms:,} ms before the end, and {newest.client_id} works on",
            place,
            evidence_of(newest.issued, newest.text),
        )


def _text(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))
