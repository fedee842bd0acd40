"""Notices what happens to one group as its records come."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.handover.forced_handover import MUTE_MEMBER
from fairlead.core.membership.members import DUPLICATE_CLIENT_ID
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.counters import FALLBACKS, GroupCounters
from fairlead.observed.fewest_moves import fewest_moves
from fairlead.observed.group_decisions import AppliedDecision, GroupDecisions
from fairlead.observed.positions import PositionReport
from fairlead.observed.releases import Releases
from fairlead.wire.quick_fields import text_of

__all__ = ["GroupEvents"]

_CONFLICTS_MAX: Final = 64
_OVERLAP_MS: Final = 5_000
"""The sets of two members stand in two partitions, which are not read at the same moment: only
what lasts for this long is an overlap."""
_WAITING_MS: Final = 600_000
"""The successor of a release is waited for this long."""


@dataclass(slots=True)
class GroupEvents:
    """What is under way in one group; each thing is counted when it ends.

    Attributes:
        name: the group's name.
        counters: where it is counted.
        opened_ms: when the first decision since the group last converged was appended.
        dropped: dropped grants that were not released, and when they were dropped.
        late: those of mute holders, which are counted already.
        released: released queues that nobody has begun again: when, and which grant.
        overlaps: members with one queue at once -> since when, and whether that is counted.
    """

    name: str
    counters: GroupCounters
    opened_ms: int | None = None
    dropped: dict[tuple[MessageQueue, Epoch], int] = field(default_factory=dict)
    late: set[tuple[MessageQueue, Epoch]] = field(default_factory=set)
    released: dict[MessageQueue, tuple[int, Epoch]] = field(default_factory=dict)
    overlaps: dict[tuple[MessageQueue, tuple[MemberKey, ...]], tuple[int, bool]] = field(
        default_factory=dict
    )
    _conflicts: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether anything is under way."""
        return self.opened_ms is not None or bool(self.released or self.overlaps)

    def take_decision(
        self,
        applied: AppliedDecision,
        decided: GroupDecisions,
        releases: Releases,
    ) -> None:
        """Notice what a decision did.

        Args:
            applied: the decision.
            decided: all decisions so far, this one included.
            releases: those of the group; their topic may be ahead.
        """
        decision = applied.decision
        causes = list(applied.causes())
        expired = {
            cause.get("client_id")
            for cause in causes
            # With a place it is no lapse: the client heartbeat once more, and got a notice.
            if cause["kind"] == "client_expired" and "at" not in cause
        }
        late = [step for step in applied.given_up if step.client_id in expired]
        timeouts = sum((step.queue, step.epoch) not in self.late for step in late)
        timeouts += self._note_mute(causes, decided)
        for step in applied.steps:
            place = step.queue, step.epoch
            if step.stage == "dropped":
                released_ms = releases.at_ms(step.queue, step.client_id, step.epoch)
                if released_ms is None:
                    self.dropped.setdefault(place, decision.append_ms)
                elif not applied.again:
                    self.counters.observe_phase("release", decision.append_ms, released_ms)
            elif step.stage == "resolved":
                self.dropped.pop(place, None)
                self.late.discard(place)
        stirs = decision.queues_moved or any(step.stage == "dropped" for step in applied.steps)
        if self.opened_ms is None and stirs and not applied.again:
            self.opened_ms = decision.append_ms
        if self.counters.following and not applied.again:
            self._count(applied, decided, len(expired), timeouts)

    def _note_mute(self, causes: list[dict[str, Any]], decided: GroupDecisions) -> int:
        mute = {cause.get("client_id") for cause in causes if cause["kind"] == MUTE_MEMBER}
        if not mute:
            return 0
        dropped = {
            (queue, grant.epoch)
            for queue, grants in decided.grants.items()
            for grant in grants
            if grant.stage == "dropped" and grant.client_id in mute
        }
        fresh = dropped - self.late
        self.late |= fresh
        return len(fresh)

    def _count(
        self, applied: AppliedDecision, decided: GroupDecisions, expired: int, timeouts: int
    ) -> None:
        counters, decision = self.counters, applied.decision
        for trigger in decision.triggers:
            counters.rebalances[self.name, trigger] += 1
        if decision.queues_moved:
            first = decision.triggers[0] if decision.triggers else "trigger"
            after = decided.owners()
            before: dict[MessageQueue, str | None] = {**after}
            before |= {each.step.queue: each.before for each in applied.granted}
            fewest = min(fewest_moves(before, after), decision.queues_moved)
            counters.moves[self.name, first] += decision.queues_moved
            counters.fewest_moves[self.name, first] += fewest
            counters.observe_phase("decide", decision.at_ms, decision.append_ms)
        for each in applied.granted:
            if each.step.why in FALLBACKS:
                counters.fallbacks[self.name, each.step.why or ""] += 1
        for counts, number in (
            (counters.expirations, expired),
            (counters.handover_timeouts, timeouts),
        ):
            if number:
                counts[self.name] += number

    def take_release(
        self, report: PositionReport, append_ms: int, *, again: bool, ended: bool
    ) -> None:
        """Notice a release.

        Args:
            report: what it says.
            append_ms: when it was appended.
            again: it was read before.
            ended: its grant was over before it was appended.
        """
        if again or report.epoch is None:
            return
        dropped_ms = self.dropped.pop((report.queue, report.epoch), None)
        if dropped_ms is not None:
            self.counters.observe_phase("release", dropped_ms, append_ms)
        if report.position is None:
            return
        if ended:
            self._fence()
        else:
            self.released[report.queue] = append_ms, report.epoch

    def take_progress(self, report: PositionReport, append_ms: int, *, ended: bool) -> None:
        """Notice that a member works on a queue; ``ended``: its grant was over before that."""
        if ended:
            self._fence()
            return
        waiting = self.released.get(report.queue)
        if waiting is not None and report.epoch is not None and report.epoch > waiting[1]:
            self.begun(report.queue, append_ms)

    def _fence(self) -> None:
        if self.counters.following:
            self.counters.fenced[self.name] += 1

    def begun(self, queue: MessageQueue, append_ms: int) -> None:
        """Notice that the successor of a release works."""
        released_ms, _ = self.released.pop(queue)
        self.counters.observe_gap(released_ms, append_ms)

    def take_notice(self, body: dict[str, Any]) -> None:
        """Count a notice that tells two processes of each other.

        Raises:
            ValueError, KeyError, TypeError: it is no notice.
        """
        if body["code"] != DUPLICATE_CLIENT_ID:
            return
        pair = text_of(body["client_id"]), text_of(body["winner"]["uuid"])
        if pair in self._conflicts:
            return
        self._conflicts[pair] = None
        if len(self._conflicts) > _CONFLICTS_MAX:
            del self._conflicts[next(iter(self._conflicts))]
        if self.counters.following:
            self.counters.conflicts[self.name] += 1

    def look_for_overlaps(
        self, holders: dict[MessageQueue, tuple[MemberKey, ...]], as_of_ms: int
    ) -> None:
        """Count the overlaps that have lasted long enough."""
        self.overlaps = {
            pair: self.overlaps.get(pair, (as_of_ms, False)) for pair in holders.items()
        }
        for pair, (since_ms, counted) in self.overlaps.items():
            if self.counters.following and not counted and as_of_ms - since_ms >= _OVERLAP_MS:
                self.counters.overlaps[self.name] += 1
                self.overlaps[pair] = since_ms, True

    def converged(self, settled_ms: int) -> None:
        """Notice that the group has converged; ``settled_ms``: when its last member said so."""
        if self.opened_ms is not None:
            self.counters.observe_phase("converge", self.opened_ms, settled_ms)
            self.opened_ms = None

    def forget_before(self, oldest_ms: int, decided: GroupDecisions) -> None:
        """Forget old drops whose grants are unresolved no longer."""
        unresolved = {
            (queue, grant.epoch) for queue, grants in decided.grants.items() for grant in grants
        }
        self.late &= unresolved
        self.dropped = {
            place: dropped_ms
            for place, dropped_ms in self.dropped.items()
            if place in unresolved or dropped_ms >= oldest_ms
        }

    def waiting(self, as_of_ms: int) -> Iterator[tuple[MessageQueue, int]]:
        """Yield the released queues that nobody has begun, and when they were released."""
        for queue, (released_ms, _) in list(self.released.items()):
            if released_ms < as_of_ms - _WAITING_MS:
                del self.released[queue]
            else:
                yield queue, released_ms
