"""S9, S14, S15, L3: grants go to live members, one process of a client id; no live one lapses."""

from typing import Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.verify.facts import ShardFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import IssuedAdd, IssuedGrants, SetEntry
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.verdicts import Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import DecisionRecord, MoveRecord

__all__ = ["MembersJudge"]

_TOLD_WITHIN_MS: Final = 10_000
"""How long a driver may take to notify a process that another one has its client id."""


class MembersJudge:
    """Judges which members get a queue, and which the engine calls dead.

    ``routes_whole``: no route was compacted away, so the route in force is known at each place.
    """

    def __init__(self, verdicts: Verdicts, issued: IssuedGrants, *, routes_whole: bool) -> None:
        self._verdicts = verdicts
        self._losers = dict(issued.losers)
        self._unknown = issued.unknown
        self._routes_whole = routes_whole
        self._owed: set[tuple[str, MemberKey]] = set()
        """Members that some decision should have notified of a greater process with their id."""
        self._dead: dict[tuple[str, int, MemberKey], int] = {}
        """The log clock when a driver named a death: it names each death once."""

    def step(self, step: Step) -> None:
        """Judge the new grants and the deaths of a decision."""
        decision, group = step.decision, step.group
        members = {(add.queue, add.epoch): add.member for add in step.adds}
        for move in decision.moves:
            known = move.epoch in group.grants.get(move.queue, {})
            if step.behind:
                # The driver had not read what shows who is there now.
                self._verdicts.excuse("S9", "grants of drivers that others had overtaken")
            elif move.stage in ("gated", "granted") and not known:
                member = members.get((move.queue, move.epoch))
                self._judge_grant(step, move, member)
        for cause in decision.causes:
            if cause.get("kind") == "client_expired" and cause.get("at") is None:
                self._judge_death(step, str(cause.get("client_id")))
        for each in group.members.values():
            if each.rival is not None and not each.gone and not each.rival.gone:
                self._owed.add((decision.group, each.key))

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge nothing: the decision of this add was never written."""

    def finish(self, end: ShardEnd) -> None:
        """Judge whether processes with one client id got a notice, and sets against grants."""
        for entry in self._unknown:
            self._judge_entry(entry, end.facts)
        for group in end.facts.groups.values():
            for loser in group.members.values():
                winner = loser.rival
                if winner is None:
                    continue
                self._verdicts.count("S14", "processes with the client id of another")
                if (group.name, loser.key) in self._losers or loser.gone:
                    continue
                late = end.facts.ticked_ms - loser.rival_ms > _TOLD_WITHIN_MS
                if (group.name, loser.key) not in self._owed and (winner.gone or not late):
                    continue
                text = f"{loser.key.client_id} runs twice, and its lesser process got no notice"
                self._verdicts.add_finding(
                    "S14",
                    text,
                    evidence_of(winner.seen, "the greater process lives"),
                    evidence_of(loser.seen, f"so does incarnation {loser.key.incarnation}"),
                )

    def _judge_entry(self, entry: SetEntry, facts: ShardFacts) -> None:
        """Judge an entry of a set without an add: a decision may name the grant."""
        group = facts.groups.get(entry.group)
        if group is None:
            return
        grant = group.grants.get(entry.queue, {}).get(entry.epoch)
        if grant is not None and grant.client_id == entry.member.client_id:
            return
        queue = f"{'/'.join(map(str, entry.queue))} under {entry.epoch[0]}.{entry.epoch[1]}"
        text = f"the set of {entry.member.client_id} has {queue}, which it was never granted"
        self._verdicts.add_finding(
            "S15", text, evidence_of(entry.row, f"the set says {entry.state}")
        )

    def _judge_grant(self, step: Step, move: MoveRecord, key: MemberKey | None) -> None:
        group, decision = step.group, step.decision
        self._verdicts.count("S9", "new grants")
        granted = evidence_of(decision.row, f"{decision.text}: {move.text}")
        queue = "/".join(map(str, move.queue))
        candidates = [
            member
            for member in group.members.values()
            if (member.key == key if key else member.key.client_id == move.client_id)
        ]
        if not candidates:
            if step.whole:
                text = f"{queue} is granted to {move.client_id}, which sent no heartbeat"
                self._verdicts.add_finding("S9", text, granted)
            return
        alive = [member for member in candidates if not member.lapsed and not member.left]
        if not alive:
            member = candidates[-1]
            text = f"{queue} is granted to {move.client_id}, which is gone"
            says = "it left" if member.left else "its last heartbeat"
            self._verdicts.add_finding("S9", text, evidence_of(member.seen, says), granted)
            return
        if not any(move.queue.topic in member.topics for member in alive):
            text = f"{queue} is granted to {move.client_id}, which does not subscribe to its topic"
            self._verdicts.add_finding(
                "S9", text, evidence_of(alive[-1].seen, "it subscribes"), granted
            )
        self._judge_route(step, move.queue, decision)
        self._judge_rivals(group, alive, key)

    def _judge_route(self, step: Step, queue: MessageQueue, decision: DecisionRecord) -> None:
        if not self._routes_whole:
            self._verdicts.excuse("S9", "routes: older ones were compacted away")
            return
        route = step.facts.routes.get(queue.topic)
        if route is None or not route.has(queue):
            text = f"{'/'.join(map(str, queue))} is granted, and no route has it"
            self._verdicts.add_finding("S9", text, evidence_of(decision.row, decision.text))

    def _judge_rivals(
        self,
        group: GroupFacts,
        alive: list[MemberFacts],
        key: MemberKey | None,
    ) -> None:
        if key is None:
            return
        own = next(member for member in alive if member.key == key)
        greater = [
            member
            for member in group.members.values()
            if member.key.client_id == key.client_id
            and member.process > own.process
            and not member.left
            and not member.lapsed
        ]
        if greater:
            text = f"{key.client_id} is granted a queue in the lesser of its two processes"
            self._verdicts.add_finding(
                "S14",
                text,
                evidence_of(greater[0].seen, "the greater process was heard before"),
                evidence_of(own.seen, "the lesser one is granted the queue"),
            )

    def _judge_death(self, step: Step, client_id: str) -> None:
        group, decision = step.group, step.decision
        self._verdicts.count("L3", "deaths")
        incarnations = [each for each in group.members.values() if each.key.client_id == client_id]
        dead = [member for member in incarnations if member.lapsed]
        news = [member for member in dead if self._is_news(step, member)]
        for member in dead:
            place = (decision.group, decision.cut.generation, member.key)
            self._dead[place] = step.facts.clock.clock_ms
        if news or (dead and all(member.gone for member in incarnations)):
            return
        if not incarnations and not step.whole:
            return
        heard = [evidence_of(member.seen, "its newest heartbeat") for member in incarnations]
        text = f"the engine calls {client_id} dead, which was not silent for lease and margin"
        self._verdicts.add_finding("L3", text, *heard, evidence_of(decision.row, decision.text))

    def _is_news(self, step: Step, member: MemberFacts) -> bool:
        """Tell whether a driver may name this death: it may again once the member was heard."""
        place = (step.decision.group, step.decision.cut.generation, member.key)
        return step.behind or self._dead.get(place, -1) <= member.seen_ms
