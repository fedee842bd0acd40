"""The engines of a world: the real step, with numbered states and remembered steps.

An engine reads one record in each step, in any order. A bridge answers its requests at once. A new
driver is another engine of a higher generation that continues from an intact, an old or no state.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fairlead.core.invariants import check
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.moment import Moment
from fairlead.core.outputs import Assignment, Notice, Request
from fairlead.core.records import (
    Arrival,
    Claims,
    Heartbeat,
    Leave,
    Progress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
)
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.core.state import GroupState
from fairlead.core.step import step
from fairlead_proof.explorer.facts import Fact, Holding, arrival_of
from fairlead_proof.explorer.following import FOLLOWING, Following, following
from fairlead_proof.explorer.frozen import Images
from fairlead_proof.explorer.group_image import aged, doubted, heard, image, overdue, settled
from fairlead_proof.explorer.party import DEAF, WAITS, Party, Read
from fairlead_proof.explorer.steps import Kind, Step
from fairlead_proof.explorer.world import GROUP, life_of

__all__ = ["EngineState", "Engines"]

WAITED_MS = 10**6
"""Longer than lease and margin of any group here."""

ANSWERS_MAX = 8
"""A group that asks more often in a row never stops asking."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """One engine at one moment. ``group`` None: it knows no group yet."""

    generation: int
    marked: bool
    """Whether it has read its own first tick."""
    group: GroupState | None
    recovering: bool = False
    """Whether it started without a state and has not heard all live clients yet."""
    granting: bool = False
    """Whether no barrier holds it back."""
    holdings: frozenset[Holding] = frozenset()
    """The unresolved grants, including overtaken ones."""
    overtaken: frozenset[Holding] = frozenset()
    """The grants that nobody waits for: their queues are marked unsafe."""
    targets: tuple[str, ...] = ()
    """The operator's targets that it has read: a client for each queue."""
    resets: int = 0
    """The resets that it has read: a state reads control only once."""


@dataclass(slots=True)
class Engines(Party[EngineState]):
    """All reached states of all engines, and the steps between them."""

    words: dict[tuple[int, tuple[str, ...]], Step] = field(default_factory=dict)
    lapses: dict[tuple[int, MemberKey], Step] = field(default_factory=dict)
    mutes: dict[tuple[int, MemberKey], Step | None] = field(default_factory=dict)
    heals: dict[tuple[int, MemberKey, int], Step] = field(default_factory=dict)
    ticks: dict[int, Step] = field(default_factory=dict)
    images: Images = field(default_factory=dict)
    strategies: dict[str, Following] = field(default_factory=lambda: {FOLLOWING: Following()})

    def begin(self, heartbeats: Sequence[Heartbeat], targets: tuple[str, ...]) -> tuple[int, int]:
        """Return the first engine's state after all clients have joined, and its assignments."""
        first = EngineState(1, marked=True, group=None)
        rule = RuleSet(GROUP, "strategy", (), following(targets))
        arrivals = [arrival_of(rule), *map(arrival_of, heartbeats)]
        return self._stepped(first, arrivals)

    def started(self, state: int | None, generation: int) -> Step:
        """Return the start of a driver from an engine's state; None: without a state."""
        held = None if state is None else self.states[state]
        if held is None or held.group is None:
            fresh = EngineState(generation, marked=False, group=None, recovering=True)
            to, facts = self._number(fresh), 0
        else:
            fresh = replace(held, generation=generation, marked=False, recovering=False)
            to, facts = self._stepped(fresh, [])
        return Step(f"driver {generation} starts", to, facts | self.facts.claimed(generation))

    def readable(self) -> int:
        """Return the facts for engines."""
        return self.facts.for_engines

    def read(self, state: int, number: int) -> Read:
        """Return the effect of a fact on an engine."""
        held, fact = self.states[state], self.facts.known[number]
        group = held.group
        if group is None or fact.arrival is None:
            # The operator's records come before everything else.
            return WAITS
        record = fact.arrival.record
        if isinstance(record, Reset):
            bit = 1 << number
            if held.resets & bit:
                return DEAF
            held = replace(held, resets=held.resets | bit)
        if isinstance(record, Heartbeat) and record.member in group.tombstones:
            return DEAF
        kind = Kind.CHANCE if isinstance(record, Progress) else Kind.FAIR
        made = self._take(
            state, held, [fact.arrival], f"engine {held.generation} reads {fact.text}"
        )
        made = made._replace(kind=max(kind, made.kind))
        if isinstance(record, Claims) and _has_acknowledged(group, record):
            # A thin client may acknowledge a generation more than once. In the log each of them
            # comes once, and any of them will do.
            made = made._replace(kind=max(Kind.CHANCE, made.kind), back=True)
        if made.matters(state, 0):
            return Read(made, alive=True)
        return WAITS if self._may_yet(group, fact) else DEAF

    @staticmethod
    def _may_yet(group: GroupState, fact: Fact) -> bool:
        """Whether a fact without an effect on this engine now can have one later."""
        assert fact.arrival is not None
        unheard = fact.sender not in group.members | group.tombstones
        match fact.arrival.record:
            case Release() as release:
                leaves = release.last_started is not None and unheard
                return leaves or group.barrier is not None
            case Progress():
                return group.barrier is not None
            case Claims() as claims:
                return claims.generation > group.generation
            case Leave():
                return unheard
        return False

    def word(self, state: int, targets: tuple[str, ...]) -> Step:
        """Return the step in which an engine reads the operator's targets."""
        known = self.words.get((state, targets))
        if known is None:
            held = self.states[state]
            aims = ", ".join(f"{queue} at {name}" for queue, name in enumerate(targets))
            rule = RuleSet(GROUP, "strategy", (), following(targets))
            label = f"engine {held.generation} is to aim {aims}"
            known = self._take(state, held, [arrival_of(rule)], label)
            self.words[state, targets] = known
        return known

    def lapse(self, state: int, member: MemberKey) -> Step:
        """Return the step in which an engine calls one of its members dead."""
        known = self.lapses.get((state, member))
        if known is None:
            held = self.states[state]
            assert held.group is not None
            label = f"engine {held.generation} takes {member.incarnation} for dead"
            old = replace(held, group=aged(held.group, member))
            known = self.lapses[state, member] = self._take(state, old, [], label)
        return known

    def mute(self, state: int, member: MemberKey) -> Step | None:
        """Return the step in which an engine finds a member mute; None: it has answered."""
        if (state, member) not in self.mutes:
            held = self.states[state]
            late = None if held.group is None else overdue(held.group, member)
            label = f"engine {held.generation} finds {member.incarnation} mute"
            self.mutes[state, member] = (
                None if late is None else self._take(state, replace(held, group=late), [], label)
            )
        return self.mutes[state, member]

    def heal(self, state: int, member: MemberKey, digest: int) -> Step | None:
        """Return the step in which an engine compares a member's digest, long after a change.

        None: it does not compare digests now.
        """
        held = self.states[state]
        group = held.group
        if group is None or not held.granting or member not in group.members:
            return None
        known = self.heals.get((state, member, digest))
        if known is None:
            beat = replace(self.world.heartbeat(member, life_of(member)), sequence=2, digest=digest)
            label = f"engine {held.generation} compares what {member.incarnation} holds"
            doubting = replace(held, group=doubted(group, member))
            known = self._take(state, doubting, [arrival_of(beat)], label)
            self.heals[state, member, digest] = known
        return known

    def waits_for_all(self, state: int) -> bool:
        """Whether an engine must hear every live client before its next tick."""
        held = self.states[state]
        return held.marked is held.recovering

    def tick(self, state: int) -> Step | None:
        """Return the step in which an engine reads its first tick, or has waited; None: neither.

        Later ticks have no effect.
        """
        held = self.states[state]
        if held.group is None or (held.marked and not held.recovering):
            return None
        known = self.ticks.get(state)
        if known is None:
            what = "has waited for lease and margin" if held.marked else "reads its first tick"
            marked = replace(held, marked=True)
            label = f"engine {held.generation} {what}"
            known = self._take(state, marked, [], label, waited=held.marked)
            self.ticks[state] = known
        return known

    def _take(
        self,
        state: int,
        held: EngineState,
        arrivals: Sequence[Arrival],
        label: str,
        *,
        waited: bool = False,
    ) -> Step:
        try:
            to, facts = self._stepped(held, arrivals, waited=waited)
        except Exception as error:  # noqa: BLE001 - any exception of the core is a defect
            return Step(f"{label}: {type(error).__name__}: {error}", state, kind=Kind.DEFECT)
        return Step(label, to, facts)

    def _stepped(
        self, held: EngineState, arrivals: Sequence[Arrival], *, waited: bool = False
    ) -> tuple[int, int]:
        """Run the real step, answer its requests, and return the state and the written facts."""
        rules = EngineRules(
            held.generation,
            self.strategies,
            GroupRules(
                strategy=FOLLOWING,
                strategy_options={"targets": self.world.client_ids},
                mode="eager" if self.world.eager else "cooperative",
                on_mute="force" if self.world.mutes else "wait",
            ),
            chain_cap=self.world.cap,
            # Here a client stops at any time, so the engine need not stagger releases.
            turn_ms=0,
        )
        marker = held.generation if held.marked else held.generation - 1
        moment = Moment(
            WAITED_MS if waited else 0, 0, marker, marker_ms=0, recovering=held.recovering
        )
        group, written, facts = held.group, arrivals, 0
        if group is not None and waited:
            group = heard(group, WAITED_MS)
        for _ in range(ANSWERS_MAX):
            result = step(group, written, moment, rules)
            group = result.state
            assert group is not None, "an engine forgets a group only after a long time"
            check(group, rules)
            for output in result.outputs:
                if isinstance(output, Assignment | Notice):
                    facts |= self.facts.written(output)
            if not any(isinstance(output, Request) for output in result.outputs):
                recovering = held.recovering and not waited
                fresh = replace(held, group=settled(group), recovering=recovering)
                return self._number(fresh), facts
            route = self.world.route
            answers = (RouteChanged(route.topic, route), self.world.offsets_known)
            written = [arrival_of(answer) for answer in answers]
        message = "the group asks again for what a bridge has answered"
        raise AssertionError(message)

    def _number(self, fresh: EngineState) -> int:
        group = fresh.group
        kept = None if group is None else image(group, self.images)
        name = (fresh.generation, fresh.marked, fresh.recovering, fresh.resets, kept)
        return self.numbered(name, lambda: _described(fresh))


def _described(fresh: EngineState) -> EngineState:
    group = fresh.group
    if group is None:
        return fresh
    holdings = frozenset(
        (queue, grant.member, grant.epoch)
        for queue, value in group.queues.items()
        for grant in value.chain
    )
    overtaken = frozenset(
        (queue, grant.member, grant.epoch)
        for queue, value in group.queues.items()
        for grant in value.overtaken
    )
    rule = group.rules.get("strategy")
    targets = tuple(rule["options"]["targets"]) if rule is not None else ()
    return replace(
        fresh,
        granting=group.barrier is None,
        holdings=holdings | overtaken,
        overtaken=overtaken,
        targets=targets,
    )


def _has_acknowledged(group: GroupState, claims: Claims) -> bool:
    """Whether a group knows an acknowledgement of the same generation by the same member."""
    held = group.claims.get(claims.member)
    return held is not None and held.generation == claims.generation


def owners(group: GroupState) -> dict[MessageQueue, tuple[MemberKey, Epoch] | None]:
    """Return the only, undropped grant of each queue; None: it has another chain."""
    return {
        queue: (value.chain[0].member, value.chain[0].epoch)
        if len(value.chain) == 1 and not value.chain[0].dropped
        else None
        for queue, value in group.queues.items()
    }
