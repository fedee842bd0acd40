"""S4 and S5 by the topics: a queue starts where the last accepted report ends."""

from fairlead.core.model import Position
from fairlead.core.outputs import Cut
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import PositionReport
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.verdicts import Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import MoveRecord

__all__ = ["PositionsJudge"]

_LEARNT = ("committed", "first_offset", "last_offset", "timestamp", "minimum")
"""Reasons of a start that rest on what a bridge reported."""
_FORMER = "former"
"""The reason of a start that rests on what its holder told when its group was frozen."""


class PositionsJudge:
    """Judges the start of every grant, also if the engine repeats it without gates."""

    def __init__(self, verdicts: Verdicts, *, topics_whole: bool) -> None:
        """Begin.

        Args:
            verdicts: collects the findings.
            topics_whole: compaction removed no rule, route or bounds.
        """
        self._verdicts, self._whole = verdicts, topics_whole
        self._disturbed: set[str] = set()
        self._lost: set[tuple[int, int]] = set()

    def step(self, step: Step) -> None:
        """Judge the positions of a decision's grants."""
        decision = step.decision
        self._note_loss(decision.cut)
        if "quarantined" in decision.triggers:
            # The engine reads its rows later than their place in the log.
            self._disturbed.add(decision.group)
            self._verdicts.excuse("S5", f"starts of group {decision.group}: it was in quarantine")
        if decision.group in self._disturbed:
            return
        for move in decision.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                self._judge(step, move, move.position)
                self._judge_told(step, move, move.position)

    def _judge_told(self, step: Step, move: MoveRecord, position: Position) -> None:
        """Judge whether the add starts where the decision says."""
        place = (move.queue, move.epoch, move.client_id)
        for add in step.adds:
            if (add.queue, add.epoch, add.member.client_id) != place or add.position == position:
                continue
            self._verdicts.add_finding(
                "S5",
                f"the add starts {_queue(move)} of {move.client_id} at {_text(add.position)}, the "
                f"decision at {_text(position)}",
                evidence_of(add.row, "the add"),
                evidence_of(step.decision.row, f"{step.decision.text}: {move.text}"),
            )

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge nothing: what the engine had read before such an add is unknown."""

    def finish(self, end: ShardEnd) -> None:
        """Judge nothing: each start was judged with its decision."""

    def _note_loss(self, cut: Cut) -> None:
        """Exempt what an engine that lost its state never read."""
        if cut.origin is not None and (cut.shard, cut.origin.generation) not in self._lost:
            self._lost.add((cut.shard, cut.origin.generation))
            since = f"since generation {cut.origin.generation}, which had no state"
            reason = f"starts below positions that stand before the log as it was read {since}"
            self._verdicts.excuse("S5", reason)

    def _judge(self, step: Step, move: MoveRecord, position: Position) -> None:
        positions, verdicts = step.group.positions, self._verdicts
        report, stale = positions.reached.get(move.queue), positions.stale.get(move.queue)
        if not self._whole:
            # Lapses and known bounds rest on records that are gone.
            for number in ("S4", "S5"):
                verdicts.excuse(number, "starts: rules, routes or bounds were compacted away")
            return
        verdicts.count("S4", "starts")
        verdicts.count("S5", "starts")
        if report is None:
            self._judge_first(step, move, position)
            return
        granted = evidence_of(step.decision.row, f"{move.text}, starts at {_text(position)}")
        known = evidence_of(report.row, f"reached {_text(report.position)}")
        late = positions.late.get(move.queue)
        if late is not None and position == late.position > report.position:
            # A barrier accepts what a member released after it had lapsed.
            return
        ever = positions.ever.get(move.queue, report)
        if report.position < position <= ever.position:
            # Nobody read the topic for a while, and the engine still knows its position.
            return
        if position > report.position and step.whole:
            if stale is not None and position == stale.position:
                text = f"{_queue(move)} starts at {_text(position)}, which only a stale report has"
                says = "this report is of no grant in force"
                verdicts.add_finding("S4", text, evidence_of(stale.row, says), granted)
            elif not self._is_learnt(step, move, position):
                text = f"{_queue(move)} starts beyond every position reached: it skips messages"
                verdicts.add_finding("S5", text, known, granted)
        elif position < report.position:
            self._judge_below(step, move, report)

    def _judge_below(self, step: Step, move: MoveRecord, report: PositionReport) -> None:
        """Judge a start below a reached position."""
        positions, verdicts, position = step.group.positions, self._verdicts, move.position
        assert position is not None
        if move.stage == "gated" and _is_doubted(step, move, report):
            # The successor begins where that release says; the engine believes it later.
            verdicts.count("S5", "starts behind releases beyond every reported end")
        elif _has_read(step.decision.cut, report) and not _is_of_another_life(step, move, report):
            granted = evidence_of(step.decision.row, f"{move.text}, starts at {_text(position)}")
            known = evidence_of(report.row, f"reached {_text(report.position)}")
            text = f"{_queue(move)} starts below the position reached: messages are read again"
            verdicts.add_finding("S5", text, known, granted)
        elif not step.behind:
            # From here on the engine knows this position, and no start may be below it.
            positions.reached[move.queue] = PositionReport(position, step.decision.row)

    def _judge_first(self, step: Step, move: MoveRecord, position: Position) -> None:
        if not step.whole or self._is_learnt(step, move, position):
            return
        ever = step.group.positions.ever.get(move.queue)
        unread = move.why not in (*_LEARNT, _FORMER)
        if unread and (step.behind or ever is None or position <= ever.position):
            # Only the engine knows the position of a queue that nobody read for a while, or that it
            # read again when it rebuilt its state.
            self._verdicts.count("S5", "starts of unread queues where the engine has them")
            return
        if move.why == _FORMER and position.offset in step.group.positions.formers.get(
            move.queue, ()
        ):
            self._verdicts.count("S5", "starts of frozen members")
            return
        bounds = step.group.positions.bounds.get(move.queue)
        bounds_text = "no bounds of it are known"
        if bounds is not None and bounds.told:
            bounds_text = f"known bounds are {sorted(bounds.told)}"
        self._verdicts.add_finding(
            "S5",
            f"{_queue(move)} starts at {_text(position)} because of {move.why}: {bounds_text}",
            evidence_of(step.decision.row, move.text),
        )

    @staticmethod
    def _is_learnt(step: Step, move: MoveRecord, position: Position) -> bool:
        """Tell whether a bridge reported this start."""
        bounds = step.group.positions.bounds.get(move.queue)
        return move.why in _LEARNT and bounds is not None and position.offset in bounds.told


def _is_of_another_life(step: Step, move: MoveRecord, report: PositionReport) -> bool:
    """Tell whether a driver may think that a report is of the topic's former identity.

    A driver that learns of the recreated topic in a barrier cannot place reports without an
    identity.
    """
    if report.identity is not None:
        return False
    void = step.group.positions.void.get(move.queue.topic)
    restarted = void is not None and step.decision.cut.generation > void.generation
    return restarted and move.why == "minimum"


def _is_doubted(step: Step, move: MoveRecord, report: PositionReport) -> bool:
    """Tell whether a report lies beyond every end reported before the decision.

    The engine puts such a report aside until somebody reports an end that covers it (rule H30).
    """
    return step.group.positions.is_beyond(move.queue, report.position)


def _has_read(cut: Cut, report: PositionReport) -> bool:
    """Tell whether a driver read a report: its state began before it, its cut ends behind it."""
    row = report.row
    ends = cut.positions.get(row.topic)
    if ends is None:
        # It is a decision, already judged.
        return True
    began = 0 if cut.origin is None else cut.origin.begin.get(row.topic, {}).get(row.partition, 0)
    return began <= row.offset < ends.get(row.partition, 0)


def _queue(move: MoveRecord) -> str:
    return "/".join(map(str, move.queue))


def _text(position: Position) -> str:
    return str(position.offset) if not position.reset else f"[{position.reset}, {position.offset}]"
