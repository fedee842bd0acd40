"""S4 and S5 by the topics: where a queue starts is where the last accepted report ends."""

from fairlead.core.model import Position
from fairlead.engine.recorded_log import Places
from fairlead.verify.audit import AuditMove
from fairlead.verify.docket import Docket, evidence_of
from fairlead.verify.facts import ShardFacts
from fairlead.verify.told import ToldAdd
from fairlead.verify.walk import Ending, Step

__all__ = ["PositionsJudge"]

_LEARNT = ("committed", "first_offset", "last_offset", "timestamp", "minimum")
"""Reasons of a start that rest on what a bridge told."""


class PositionsJudge:
    """Judges the start of every grant, also when it is said again without its gates."""

    def __init__(self, docket: Docket, *, topics_whole: bool) -> None:
        """Begin.

        Args:
            docket: takes what is found.
            topics_whole: no rule, route or bounds were compacted away.
        """
        self._docket, self._whole = docket, topics_whole
        self._begins: dict[int, Places] = {}
        self._generations: dict[int, int] = {}
        self._rolled_back: set[int] = set()
        self._disturbed: set[str] = set()
        self._lost: set[int] = set()

    def step(self, step: Step) -> None:
        """Judge the positions of a decision's grants."""
        audit = step.audit
        self._note_rollback(step)
        if "quarantined" in audit.triggers:
            # Its rows wait: what they say is read later than they stand.
            self._disturbed.add(audit.group)
            self._docket.excuse("S5", f"starts of group {audit.group}: it was in quarantine")
        if audit.group in self._disturbed:
            return
        for move in audit.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                self._judge(step, move, move.position)

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """What was read before such an add is not known: nothing is judged."""

    def end(self, ending: Ending) -> None:
        """Nothing is left to be judged."""

    def _note_rollback(self, step: Step) -> None:
        """Take note of a driver that began from an older state: it reads positions anew."""
        cut = step.audit.cut
        shard, before = cut.shard, self._begins.get(cut.shard, {})
        if cut.origin is not None and shard not in self._lost:
            self._lost.add(shard)
            reason = f"starts below what is known since generation {cut.origin.generation}"
            self._docket.excuse("S5", f"{reason}: its state was lost and rebuilt")
        if self._generations.get(shard, 0) < cut.generation:
            self._generations[shard] = cut.generation
            # A batch in which a driver died begins where it began, and not before.
            older = any(
                cut.begin.get(topic, {}).get(partition, 0) < offset
                for topic, begins in before.items()
                for partition, offset in begins.items()
            )
            if older:
                self._rolled_back.add(shard)
                reason = f"starts below what is known since generation {cut.generation}"
                self._docket.excuse("S5", f"{reason}: its state was older than the log")
        self._begins[shard] = cut.begin

    def _judge(self, step: Step, move: AuditMove, position: Position) -> None:
        group, docket = step.group, self._docket
        report, stale = group.reached.get(move.queue), group.stale.get(move.queue)
        if not self._whole:
            # Who was taken for dead when, and what was known of a queue, rests on what is gone.
            for number in ("S4", "S5"):
                docket.excuse(number, "starts: rules, routes or bounds were compacted away")
            return
        docket.look("S4", "starts")
        docket.look("S5", "starts")
        if report is None:
            self._judge_first(step, move, position)
            return
        granted = evidence_of(step.audit.row, f"{move.text}, starts at {_text(position)}")
        known = evidence_of(report.row, f"reached {_text(report.position)}")
        late = group.late.get(move.queue)
        if late is not None and position == late.position > report.position:
            # A barrier takes in what was released after its member had been taken for dead.
            return
        ever = group.ever.get(move.queue, report)
        if report.position < position <= ever.position:
            # The queue was hidden for a while, and the engine still knows how far it was.
            return
        if position > report.position and step.whole:
            if stale is not None and position == stale.position:
                text = f"{_queue(move)} starts at {_text(position)}, which only a stale report says"
                says = "this report is of no grant that was in force"
                docket.find("S4", text, evidence_of(stale.row, says), granted)
            elif not self._is_learnt(step, move, position):
                text = f"{_queue(move)} starts beyond what anybody reached: messages are skipped"
                docket.find("S5", text, known, granted)
        elif position < report.position and step.audit.cut.shard not in (
            self._rolled_back | self._lost
        ):
            text = f"{_queue(move)} starts below what was reached: messages are read again"
            docket.find("S5", text, known, granted)

    def _judge_first(self, step: Step, move: AuditMove, position: Position) -> None:
        if not step.whole or self._is_learnt(step, move, position):
            return
        if move.why not in _LEARNT:
            # What the engine still knows of a queue that nobody read for a while, or has read
            # again when it rebuilt its state: nobody else knows it.
            self._docket.look("S5", "starts of queues that nobody read, as the engine says")
            return
        bounds = step.group.bounds.get(move.queue)
        told = "no bounds of it were known" if bounds is None else f"known were {sorted(bounds)}"
        self._docket.find(
            "S5",
            f"{_queue(move)} starts at {_text(position)} because of {move.why}: {told}",
            evidence_of(step.audit.row, move.text),
        )

    @staticmethod
    def _is_learnt(step: Step, move: AuditMove, position: Position) -> bool:
        """Tell whether a start is what a bridge told of the queue."""
        bounds = step.group.bounds.get(move.queue, ())
        return move.why in _LEARNT and position.offset in bounds


def _queue(move: AuditMove) -> str:
    return "/".join(map(str, move.queue))


def _text(position: Position) -> str:
    return str(position.offset) if not position.reset else f"[{position.reset}, {position.offset}]"
