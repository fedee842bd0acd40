"""S3: epochs only grow, and no two clients get the same epoch of a queue."""

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import Generation
from fairlead.verify.facts import ShardFacts
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.verdicts import Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.raw import RawRecord

__all__ = ["EpochsJudge"]


class EpochsJudge:
    """Follows the epochs of groups and of queues, generation by generation.

    ``late`` counts decisions that a driver wrote after a newer driver had decided.
    """

    def __init__(self, verdicts: Verdicts, claims: dict[int, Generation]) -> None:
        """Begin.

        Args:
            verdicts: collects the findings.
            claims: by generation.
        """
        self.late = 0
        self._verdicts, self._claims = verdicts, claims
        self._groups: dict[tuple[str, int], DecisionRecord] = {}
        self._newest: dict[int, int] = {}
        self._queues: dict[tuple[str, MessageQueue], tuple[Epoch, str, RawRecord]] = {}

    def step(self, step: Step) -> None:
        """Judge a decision's own epoch, then those of its grants."""
        decision = step.decision
        self._judge_generation(decision)
        place = (decision.group, decision.cut.generation)
        before = self._groups.get(place)
        self._verdicts.count("S3", "decisions")
        if before is not None and decision.epoch < before.epoch:
            self._verdicts.add_finding(
                "S3",
                f"decisions of {decision.group} go back from {_text(before.epoch)} to "
                f"{_text(decision.epoch)} under generation {decision.cut.generation}",
                evidence_of(before.row, before.text),
                evidence_of(decision.row, f"{decision.text}, behind it"),
            )
        self._groups[place] = decision
        for move in decision.moves:
            if move.stage in ("gated", "granted"):
                self._judge_queue(
                    (decision.group, move.queue), move.epoch, move.client_id, decision.row
                )

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge the epoch of an add without a decision as that of any other add."""
        del facts
        self._judge_queue((add.group, add.queue), add.epoch, add.member.client_id, add.row)

    def finish(self, end: ShardEnd) -> None:
        """Judge nothing: each decision was judged by itself."""

    def _judge_generation(self, decision: DecisionRecord) -> None:
        shard, generation = decision.cut.shard, decision.cut.generation
        newest = self._newest.get(shard, 0)
        self.late += generation < newest
        if generation <= newest:
            return
        self._newest[shard] = generation
        self._verdicts.count("S3", "generations of shards")
        if generation not in self._claims:
            text = f"generation {generation} decides without a claim in the generations topic"
            self._verdicts.add_finding("S3", text, evidence_of(decision.row, decision.text))
        if decision.epoch.generation > generation:
            text = f"{decision.text} has an epoch above the generation {generation} that decided"
            self._verdicts.add_finding(
                "S3", text, evidence_of(decision.row, "this is the decision")
            )

    def _judge_queue(
        self, place: tuple[str, MessageQueue], epoch: Epoch, client_id: str, row: RawRecord
    ) -> None:
        self._verdicts.count("S3", "grants")
        known, holder, first = self._queues.get(place, (Epoch(0, 0), client_id, row))
        queue = "/".join(map(str, place[1]))
        if epoch == known and holder != client_id:
            self._verdicts.add_finding(
                "S3",
                f"{queue} is granted to {holder} and to {client_id} under epoch {_text(epoch)}",
                evidence_of(first, f"to {holder}"),
                evidence_of(row, f"to {client_id}"),
            )
        elif epoch < known and epoch.generation == known.generation:
            self._verdicts.add_finding(
                "S3",
                f"{queue} is granted to {client_id} under {_text(epoch)}, after {_text(known)}",
                evidence_of(first, f"under {_text(known)} to {holder}"),
                evidence_of(row, f"under {_text(epoch)} to {client_id}"),
            )
        if epoch > known:
            self._queues[place] = epoch, client_id, row


def _text(epoch: Epoch) -> str:
    return f"{epoch[0]}.{epoch[1]}"
