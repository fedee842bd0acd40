"""S10 and S12: a decision names causes of its own group only, and moves nothing without a cause."""

from collections.abc import Mapping
from typing import Any, Final

from fairlead.core.records import ALL_GROUPS
from fairlead.verify.facts import ShardFacts
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.verdicts import Evidence, Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames

__all__ = ["CausesJudge"]

_OF_GROUP: Final = frozenset({"heartbeats", "releases", "control"})
_STICKY: Final = "STICKY"
_GOING: Final = frozenset({"client_left", "client_expired"})


class CausesJudge:
    """Judges the causes of decisions, and how much a single one moves."""

    def __init__(self, verdicts: Verdicts, names: TopicNames, shards: int) -> None:
        self._verdicts, self._names, self._shards = verdicts, names, shards

    def step(self, step: Step) -> None:
        """Judge one decision."""
        decision = step.decision
        for cause in decision.causes:
            if cause.get("at") is not None:
                self._judge_cause(step, cause)
        dropped = [move for move in decision.moves if move.stage == "dropped"]
        if not decision.moves:
            return
        self._verdicts.count("S12", "decisions with moves")
        if not decision.causes and not self._has_event(step):
            text = f"{decision.text} moves {len(decision.moves)} queues without a cause"
            self._verdicts.add_finding(
                "S12", text, evidence_of(decision.row, decision.moves[0].text)
            )
        if decision.strategy == _STICKY and dropped and _is_plain(step):
            self._judge_sticky(decision, {move.client_id for move in dropped}, len(dropped))

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge nothing: the causes of such an add are unknown."""

    def finish(self, end: ShardEnd) -> None:
        """Judge nothing: each decision was judged by itself."""

    @staticmethod
    def _has_event(step: Step) -> bool:
        """Tell whether the log shows, for each queue that moves, that a grant of it ended.

        No cause names a member that leaves and dies before it has released everything.
        """
        ended = {
            move.queue
            for move in step.decision.moves
            if move.stage == "resolved"
            and (grant := step.group.grants.get(move.queue, {}).get(move.epoch)) is not None
            and (grant.resolved is not None or grant.overtaken)
        }
        return all(move.queue in ended for move in step.decision.moves)

    def _judge_cause(self, step: Step, cause: Mapping[str, Any]) -> None:
        decision = step.decision
        topic, partition, offset = cause["at"]
        suffix = self._names.suffix(topic)
        self._verdicts.count("S10", "causes")
        own = partition_of_group(decision.group, self._shards)
        read = decision.cut.positions.get(topic, {}).get(partition, 0)
        wrong = ""
        if suffix in _OF_GROUP and partition != own:
            wrong = f"it stands in partition {partition}, and the group's partition is {own}"
        elif offset >= read:
            wrong = f"the decision had read only up to offset {read}"
        elif (speaker := step.facts.speakers.get((topic, partition, offset))) not in (
            None,
            ALL_GROUPS,
            decision.group,
        ):
            wrong = f"that record is of group {speaker}"
        if wrong:
            text = f"{decision.text} names {topic}/{partition}@{offset} as a cause: {wrong}"
            place = Evidence(f"{topic}/{partition}@{offset}", str(cause.get("kind")))
            self._verdicts.add_finding("S10", text, place, evidence_of(decision.row, decision.text))

    def _judge_sticky(self, decision: DecisionRecord, losers: set[str], dropped: int) -> None:
        kinds = [str(cause.get("kind")) for cause in decision.causes]
        clients = {cause.get("client_id") for cause in decision.causes}
        if kinds == ["client_joined"] and decision.members:
            self._verdicts.count("S12", "single joins under STICKY")
            share = -(-decision.state.queues // len(decision.members))
            if dropped > share:
                text = f"{decision.text} moves {dropped} queues for one join, more than {share}"
                self._verdicts.add_finding("S12", text, evidence_of(decision.row, decision.text))
        elif kinds and set(kinds) <= _GOING:
            self._verdicts.count("S12", "departures under STICKY")
            others = sorted(losers - {str(client) for client in clients})
            if others:
                text = f"{decision.text} takes queues from {', '.join(others)}, which stay"
                self._verdicts.add_finding("S12", text, evidence_of(decision.row, decision.text))


def _is_plain(step: Step) -> bool:
    """Tell whether the group wants an even share and nothing else, and had an even share before."""
    rules = {*step.group.rules, *step.group.defaults}
    if any("/" in name or name in ("designated", "weighing") for name in rules):
        return False
    alive = [each for each in step.group.members.values() if not each.left and not each.lapsed]
    joined = {cause.get("client_id") for cause in step.decision.causes}
    held = dict.fromkeys({each.key.client_id for each in alive} - joined, 0)
    for grants in step.group.grants.values():
        newest = grants[max(grants)]
        if newest.resolved is None and newest.dropped_ms is None and newest.client_id in held:
            held[newest.client_id] += 1
    even = max(held.values(), default=0) - min(held.values(), default=0) <= 1
    return even and len({member.topics for member in alive}) == 1
