"""S4 and S5 by the topics: where a queue starts is where the last accepted report ends."""

from fairlead.core.model import Position
from fairlead.core.outputs import Cut
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import Report
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.verdicts import Docket, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import MoveRecord

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
        self._disturbed: set[str] = set()
        self._lost: set[tuple[int, int]] = set()

    def step(self, step: Step) -> None:
        """Judge the positions of a decision's grants."""
        audit = step.audit
        self._note_loss(audit.cut)
        if "quarantined" in audit.triggers:
            # Its rows wait: what they say is read later than they stand.
            self._disturbed.add(audit.group)
            self._docket.excuse("S5", f"starts of group {audit.group}: it was in quarantine")
        if audit.group in self._disturbed:
            return
        for move in audit.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                self._judge(step, move, move.position)
                self._judge_told(step, move, move.position)

    def _judge_told(self, step: Step, move: MoveRecord, position: Position) -> None:
        """Judge whether the client was told what was decided."""
        place = (move.queue, move.epoch, move.client_id)
        for add in step.adds:
            if (add.queue, add.epoch, add.member.client_id) != place or add.position == position:
                continue
            self._docket.find(
                "S5",
                f"{move.client_id} is told to start {_queue(move)} at {_text(add.position)}, and "
                f"{_text(position)} was decided",
                evidence_of(add.row, "the add"),
                evidence_of(step.audit.row, f"{step.audit.text}: {move.text}"),
            )

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """What was read before such an add is not known: nothing is judged."""

    def end(self, ending: Ending) -> None:
        """Nothing is left to be judged."""

    def _note_loss(self, cut: Cut) -> None:
        """Say what is exempt of an engine that lost its state: it never read what stood before."""
        if cut.origin is not None and (cut.shard, cut.origin.generation) not in self._lost:
            self._lost.add((cut.shard, cut.origin.generation))
            since = f"since generation {cut.origin.generation}, which had no state"
            reason = f"starts below what was told before the part of the log that was read {since}"
            self._docket.excuse("S5", reason)

    def _judge(self, step: Step, move: MoveRecord, position: Position) -> None:
        told, docket = step.group.positions, self._docket
        report, stale = told.reached.get(move.queue), told.stale.get(move.queue)
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
        late = told.late.get(move.queue)
        if late is not None and position == late.position > report.position:
            # A barrier takes in what was released after its member had been taken for dead.
            return
        ever = told.ever.get(move.queue, report)
        if report.position < position <= ever.position:
            # Nobody read the topic for a while, and the engine still knows how far it was.
            return
        if position > report.position and step.whole:
            if stale is not None and position == stale.position:
                text = f"{_queue(move)} starts at {_text(position)}, which only a stale report says"
                says = "this report is of no grant that was in force"
                docket.find("S4", text, evidence_of(stale.row, says), granted)
            elif not self._is_learnt(step, move, position):
                text = f"{_queue(move)} starts beyond what anybody reached: messages are skipped"
                docket.find("S5", text, known, granted)
        elif position < report.position:
            self._judge_below(step, move, report)

    def _judge_below(self, step: Step, move: MoveRecord, report: Report) -> None:
        """Judge a start that lies below what somebody reached."""
        told, docket, position = step.group.positions, self._docket, move.position
        assert position is not None
        if move.stage == "gated" and _is_doubted(step, move, report):
            # Who waits for that release begins where it says; the engine believes it later.
            docket.look("S5", "starts behind releases beyond every end that was told")
        elif _has_read(step.audit.cut, report) and not _is_of_another_life(step, move, report):
            granted = evidence_of(step.audit.row, f"{move.text}, starts at {_text(position)}")
            known = evidence_of(report.row, f"reached {_text(report.position)}")
            text = f"{_queue(move)} starts below what was reached: messages are read again"
            docket.find("S5", text, known, granted)
        elif not step.behind:
            # From here on this is what the engine knows, and no start may be below it.
            told.reached[move.queue] = Report(position, step.audit.row)

    def _judge_first(self, step: Step, move: MoveRecord, position: Position) -> None:
        if not step.whole or self._is_learnt(step, move, position):
            return
        ever = step.group.positions.ever.get(move.queue)
        if move.why not in _LEARNT and (step.behind or ever is None or position <= ever.position):
            # What the engine still knows of a queue that nobody read for a while, or has read
            # again when it rebuilt its state: nobody else knows it.
            self._docket.look("S5", "starts of queues that nobody read, as the engine says")
            return
        bounds = step.group.positions.bounds.get(move.queue)
        told = "no bounds of it were known"
        if bounds is not None and bounds.told:
            told = f"known were {sorted(bounds.told)}"
        self._docket.find(
            "S5",
            f"{_queue(move)} starts at {_text(position)} because of {move.why}: {told}",
            evidence_of(step.audit.row, move.text),
        )

    @staticmethod
    def _is_learnt(step: Step, move: MoveRecord, position: Position) -> bool:
        """Tell whether a start is what a bridge told of the queue."""
        bounds = step.group.positions.bounds.get(move.queue)
        return move.why in _LEARNT and bounds is not None and position.offset in bounds.told


def _is_of_another_life(step: Step, move: MoveRecord, report: Report) -> bool:
    """Tell whether a driver may take what is known of a queue for its topic's former life.

    Who reads in a barrier that a topic was made anew cannot tell of which life the reports are that
    its state does not know, unless they say it.
    """
    if report.identity is not None:
        return False
    void = step.group.positions.void.get(move.queue.topic)
    restarted = void is not None and step.audit.cut.generation > void.generation
    return restarted and move.why == "minimum"


def _is_doubted(step: Step, move: MoveRecord, report: Report) -> bool:
    """Tell whether a report lies beyond every end that was told when the decision was made.

    The engine puts such a report aside until somebody tells an end that it lies within (rule H30).
    """
    return step.group.positions.is_beyond(move.queue, report.position)


def _has_read(cut: Cut, report: Report) -> bool:
    """Tell whether a driver read a report: its state began before it, its cut ends behind it."""
    row = report.row
    ends = cut.positions.get(row.topic)
    if ends is None:
        # A decision: what it says was judged when it was met.
        return True
    began = 0 if cut.origin is None else cut.origin.begin.get(row.topic, {}).get(row.partition, 0)
    return began <= row.offset < ends.get(row.partition, 0)


def _queue(move: MoveRecord) -> str:
    return "/".join(map(str, move.queue))


def _text(position: Position) -> str:
    return str(position.offset) if not position.reset else f"[{position.reset}, {position.offset}]"
