"""S9, S14, S15, L3: grants go to who is there, to one process of a client id; the living live."""

from typing import Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.verify.facts import ShardFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import Told, ToldAdd, ToldEntry
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.verdicts import Docket, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import DecisionRecord, MoveRecord

__all__ = ["MembersJudge"]

_TOLD_WITHIN_MS: Final = 10_000
"""So long a driver may need to tell a process that another one has its client id."""


class MembersJudge:
    """Judges who is granted a queue, and who is called dead.

    ``routes_whole``: no route was compacted away, so the one in force is known at each place.
    """

    def __init__(self, docket: Docket, told: Told, *, routes_whole: bool) -> None:
        self._docket = docket
        self._losers = dict(told.losers)
        self._unknown = told.unknown
        self._routes_whole = routes_whole
        self._owed: set[tuple[str, MemberKey]] = set()
        """Who was to be told, by some decision, that a greater process has its client id."""
        self._dead: dict[tuple[str, int, MemberKey], int] = {}
        """Whose death a driver has told, and the log clock then: each is told once."""

    def step(self, step: Step) -> None:
        """Judge the new grants and the deaths of a decision."""
        audit, group = step.audit, step.group
        members = {(add.queue, add.epoch): add.member for add in step.adds}
        for move in audit.moves:
            known = move.epoch in group.grants.get(move.queue, {})
            if step.behind:
                # Who is there by what was read since says nothing of a driver that had not read it.
                self._docket.excuse("S9", "grants of drivers that others had overtaken")
            elif move.stage in ("gated", "granted") and not known:
                member = members.get((move.queue, move.epoch))
                self._judge_grant(step, move, member)
        for cause in audit.causes:
            if cause.get("kind") == "client_expired" and cause.get("at") is None:
                self._judge_death(step, str(cause.get("client_id")))
        for each in group.members.values():
            if each.rival is not None and not each.gone and not each.rival.gone:
                self._owed.add((audit.group, each.key))

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """The decision that this add is of was never written: nothing is judged."""

    def end(self, ending: Ending) -> None:
        """Judge whether processes that share a client id were told so, and sets against grants."""
        for entry in self._unknown:
            self._judge_entry(entry, ending.facts)
        for group in ending.facts.groups.values():
            for loser in group.members.values():
                winner = loser.rival
                if winner is None:
                    continue
                self._docket.look("S14", "processes with the client id of another")
                if (group.name, loser.key) in self._losers or loser.gone:
                    continue
                late = ending.facts.ticked_ms - loser.rival_ms > _TOLD_WITHIN_MS
                if (group.name, loser.key) not in self._owed and (winner.gone or not late):
                    continue
                text = f"{loser.key.client_id} runs twice, and the lesser process was never told"
                self._docket.find(
                    "S14",
                    text,
                    evidence_of(winner.seen, "the greater process lives"),
                    evidence_of(loser.seen, f"so does incarnation {loser.key.incarnation}"),
                )

    def _judge_entry(self, entry: ToldEntry, facts: ShardFacts) -> None:
        """Judge an entry of a set whose add is not there: its decision may tell of the grant."""
        group = facts.groups.get(entry.group)
        if group is None:
            return
        grant = group.grants.get(entry.queue, {}).get(entry.epoch)
        if grant is not None and grant.client_id == entry.member.client_id:
            return
        queue = f"{'/'.join(map(str, entry.queue))} under {entry.epoch[0]}.{entry.epoch[1]}"
        text = f"{entry.member.client_id} is told to hold {queue}, never granted to it"
        self._docket.find("S15", text, evidence_of(entry.row, f"the set says {entry.state}"))

    def _judge_grant(self, step: Step, move: MoveRecord, key: MemberKey | None) -> None:
        group, audit = step.group, step.audit
        self._docket.look("S9", "new grants")
        granted = evidence_of(audit.row, f"{audit.text}: {move.text}")
        queue = "/".join(map(str, move.queue))
        candidates = [
            member
            for member in group.members.values()
            if (member.key == key if key else member.key.client_id == move.client_id)
        ]
        if not candidates:
            if step.whole:
                text = f"{queue} is granted to {move.client_id}, of whom no heartbeat was read"
                self._docket.find("S9", text, granted)
            return
        alive = [member for member in candidates if not member.lapsed and not member.left]
        if not alive:
            member = candidates[-1]
            text = f"{queue} is granted to {move.client_id}, which is gone"
            says = "it left" if member.left else "its last heartbeat"
            self._docket.find("S9", text, evidence_of(member.seen, says), granted)
            return
        if not any(move.queue.topic in member.topics for member in alive):
            text = f"{queue} is granted to {move.client_id}, which does not subscribe to its topic"
            self._docket.find("S9", text, evidence_of(alive[-1].seen, "it subscribes"), granted)
        self._judge_route(step, move.queue, audit)
        self._judge_rivals(group, alive, key)

    def _judge_route(self, step: Step, queue: MessageQueue, audit: DecisionRecord) -> None:
        if not self._routes_whole:
            self._docket.excuse("S9", "routes: older ones were compacted away")
            return
        route = step.facts.routes.get(queue.topic)
        if route is None or not route.has(queue):
            text = f"{'/'.join(map(str, queue))} is granted, and no route that was read has it"
            self._docket.find("S9", text, evidence_of(audit.row, audit.text))

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
            self._docket.find(
                "S14",
                text,
                evidence_of(greater[0].seen, "the greater process was heard before"),
                evidence_of(own.seen, "the lesser one is granted the queue"),
            )

    def _judge_death(self, step: Step, client_id: str) -> None:
        group, audit = step.group, step.audit
        self._docket.look("L3", "deaths")
        lives = [each for each in group.members.values() if each.key.client_id == client_id]
        dead = [member for member in lives if member.lapsed]
        news = [member for member in dead if self._is_news(step, member)]
        for member in dead:
            place = (audit.group, audit.cut.generation, member.key)
            self._dead[place] = step.facts.clock.clock_ms
        if news or (dead and all(member.gone for member in lives)):
            return
        if not lives and not step.whole:
            return
        heard = [evidence_of(member.seen, "its newest heartbeat") for member in lives]
        text = f"{client_id} is taken for dead, and was not silent for its lease and the margin"
        self._docket.find("L3", text, *heard, evidence_of(audit.row, audit.text))

    def _is_news(self, step: Step, member: MemberFacts) -> bool:
        """Tell whether a driver may tell that a member is dead: not again, unless it was heard."""
        place = (step.audit.group, step.audit.cut.generation, member.key)
        return step.behind or self._dead.get(place, -1) <= member.seen_ms
