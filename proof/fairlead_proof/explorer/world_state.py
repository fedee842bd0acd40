"""A whole world at one moment, and everything that can happen next in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fairlead_client.session.events import AssignmentRead

from fairlead.core.model import Position
from fairlead.core.records import Claims, Heartbeat, Reset
from fairlead.core.state import GroupState
from fairlead_proof.explorer.barrier_exit import Passing
from fairlead_proof.explorer.client_half import ClientHalf, ClientState
from fairlead_proof.explorer.engine_half import EngineHalf, owners
from fairlead_proof.explorer.environment import Around, seen_by_engines
from fairlead_proof.explorer.facts import Facts, bits
from fairlead_proof.explorer.oracle import Ghost, first_ghost, moved, spent, unfollowed
from fairlead_proof.explorer.steps import Cost, Kind, Step
from fairlead_proof.explorer.two_owners import two_owners
from fairlead_proof.explorer.world import GROUP, Restart, World

__all__ = ["Joint", "Moment", "Next"]

Moment = tuple[int, ...]
"""A world at one moment: facts, engine, old engine, kept state, judge, and each client.

All but the facts are numbers of states; NONE: there is no old engine, no kept state.
"""

NONE = -1
FACTS, ENGINE, ZOMBIE, KEPT, JUDGE, CLIENTS = range(6)


class Next(NamedTuple):
    """One thing that can happen, and what is violated by it."""

    label: str
    to: Moment
    fair: bool
    violation: str | None = None


@dataclass(slots=True)
class Joint:
    """The world that is searched: its parts, and the numbers of their states."""

    world: World
    facts: Facts = field(default_factory=Facts)
    clients: ClientHalf = field(init=False)
    engines: EngineHalf = field(init=False)
    ghosts: list[Ghost] = field(default_factory=list)
    ghost_numbers: dict[Ghost, int] = field(default_factory=dict)
    judged: dict[tuple[int, Step, bool, bool], tuple[int, str | None]] = field(default_factory=dict)
    tracked: dict[tuple[int, int], bool] = field(default_factory=dict)
    passing: Passing = field(init=False)

    def __post_init__(self) -> None:
        """Make the two halves, over one log."""
        self.clients = ClientHalf(self.world, self.facts)
        self.engines = EngineHalf(self.world, self.facts)
        self.passing = Passing(self.engines)

    def begin(self) -> Moment:
        """Return the first moment: everybody has joined, the first grants are written, unread."""
        begun = [self.clients.begin(client, 1) for client in range(self.world.clients)]
        heartbeats = [
            fact.arrival.record
            for fact in self.facts.known
            if fact.arrival is not None and isinstance(fact.arrival.record, Heartbeat)
        ]
        ghost = first_ghost(self.world)
        engine, told = self.engines.begin(heartbeats, ghost.targets)
        written = told | self.facts.claimed(1)
        for number, fact in enumerate(self.facts.known):
            # The acknowledgements of the first generation were read with the first heartbeats.
            if fact.arrival is not None and not isinstance(fact.arrival.record, Claims):
                written |= 1 << number
        parts = (engine, NONE, NONE, self._ghost(ghost), *(client for client, _ in begun))
        return self._pruned(written, parts)

    def nexts(self, moment: Moment) -> Iterator[Next]:
        """Yield everything that can happen next; what changes nothing is left out."""
        for index in range(CLIENTS, len(moment)):
            yield from self._of_client(moment, index)
        yield from self._of_engine(moment, ENGINE)
        if moment[ZOMBIE] != NONE:
            yield from self._of_engine(moment, ZOMBIE)
            generation = self.engines.states[moment[ZOMBIE]].generation
            label = f"engine {generation} reads a tick of a later one and is silent"
            yield self._next(moment, Step(label, NONE), ZOMBIE)
        yield from self._of_drivers(moment)
        yield from self._of_resets(moment)
        yield from self._of_losses(moment)

    def _of_client(self, moment: Moment, index: int) -> Iterator[Next]:
        half, state = self.clients, moment[index]
        for number in bits(half.look(state, moment[FACTS])):
            step = half.reads[state][number]
            if step.matters(state, moment[FACTS]):
                yield self._next(moment, step, index)
        ghost = self.ghosts[moment[JUDGE]]
        for step in half.steps(state):
            if step.cost is Cost.NOTHING or ghost.deaths:
                yield self._next(moment, step, index)
        if ghost.comebacks:
            generation = self.engines.states[moment[ENGINE]].generation
            for step in half.comebacks(state, generation):
                yield self._next(moment, step, index)

    def _of_engine(self, moment: Moment, index: int) -> Iterator[Next]:
        half, state = self.engines, moment[index]
        ghost = self.ghosts[moment[JUDGE]]
        if self.world.prune and not half.states[state].granting:
            around = self._around(moment)
            for step in self.passing.ends(state, around):
                yield self._next(moment, step, index)
            yield from self._of_operator(moment, index, unread=True)
            return
        for number in bits(half.look(state, moment[FACTS])):
            step = half.reads[state][number]
            if step.matters(state, moment[FACTS]):
                yield self._next(moment, step, index)
        around = self._around(moment)
        for step in around.steps(state):
            yield self._next(moment, step, index)
        yield from self._of_heartbeats(moment, index)
        if half.states[state].targets != ghost.targets:
            yield self._next(moment, half.word(state, ghost.targets), index)
        yield from self._of_operator(moment, index, unread=False)

    def _of_heartbeats(self, moment: Moment, index: int) -> Iterator[Next]:
        """Yield what an engine concludes from heartbeats: who is mute, who holds something else."""
        state, mutes = moment[index], self.ghosts[moment[JUDGE]].mutes
        for client in map(self.clients.states.__getitem__, moment[CLIENTS:]):
            if client.digest is None:
                continue
            mute = self.engines.mute(state, client.member) if mutes else None
            if mute is not None:
                late = mute._replace(kind=max(Kind.CHANCE, mute.kind), cost=Cost.MUTE)
                yield self._next(moment, late, index)
            heal = None
            if self.world.lost:
                heal = self.engines.heal(state, client.member, client.digest)
            if heal is not None and heal.matters(state, moment[FACTS]):
                yield self._next(moment, heal, index)

    def _of_losses(self, moment: Moment) -> Iterator[Next]:
        """Yield the losses of assignments for good, before anybody has read them."""
        if not self.ghosts[moment[JUDGE]].lost:
            return
        for number in bits(moment[FACTS] & self.facts.for_clients):
            fact = self.facts.known[number]
            if isinstance(fact.event, AssignmentRead):
                left = (moment[FACTS] & ~(1 << number), *moment[ENGINE:])
                label = f"{fact.text} for {fact.reader} is lost"
                step = Step(label, moment[ENGINE], kind=Kind.CHANCE, cost=Cost.RECORD)
                yield self._next(left, step, ENGINE)

    def _around(self, moment: Moment) -> Around:
        held = tuple(map(self.clients.states.__getitem__, moment[CLIENTS:]))
        ghost = self.ghosts[moment[JUDGE]]
        return Around(self.engines, moment[FACTS], tuple(map(seen_by_engines, held)), ghost.targets)

    def _of_operator(self, moment: Moment, index: int, *, unread: bool) -> Iterator[Next]:
        """Yield the operator's words; an engine that grants reads each at once."""
        ghost = self.ghosts[moment[JUDGE]]
        if not ghost.moves:
            return
        for queue, wanted in enumerate(ghost.targets):
            for state in moment[CLIENTS:]:
                client = self.clients.states[state]
                name = self.world.client_ids[client.client]
                if name == wanted or client.stopped:
                    continue
                targets = (*ghost.targets[:queue], name, *ghost.targets[queue + 1 :])
                step = Step(f"the operator aims {queue} at {name}", moment[index])
                if not unread:
                    step = self.engines.word(moment[index], targets)
                said = step._replace(cost=Cost.MOVE, kind=Kind.CHANCE, detail=targets)
                yield self._next(moment, said, index)

    def _of_resets(self, moment: Moment) -> Iterator[Next]:
        """Yield an operator's resets: to the first message of a queue, or behind its last."""
        ghost = self.ghosts[moment[JUDGE]]
        if not ghost.resets:
            return
        before = self.world.resets - ghost.resets
        for queue in self.world.message_queues:
            for offset in sorted({0, self.world.offsets}):
                fact = self.facts.wanted(Reset(GROUP, queue, offset), before)
                label = f"the operator moves {queue.queue_id} to {offset}"
                asked = (queue.queue_id, Position(before + 1, offset))
                step = Step(label, moment[ENGINE], fact, Kind.CHANCE, detail=asked)
                yield self._next(moment, step._replace(cost=Cost.RESET), ENGINE)

    def _of_drivers(self, moment: Moment) -> Iterator[Next]:
        ghost = self.ghosts[moment[JUDGE]]
        if not ghost.losses or moment[ZOMBIE] != NONE:
            return
        world, state = self.world, moment[ENGINE]
        generation = self.engines.states[state].generation + 1
        if world.restart is Restart.OLD and moment[KEPT] == NONE:
            label = f"the state of engine {generation - 1} is kept"
            yield self._next(moment, Step(label, state, kind=Kind.CHANCE), KEPT)
            return
        source = {Restart.LOST: None, Restart.OLD: moment[KEPT], Restart.INTACT: state}
        step = self.engines.started(source[world.restart], generation)
        aside = (*moment[:ZOMBIE], state if world.zombie else NONE, *moment[KEPT:])
        step = step._replace(kind=Kind.CHANCE, cost=Cost.LOSS)
        yield self._next(aside, step, ENGINE)

    def _next(self, moment: Moment, step: Step, index: int) -> Next:
        """Return what a step of one part makes of the whole."""
        judge, violation = self._judge(moment, step, index)
        parts = list(moment)
        parts[index] = step.to
        parts[JUDGE] = judge
        if parts[KEPT] != NONE and not self.ghosts[judge].losses:
            parts[KEPT] = NONE
        if self.world.prune and parts[ZOMBIE] != NONE and not self._is_listened_to(parts):
            parts[ZOMBIE] = NONE
        to = self._pruned(moment[FACTS] | step.facts, tuple(parts[1:]))
        if violation is None and (index >= CLIENTS or index == ENGINE):
            violation = self._violation(to)
        fair = step.kind is not Kind.CHANCE
        return Next(step.label, to, fair, violation)

    def _is_listened_to(self, parts: Sequence[int]) -> bool:
        """Whether some client would obey the old engine: it lives and knows of no later one."""
        old = self.engines.states[parts[ZOMBIE]].generation
        return any(self.clients.states[state].knows <= old for state in parts[CLIENTS:])

    def _judge(self, moment: Moment, step: Step, index: int) -> tuple[int, str | None]:
        if step.kind is Kind.DEFECT:
            return moment[JUDGE], f"DEFECT: {step.label}"
        unsafe = index == ENGINE and bool(self.engines.states[step.to].overtaken)
        excused = unsafe and self.ghosts[moment[JUDGE]].clean
        if not step.effects and step.cost is Cost.NOTHING and not excused:
            return moment[JUDGE], None
        overtaken = index >= CLIENTS and self._starts_late(moment, step, index)
        known = self.judged.get((moment[JUDGE], step, excused, overtaken))
        if known is None:
            ghost = spent(self.ghosts[moment[JUDGE]], step.cost, self.world)
            assert ghost is not None, "a bound is looked at before a step"
            if step.cost is Cost.MOVE:
                assert isinstance(step.detail, tuple)
                ghost = ghost._replace(targets=step.detail)
            if step.cost is Cost.RESET:
                ghost = _asked(ghost, step.detail)
            if excused:
                ghost = ghost._replace(clean=False)
            ghost, violation = moved(ghost, step.effects, step.label, overtaken=overtaken)
            known = self._ghost(ghost), violation
            self.judged[moment[JUDGE], step, excused, overtaken] = known
        return known

    def _starts_late(self, moment: Moment, step: Step, index: int) -> bool:
        """Whether a client starts what the engine has told another one not to wait for."""
        overtaken = self.engines.states[moment[ENGINE]].overtaken
        if not overtaken or not step.effects:
            return False
        member, queues = self.clients.states[moment[index]].member, self.world.message_queues
        return any(
            (queues[effect.queue], member, effect.started) in overtaken
            for effect in step.effects
            if effect.started is not None
        )

    def _ghost(self, ghost: Ghost) -> int:
        number = self.ghost_numbers.setdefault(ghost, len(self.ghosts))
        if number == len(self.ghosts):
            self.ghosts.append(ghost)
        return number

    def _violation(self, moment: Moment) -> str | None:
        """Return what is violated by a moment as such."""
        seen = 0
        engine = moment[ENGINE]
        for state in moment[CLIENTS:]:
            client = self.clients.states[state]
            if client.works_on & seen:
                overtaken = self.engines.states[engine].overtaken
                live = map(self.clients.states.__getitem__, moment[CLIENTS:])
                violation = two_owners(self.world, overtaken, list(live))
                if violation is not None:
                    return violation
            seen |= client.works_on
            if client.works_on and not self._is_tracked(engine, state):
                works = dict(client.works)
                return f"UNTRACKED: {client.member.incarnation} works on {works}"
        return None

    def _is_tracked(self, engine: int, state: int) -> bool:
        known = self.tracked.get((engine, state))
        if known is None:
            held, client = self.engines.states[engine], self.clients.states[state]
            queues = self.world.message_queues
            known = not held.granting or all(
                (queues[queue], client.member, epoch) in held.holdings
                for queue, epoch in client.works
            )
            self.tracked[engine, state] = known
        return known

    def _pruned(self, facts: int, parts: Moment) -> Moment:
        """Return the moment without the facts that can never again have an effect."""
        if not self.world.prune:
            return (facts, *parts)
        keep = 0
        engines, clients = self.engines, self.clients
        if self.ghosts[parts[JUDGE - 1]].losses and self.world.restart is not Restart.INTACT:
            keep = facts & self.facts.lasting
        for state in parts[: JUDGE - 1]:
            if state != NONE:
                engines.look(state, facts)
                keep |= facts & engines.alive[state]
        for state in parts[: JUDGE - 1]:
            if state != NONE:
                for holding in engines.states[state].holdings:
                    keep |= facts & self.facts.releases.get(holding, 0)
        for state in parts[CLIENTS - 1 :]:
            clients.look(state, facts)
            keep |= facts & clients.alive[state]
        for number in bits(keep & self.facts.gated):
            for holding in self.facts.known[number].gates:
                keep |= facts & self.facts.releases.get(holding, 0)
        return (keep, *parts)

    def stays(self, moment: Moment) -> str | None:
        """Return that the engine may never leave its barrier, if nobody else does anything more."""
        state = moment[ENGINE]
        if not self.world.prune or self.engines.states[state].granting:
            return None
        if not self.passing.stays(state, self._around(moment)):
            return None
        return "an engine that has read everything stays in its barrier"

    def unsettled(self, moment: Moment) -> str | None:
        """Return what is missing to a moment in which nothing more must happen; None: nothing."""
        engine = self.engines.states[moment[ENGINE]]
        live = [
            client
            for client in map(self.clients.states.__getitem__, moment[CLIENTS:])
            if not client.stopped
        ]
        if engine.group is None or not engine.granting:
            return "the engine is still recovering"
        for client in live:
            if client.waits:
                return f"{client.member.incarnation} still waits"
        unread = unfollowed(self.ghosts[moment[JUDGE]])
        if live and unread is not None:
            return unread
        return self._unowned(engine.group, live)

    def _unowned(self, group: GroupState, live: Sequence[ClientState]) -> str | None:
        for queue, value in group.queues.items():
            if value.overtaken and live:
                return f"queue {queue.queue_id} stays marked unsafe"
        held = owners(group)
        works = {
            (self.world.message_queues[queue], client.member, epoch)
            for client in live
            for queue, epoch in client.works
        }
        for queue in self.world.message_queues:
            grant = held.get(queue)
            wanted = group.targets.get(queue)
            if grant is None and not live:
                continue
            if grant is None or grant[0].client_id != wanted or (queue, *grant) not in works:
                return f"nobody works on queue {queue.queue_id} as its target {wanted}"
        if len(works) != (self.world.queues if live else 0):
            return "somebody works on what it does not own"
        return None


def _asked(ghost: Ghost, detail: object) -> Ghost:
    assert isinstance(detail, tuple)
    queue, position = detail
    asked = (*ghost.asked[queue], position)
    return ghost._replace(asked=(*ghost.asked[:queue], asked, *ghost.asked[queue + 1 :]))
