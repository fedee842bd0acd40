"""S2: nobody is granted a queue on which somebody else may be working."""

from collections.abc import Iterable, Sequence

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import EarlyWork, GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.handover_copies import Copies
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.verdicts import Docket, Evidence, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import MoveRecord
from fairlead.wire.raw import RawRecord

__all__ = ["GrantsJudge"]


class GrantsJudge:
    """Judges every grant against what was unresolved when it was made."""

    def __init__(self, docket: Docket, copies: Copies) -> None:
        self._docket, self._copies = docket, copies
        self._clock_off: dict[tuple[int, int], int] = {}
        self._again: dict[str, tuple[int, list[ToldAdd]]] = {}

    def step(self, step: Step) -> None:
        """Judge the clock, the grants and the resolutions of one decision."""
        self._judge_clock(step)
        self._judge_again(step)
        moved: list[ToldAdd] = []
        for move in step.audit.moves:
            if move.stage == "resolved":
                self._judge_resolved(step, move)
            elif move.stage in ("gated", "granted"):
                adds = [add for add in step.adds if _is_of(add, move)]
                self._judge_grant(step, move, adds)
                moved += adds
        again = [add for add in step.adds if add not in moved]
        self._again.setdefault(step.audit.group, (step.audit.at_ms, []))[1].extend(again)

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """Judge an add that has no decision."""
        group = facts.group(add.group)
        self._judge_add(facts, group, add, evidence_of(add.row, "an add without a decision"))

    def end(self, ending: Ending) -> None:
        """Judge work that began before the grant in front of it was seen to end."""
        for group in ending.facts.groups.values():
            for early, released in group.ended:
                proof = evidence_of(released, "the release, later")
                self._judge_early(ending.facts, group, early, proof, released)
            for contradiction in group.contradictions:
                self._docket.find(contradiction.number, contradiction.text, *contradiction.slice)
            for early in group.early.values():
                says = f"{early.older.client_id} never released it"
                proof = evidence_of(early.older.issued, says)
                self._judge_early(ending.facts, group, early, proof)

    def _judge_clock(self, step: Step) -> None:
        audit = step.audit
        if step.behind:
            return
        off = audit.clock_ms - step.facts.clock.clock_ms
        origin = audit.cut.origin
        if origin is not None and not audit.clock_ms:
            # Nothing was read yet by which its clock could be told from the log's.
            return
        if not step.whole or origin is not None:
            # The log, or an engine that lost its state, begins in the middle: how far the clock was
            # then is taken from there.
            began = 0 if origin is None else origin.generation
            off -= self._clock_off.setdefault((audit.cut.shard, began), off)
        if not step.whole:
            reason = "heartbeats begin in the middle: what was granted before them is not judged"
            self._docket.excuse("S2", reason)
        self._docket.look("S2", "log clocks")
        if off:
            text = f"{audit.text} has the clock {audit.clock_ms}: {off:+} ms beside the log's"
            self._docket.find("S2", text, evidence_of(audit.row, "this is the decision"))

    def _judge_again(self, step: Step) -> None:
        """Judge what was said again to members that seemed to have missed it.

        Where two decisions rest on one newest record, nobody knows which of them said it: it is
        judged when something newer was read.
        """
        at_ms, adds = self._again.get(step.audit.group, (0, []))
        if at_ms != step.audit.at_ms:
            for add in adds:
                self._judge_add(step.facts, step.group, add, evidence_of(add.row, "the add, again"))
            self._again.pop(step.audit.group, None)

    def _judge_grant(self, step: Step, move: MoveRecord, adds: Sequence[ToldAdd]) -> None:
        evidence = evidence_of(step.audit.row, f"{step.audit.text}: {move.text}")
        if move.unsafe:
            self._docket.look("S2", "unsafe grants, exempt")
        elif adds:
            for add in adds:
                # Whoever believes a decision that tells of no gate waits for none.
                told = add if move.stage == "gated" else add._replace(after=())
                self._judge_add(step.facts, step.group, told, evidence)
        elif move.stage == "granted":
            self._docket.look("S2", "grants")
            missing = step.group.open_grants(move.queue, move.epoch)
            self._accuse(step, missing, [evidence], move.text)
        else:
            self._docket.excuse("S2", "gates of some grants: their assignments were compacted away")

    def _judge_add(
        self, facts: ShardFacts, group: GroupFacts, add: ToldAdd, evidence: Evidence
    ) -> None:
        told = not evidence.place.startswith(add.row.topic)
        if not told and (group.rule("mode") == "eager" or group.rule("on_mute") == "force"):
            # Of an add that no move tells of it is not known whether it is marked unsafe.
            return
        self._docket.look("S2", "gated grants" if add.after else "grants")
        gates = {(gate.member.client_id, gate.epoch) for gate in add.after}
        missing = [
            grant
            for grant in group.open_grants(add.queue, add.epoch)
            if (grant.client_id, grant.epoch) not in gates
        ]
        text = f"{_queue(add.queue)} granted to {add.member.client_id} under {_epoch(add.epoch)}"
        proof = [evidence, evidence_of(add.row, "the add")] if told else [evidence]
        self._accuse((facts, group), missing, proof, text)

    def _accuse(
        self,
        known: Step | tuple[ShardFacts, GroupFacts],
        missing: Iterable[GrantFacts],
        proof: Sequence[Evidence],
        text: str,
    ) -> None:
        facts, group = (known.facts, known.group) if isinstance(known, Step) else known
        for grant in missing:
            self._docket.find(
                "S2",
                f"{text}, while {grant.client_id} may work under {_epoch(grant.epoch)}, which is "
                "no gate of it",
                evidence_of(grant.issued, grant.text),
                facts.silence(group, grant),
                *proof,
            )

    def _judge_resolved(self, step: Step, move: MoveRecord) -> None:
        grant = step.group.grants.get(move.queue, {}).get(move.epoch)
        self._docket.look("S2", "resolutions")
        if grant is None or grant.resolved is not None or grant.overtaken:
            # Of one that nobody waits for, a late acknowledgement is enough (rule H26).
            return
        self._docket.find(
            "S2",
            f"{move.text}, and nothing read by then resolves it",
            evidence_of(grant.issued, grant.text),
            step.facts.silence(step.group, grant),
            evidence_of(step.audit.row, f"{step.audit.text} says that it is resolved"),
        )

    def _judge_early(
        self,
        facts: ShardFacts,
        group: GroupFacts,
        early: EarlyWork,
        proof: Evidence,
        released: RawRecord | None = None,
    ) -> None:
        self._docket.look("S2", "starts behind a gate")
        # Brokers' clocks may differ by a little.
        until_ms = early.worked.append_ms + facts.tick_ms
        if released is not None and released.append_ms <= until_ms:
            return
        told = self._copies.tell(group.name, early, until_ms)
        if told is None:
            reason = "starts without a release: the handovers of that time are not there"
            self._docket.excuse("S2", reason)
        elif not told:
            self._accuse_early(early, proof)

    def _accuse_early(self, early: EarlyWork, *proof: Evidence) -> None:
        older, newer = early.older, early.newer
        self._docket.find(
            "S2",
            f"{newer.client_id} worked on {_queue(newer.queue)} under {_epoch(newer.epoch)} before "
            f"{older.client_id} had let go of it under {_epoch(older.epoch)}",
            evidence_of(older.issued, older.text),
            *proof,
            evidence_of(early.worked, f"{newer.client_id} reports work"),
        )


def _is_of(add: ToldAdd, move: MoveRecord) -> bool:
    """Tell whether an add is what a move tells of."""
    return (add.queue, add.epoch, add.member.client_id) == (move.queue, move.epoch, move.client_id)


def _queue(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))


def _epoch(epoch: Epoch) -> str:
    return f"{epoch[0]}.{epoch[1]}"
