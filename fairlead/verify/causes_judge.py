"""S10 and S12: what a decision rests on is its own group's, and nothing moves without a cause."""

from collections.abc import Mapping
from typing import Any, Final

from fairlead.core.records import ALL_GROUPS
from fairlead.verify.facts import ShardFacts
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.verdicts import Docket, Evidence, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames

__all__ = ["CausesJudge"]

_OF_GROUP: Final = frozenset({"heartbeats", "releases", "control"})
_STICKY: Final = "STICKY"
_GOING: Final = frozenset({"client_left", "client_expired"})


class CausesJudge:
    """Judges the causes of decisions, and how much a single one moves."""

    def __init__(self, docket: Docket, names: TopicNames, shards: int) -> None:
        self._docket, self._names, self._shards = docket, names, shards

    def step(self, step: Step) -> None:
        """Judge one decision."""
        audit = step.audit
        for cause in audit.causes:
            if cause.get("at") is not None:
                self._judge_cause(step, cause)
        dropped = [move for move in audit.moves if move.stage == "dropped"]
        if not audit.moves:
            return
        self._docket.look("S12", "decisions with moves")
        if not audit.causes and not self._has_event(step):
            text = f"{audit.text} moves {len(audit.moves)} queues without a cause"
            self._docket.find("S12", text, evidence_of(audit.row, audit.moves[0].text))
        if audit.strategy == _STICKY and dropped and _is_plain(step):
            self._judge_sticky(audit, {move.client_id for move in dropped}, len(dropped))

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """Nothing is known of its causes."""

    def end(self, ending: Ending) -> None:
        """Nothing is left to be judged."""

    @staticmethod
    def _has_event(step: Step) -> bool:
        """Tell whether each queue that moves does so since a grant of it ended, by the log.

        A member that leaves, and dies before it has released everything, is named by no cause.
        """
        ended = {
            move.queue
            for move in step.audit.moves
            if move.stage == "resolved"
            and (grant := step.group.grants.get(move.queue, {}).get(move.epoch)) is not None
            and (grant.resolved is not None or grant.overtaken)
        }
        return all(move.queue in ended for move in step.audit.moves)

    def _judge_cause(self, step: Step, cause: Mapping[str, Any]) -> None:
        audit = step.audit
        topic, partition, offset = cause["at"]
        suffix = self._names.suffix(topic)
        self._docket.look("S10", "causes")
        own = partition_of_group(audit.group, self._shards)
        read = audit.cut.positions.get(topic, {}).get(partition, 0)
        wrong = ""
        if suffix in _OF_GROUP and partition != own:
            wrong = f"it stands in partition {partition}, the group's is {own}"
        elif offset >= read:
            wrong = f"the cut had read below {read}"
        elif (speaker := step.facts.speakers.get((topic, partition, offset))) not in (
            None,
            ALL_GROUPS,
            audit.group,
        ):
            wrong = f"it speaks for group {speaker}"
        if wrong:
            text = f"{audit.text} names {topic}/{partition}@{offset} as a cause: {wrong}"
            place = Evidence(f"{topic}/{partition}@{offset}", str(cause.get("kind")))
            self._docket.find("S10", text, place, evidence_of(audit.row, audit.text))

    def _judge_sticky(self, audit: DecisionRecord, losers: set[str], dropped: int) -> None:
        kinds = [str(cause.get("kind")) for cause in audit.causes]
        clients = {cause.get("client_id") for cause in audit.causes}
        if kinds == ["client_joined"] and audit.members:
            self._docket.look("S12", "single joins under STICKY")
            share = -(-audit.state.queues // len(audit.members))
            if dropped > share:
                text = f"{audit.text} moves {dropped} queues for one join, a share is {share}"
                self._docket.find("S12", text, evidence_of(audit.row, audit.text))
        elif kinds and set(kinds) <= _GOING:
            self._docket.look("S12", "leaves and deaths under STICKY")
            others = sorted(losers - {str(client) for client in clients})
            if others:
                text = f"{audit.text} takes queues from {', '.join(others)}, who stay"
                self._docket.find("S12", text, evidence_of(audit.row, audit.text))


def _is_plain(step: Step) -> bool:
    """Tell whether an even share is all that a group asks for, and whether it was even before."""
    rules = {*step.group.rules, *step.group.defaults}
    if any("/" in name or name in ("designated", "weighing") for name in rules):
        return False
    alive = [each for each in step.group.members.values() if not each.left and not each.lapsed]
    joined = {cause.get("client_id") for cause in step.audit.causes}
    held = dict.fromkeys({each.key.client_id for each in alive} - joined, 0)
    for grants in step.group.grants.values():
        newest = grants[max(grants)]
        if newest.resolved is None and newest.dropped_ms is None and newest.client_id in held:
            held[newest.client_id] += 1
    even = max(held.values(), default=0) - min(held.values(), default=0) <= 1
    return even and len({member.topics for member in alive}) == 1
