"""S3: epochs only grow, and nobody else is given one that was given."""

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import Generation
from fairlead.verify.facts import ShardFacts
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.verdicts import Docket, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.raw import RawRecord

__all__ = ["EpochsJudge"]


class EpochsJudge:
    """Follows the epochs of groups and of queues, generation by generation.

    ``late`` counts decisions of drivers that were superseded before.
    """

    def __init__(self, docket: Docket, claims: dict[int, Generation]) -> None:
        """Begin.

        Args:
            docket: takes what is found.
            claims: by generation.
        """
        self.late = 0
        self._docket, self._claims = docket, claims
        self._groups: dict[tuple[str, int], DecisionRecord] = {}
        self._newest: dict[int, int] = {}
        self._queues: dict[tuple[str, MessageQueue], tuple[Epoch, str, RawRecord]] = {}

    def step(self, step: Step) -> None:
        """Judge a decision's own epoch, then those of its grants."""
        audit = step.audit
        self._judge_generation(audit)
        place = (audit.group, audit.cut.generation)
        before = self._groups.get(place)
        self._docket.look("S3", "decisions")
        if before is not None and audit.epoch < before.epoch:
            self._docket.find(
                "S3",
                f"decisions of {audit.group} go back from {_text(before.epoch)} to "
                f"{_text(audit.epoch)} under generation {audit.cut.generation}",
                evidence_of(before.row, before.text),
                evidence_of(audit.row, f"{audit.text}, behind it"),
            )
        self._groups[place] = audit
        for move in audit.moves:
            if move.stage in ("gated", "granted"):
                self._judge_queue((audit.group, move.queue), move.epoch, move.client_id, audit.row)

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """An add without a decision uses its epoch up like any other."""
        del facts
        self._judge_queue((add.group, add.queue), add.epoch, add.member.client_id, add.row)

    def end(self, ending: Ending) -> None:
        """Nothing is left to be judged."""

    def _judge_generation(self, audit: DecisionRecord) -> None:
        shard, generation = audit.cut.shard, audit.cut.generation
        newest = self._newest.get(shard, 0)
        self.late += generation < newest
        if generation <= newest:
            return
        self._newest[shard] = generation
        self._docket.look("S3", "generations of shards")
        if generation not in self._claims:
            text = f"generation {generation} decides, and the generations topic has no claim of it"
            self._docket.find("S3", text, evidence_of(audit.row, audit.text))
        if audit.epoch.generation > generation:
            text = f"{audit.text} has an epoch above the generation {generation} that decided"
            self._docket.find("S3", text, evidence_of(audit.row, "this is the decision"))

    def _judge_queue(
        self, place: tuple[str, MessageQueue], epoch: Epoch, client_id: str, row: RawRecord
    ) -> None:
        self._docket.look("S3", "grants")
        known, holder, first = self._queues.get(place, (Epoch(0, 0), client_id, row))
        queue = "/".join(map(str, place[1]))
        if epoch == known and holder != client_id:
            self._docket.find(
                "S3",
                f"{queue} is granted under {_text(epoch)} to two clients, {holder} and {client_id}",
                evidence_of(first, f"to {holder}"),
                evidence_of(row, f"to {client_id}"),
            )
        elif epoch < known and epoch.generation == known.generation:
            self._docket.find(
                "S3",
                f"{queue} is granted under {_text(epoch)} after {_text(known)}",
                evidence_of(first, f"under {_text(known)} to {holder}"),
                evidence_of(row, f"under {_text(epoch)} to {client_id}"),
            )
        if epoch > known:
            self._queues[place] = epoch, client_id, row


def _text(epoch: Epoch) -> str:
    return f"{epoch[0]}.{epoch[1]}"
