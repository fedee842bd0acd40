"""S2: the engine grants no queue on which another client may be working."""

from collections.abc import Iterable, Sequence

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import EarlyWork, GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.handover_copies import Copies
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.verdicts import Evidence, Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import MoveRecord
from fairlead.wire.raw import RawRecord

__all__ = ["GrantsJudge"]


class GrantsJudge:
    """Judges every grant against the older grants that were unresolved when it was made."""

    def __init__(self, verdicts: Verdicts, copies: Copies) -> None:
        self._verdicts, self._copies = verdicts, copies
        self._clock_off: dict[tuple[int, int], int] = {}
        self._again: dict[str, tuple[int, list[IssuedAdd]]] = {}

    def step(self, step: Step) -> None:
        """Judge the clock, the grants and the resolutions of one decision."""
        self._judge_clock(step)
        self._judge_again(step)
        moved: list[IssuedAdd] = []
        for move in step.decision.moves:
            if move.stage == "resolved":
                self._judge_resolved(step, move)
            elif move.stage in ("gated", "granted"):
                adds = [add for add in step.adds if _is_of(add, move)]
                self._judge_grant(step, move, adds)
                moved += adds
        again = [add for add in step.adds if add not in moved]
        self._again.setdefault(step.decision.group, (step.decision.at_ms, []))[1].extend(again)

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge an add that has no decision."""
        group = facts.group(add.group)
        self._judge_add(facts, group, add, evidence_of(add.row, "an add without a decision"))

    def finish(self, end: ShardEnd) -> None:
        """Judge work that began before the older grant ended."""
        for group in end.facts.groups.values():
            for early, released in group.ended:
                proof = evidence_of(released, "the release, later")
                self._judge_early(end.facts, group, early, proof, released)
            for contradiction in group.contradictions:
                self._verdicts.add_finding(
                    contradiction.number, contradiction.text, *contradiction.slice
                )
            for early in group.early.values():
                says = f"{early.older.client_id} never released it"
                proof = evidence_of(early.older.issued, says)
                self._judge_early(end.facts, group, early, proof)

    def _judge_clock(self, step: Step) -> None:
        decision = step.decision
        if step.behind:
            return
        off = decision.clock_ms - step.facts.clock.clock_ms
        origin = decision.cut.origin
        if origin is not None and not decision.clock_ms:
            # The engine had read nothing yet that moves its clock.
            return
        if not step.whole or origin is not None:
            # The log, or an engine that lost its state, begins in the middle. The first decision
            # sets how far the two clocks are apart.
            began = 0 if origin is None else origin.generation
            off -= self._clock_off.setdefault((decision.cut.shard, began), off)
        if not step.whole:
            reason = "grants from before the first recorded heartbeat"
            self._verdicts.excuse("S2", reason)
        self._verdicts.count("S2", "log clocks")
        if off:
            text = f"{decision.text} has the clock {decision.clock_ms}, {off:+} ms off the log's"
            self._verdicts.add_finding(
                "S2", text, evidence_of(decision.row, "this is the decision")
            )

    def _judge_again(self, step: Step) -> None:
        """Judge the adds that the engine repeated to members which seemed to have missed them.

        Two decisions with the same newest record do not show which of them repeated an add, so the
        judge waits until a decision has read something newer.
        """
        at_ms, adds = self._again.get(step.decision.group, (0, []))
        if at_ms != step.decision.at_ms:
            for add in adds:
                repeated = evidence_of(add.row, "the repeated add")
                self._judge_add(step.facts, step.group, add, repeated)
            self._again.pop(step.decision.group, None)

    def _judge_grant(self, step: Step, move: MoveRecord, adds: Sequence[IssuedAdd]) -> None:
        evidence = evidence_of(step.decision.row, f"{step.decision.text}: {move.text}")
        if move.unsafe:
            self._verdicts.count("S2", "exempt unsafe grants")
        elif adds:
            for add in adds:
                # A client that believes a decision without a gate waits for nobody.
                issued = add if move.stage == "gated" else add._replace(after=())
                self._judge_add(step.facts, step.group, issued, evidence)
        elif move.stage == "granted":
            self._verdicts.count("S2", "grants")
            missing = step.group.open_grants(move.queue, move.epoch)
            self._accuse(step, missing, [evidence], move.text)
        else:
            reason = "gates of some grants: their assignments were compacted away"
            self._verdicts.excuse("S2", reason)

    def _judge_add(
        self, facts: ShardFacts, group: GroupFacts, add: IssuedAdd, evidence: Evidence
    ) -> None:
        has_decision = not evidence.place.startswith(add.row.topic)
        if not has_decision and (group.rule("mode") == "eager" or group.rule("on_mute") == "force"):
            # No move names this add, so nobody knows whether the decision marked it unsafe.
            return
        self._verdicts.count("S2", "gated grants" if add.after else "grants")
        gates = {(gate.member.client_id, gate.epoch) for gate in add.after}
        missing = [
            grant
            for grant in group.open_grants(add.queue, add.epoch)
            if (grant.client_id, grant.epoch) not in gates
        ]
        text = f"{_queue(add.queue)} granted to {add.member.client_id} under {_epoch(add.epoch)}"
        proof = [evidence, evidence_of(add.row, "the add")] if has_decision else [evidence]
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
            self._verdicts.add_finding(
                "S2",
                f"{text}, while {grant.client_id} may work under {_epoch(grant.epoch)} and no gate "
                "names it",
                evidence_of(grant.issued, grant.text),
                facts.silence(group, grant),
                *proof,
            )

    def _judge_resolved(self, step: Step, move: MoveRecord) -> None:
        grant = step.group.grants.get(move.queue, {}).get(move.epoch)
        self._verdicts.count("S2", "resolutions")
        if grant is None or grant.resolved is not None or grant.overtaken:
            # Nobody waits for an overtaken grant: a late acknowledgement is enough (rule H26).
            return
        self._verdicts.add_finding(
            "S2",
            f"{move.text}, though no record that the engine had read resolves it",
            evidence_of(grant.issued, grant.text),
            step.facts.silence(step.group, grant),
            evidence_of(step.decision.row, f"{step.decision.text} says that it is resolved"),
        )

    def _judge_early(
        self,
        facts: ShardFacts,
        group: GroupFacts,
        early: EarlyWork,
        proof: Evidence,
        released: RawRecord | None = None,
    ) -> None:
        self._verdicts.count("S2", "starts behind a gate")
        # Brokers' clocks may differ by a little.
        until_ms = early.worked.append_ms + facts.tick_ms
        if released is not None and released.append_ms <= until_ms:
            return
        readable = self._copies.was_readable(group.name, early, until_ms)
        if readable is None:
            reason = "starts without a release: the handovers topic no longer holds that time"
            self._verdicts.excuse("S2", reason)
        elif not readable:
            self._accuse_early(early, proof)

    def _accuse_early(self, early: EarlyWork, *proof: Evidence) -> None:
        older, newer = early.older, early.newer
        self._verdicts.add_finding(
            "S2",
            f"{newer.client_id} worked on {_queue(newer.queue)} under {_epoch(newer.epoch)} before "
            f"{older.client_id} had released it under {_epoch(older.epoch)}",
            evidence_of(older.issued, older.text),
            *proof,
            evidence_of(early.worked, f"{newer.client_id} reports work"),
        )


def _is_of(add: IssuedAdd, move: MoveRecord) -> bool:
    """Tell whether a move names this add."""
    return (add.queue, add.epoch, add.member.client_id) == (move.queue, move.epoch, move.client_id)


def _queue(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))


def _epoch(epoch: Epoch) -> str:
    return f"{epoch[0]}.{epoch[1]}"
