"""A whole world at one moment, and every step that can come next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fairlead_client.session.events import AssignmentRead

from fairlead.core.model import Epoch, MemberKey, Position
from fairlead.core.records import Claims, Heartbeat, Reset
from fairlead.core.state import GroupState
from fairlead_proof.explorer.barrier_exit import BarrierExit
from fairlead_proof.explorer.clients import Clients
from fairlead_proof.explorer.engines import Engines, owners
from fairlead_proof.explorer.environment import Environment, seen_by_engines
from fairlead_proof.explorer.facts import Facts, bits
from fairlead_proof.explorer.member_state import MemberState
from fairlead_proof.explorer.oracle import Oracle, first_oracle, moved, spent, unfollowed
from fairlead_proof.explorer.steps import Cost, Kind, Step
from fairlead_proof.explorer.thin_clients import ThinClients
from fairlead_proof.explorer.two_owners import two_owners
from fairlead_proof.explorer.world import GROUP, Restart, WorldBounds

__all__ = ["Moment", "Next", "StateSpace"]

Moment = tuple[int, ...]
"""A world at one moment: facts, engine, old engine, kept state, judge, and each client.

All but the facts are numbers of states; NONE: there is no old engine, no kept state.
"""

NONE = -1
FACTS, ENGINE, ZOMBIE, KEPT, JUDGE, CLIENTS = range(6)


class Next(NamedTuple):
    """One step that can come next, and its violation, if any."""

    label: str
    to: Moment
    fair: bool
    violation: str | None = None
    back: bool = False


@dataclass(slots=True)
class StateSpace:
    """The searched world: its parts, and the numbers of their states."""

    world: WorldBounds
    facts: Facts = field(default_factory=Facts)
    clients: Clients = field(init=False)
    thin: ThinClients = field(init=False)
    engines: Engines = field(init=False)
    oracles: list[Oracle] = field(default_factory=list)
    oracle_numbers: dict[Oracle, int] = field(default_factory=dict)
    judged: dict[tuple[int, Step, bool, bool], tuple[int, str | None]] = field(default_factory=dict)
    tracked: dict[tuple[int, MemberKey, tuple[tuple[int, Epoch], ...]], bool] = field(
        default_factory=dict
    )
    barrier_exit: BarrierExit = field(init=False)

    def __post_init__(self) -> None:
        """Create the clients and the engines, over one log."""
        self.clients = Clients(self.world, self.facts)
        self.thin = ThinClients(self.world, self.facts)
        self.engines = Engines(self.world, self.facts)
        self.barrier_exit = BarrierExit(self.engines)

    def party(self, index: int) -> Clients | ThinClients:
        """Return the party of a place in a moment: the first clients are thin."""
        return self.thin if index - CLIENTS < self.world.thin else self.clients

    def members(self, moment: Sequence[int]) -> list[MemberState]:
        """Return the states of all clients at a moment."""
        return [self.party(index).states[moment[index]] for index in range(CLIENTS, len(moment))]

    def begin(self) -> Moment:
        """Return the first moment: all clients have joined, the first grants are unread."""
        count = self.world.clients
        begun = [self.party(CLIENTS + client).begin(client, 1) for client in range(count)]
        heartbeats = [
            fact.arrival.record
            for fact in self.facts.known
            if fact.arrival is not None and isinstance(fact.arrival.record, Heartbeat)
        ]
        oracle = first_oracle(self.world)
        engine, assigned = self.engines.begin(heartbeats, oracle.targets)
        written = assigned | self.facts.claimed(1)
        for number, fact in enumerate(self.facts.known):
            # The engine read the first acknowledgements with the first heartbeats.
            if fact.arrival is not None and not isinstance(fact.arrival.record, Claims):
                written |= 1 << number
        parts = (engine, NONE, NONE, self._oracle(oracle), *(client for client, _ in begun))
        return self._pruned(written, parts)

    def nexts(self, moment: Moment) -> Iterator[Next]:
        """Yield every step that can come next and changes something."""
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
        party, state = self.party(index), moment[index]
        for number in bits(party.effective(state, moment[FACTS])):
            step = party.reads[state][number]
            if step.matters(state, moment[FACTS]):
                yield self._next(moment, step, index)
        oracle = self.oracles[moment[JUDGE]]
        for step in party.steps(state):
            if step.cost is Cost.NOTHING or oracle.deaths:
                yield self._next(moment, step, index)
        if oracle.comebacks:
            generation = self.engines.states[moment[ENGINE]].generation
            for step in party.comebacks(state, generation):
                yield self._next(moment, step, index)
        if party is self.thin:
            generation = self.engines.states[moment[ENGINE]].generation
            again = self.thin.joins_again(state, generation)
            if again is not None and again.matters(state, moment[FACTS]):
                yield self._next(moment, again, index)

    def _of_engine(self, moment: Moment, index: int) -> Iterator[Next]:
        party, state = self.engines, moment[index]
        oracle = self.oracles[moment[JUDGE]]
        if self.world.prune and not party.states[state].granting:
            environment = self._environment(moment)
            for step in self.barrier_exit.ends(state, environment):
                yield self._next(moment, step, index)
            yield from self._of_operator(moment, index, unread=True)
            return
        for number in bits(party.effective(state, moment[FACTS])):
            step = party.reads[state][number]
            if step.matters(state, moment[FACTS]):
                yield self._next(moment, step, index)
        environment = self._environment(moment)
        for step in environment.steps(state):
            yield self._next(moment, step, index)
        yield from self._of_heartbeats(moment, index)
        if party.states[state].targets != oracle.targets:
            yield self._next(moment, party.word(state, oracle.targets), index)
        yield from self._of_operator(moment, index, unread=False)

    def _of_heartbeats(self, moment: Moment, index: int) -> Iterator[Next]:
        """Yield what an engine concludes from heartbeats: mute members, differing digests."""
        state, mutes = moment[index], self.oracles[moment[JUDGE]].mutes
        for client in self.members(moment):
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
        """Yield the losses of assignments that nobody has read yet."""
        if not self.oracles[moment[JUDGE]].lost:
            return
        for number in bits(moment[FACTS] & self.facts.for_clients):
            fact = self.facts.known[number]
            if isinstance(fact.event, AssignmentRead):
                left = (moment[FACTS] & ~(1 << number), *moment[ENGINE:])
                label = f"{fact.text} for {fact.reader} is lost"
                step = Step(label, moment[ENGINE], kind=Kind.CHANCE, cost=Cost.RECORD)
                yield self._next(left, step, ENGINE)

    def _environment(self, moment: Moment) -> Environment:
        seen = tuple(map(seen_by_engines, self.members(moment)))
        oracle = self.oracles[moment[JUDGE]]
        return Environment(self.engines, moment[FACTS], seen, oracle.targets)

    def _of_operator(self, moment: Moment, index: int, *, unread: bool) -> Iterator[Next]:
        """Yield the operator's new targets; a granting engine reads them at once."""
        oracle = self.oracles[moment[JUDGE]]
        if not oracle.moves:
            return
        for queue, wanted in enumerate(oracle.targets):
            for client in self.members(moment):
                name = self.world.client_ids[client.client]
                if name == wanted or client.stopped:
                    continue
                targets = (*oracle.targets[:queue], name, *oracle.targets[queue + 1 :])
                step = Step(f"the operator aims {queue} at {name}", moment[index])
                if not unread:
                    step = self.engines.word(moment[index], targets)
                move = step._replace(cost=Cost.MOVE, kind=Kind.CHANCE, detail=targets)
                yield self._next(moment, move, index)

    def _of_resets(self, moment: Moment) -> Iterator[Next]:
        """Yield an operator's resets: to the first message of a queue, or behind its last."""
        oracle = self.oracles[moment[JUDGE]]
        if not oracle.resets:
            return
        before = self.world.resets - oracle.resets
        for queue in self.world.message_queues:
            for offset in sorted({0, self.world.offsets}):
                fact = self.facts.wanted(Reset(GROUP, queue, offset), before)
                label = f"the operator moves {queue.queue_id} to {offset}"
                asked = (queue.queue_id, Position(before + 1, offset))
                step = Step(label, moment[ENGINE], fact, Kind.CHANCE, detail=asked)
                yield self._next(moment, step._replace(cost=Cost.RESET), ENGINE)

    def _of_drivers(self, moment: Moment) -> Iterator[Next]:
        oracle = self.oracles[moment[JUDGE]]
        if not oracle.losses or moment[ZOMBIE] != NONE:
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
        """Return the whole world after a step of one part."""
        judge, violation = self._judge(moment, step, index)
        parts = list(moment)
        parts[index] = step.to
        parts[JUDGE] = judge
        if parts[KEPT] != NONE and not self.oracles[judge].losses:
            parts[KEPT] = NONE
        if self.world.prune and parts[ZOMBIE] != NONE and not self._is_listened_to(parts):
            parts[ZOMBIE] = NONE
        to = self._pruned(moment[FACTS] | step.facts, tuple(parts[1:]))
        if violation is None and (index >= CLIENTS or index == ENGINE):
            violation = self._violation(to)
        fair = step.kind is not Kind.CHANCE
        return Next(step.label, to, fair, violation, step.back)

    def _is_listened_to(self, parts: Sequence[int]) -> bool:
        """Whether a live client would obey the old engine, since it knows no later one."""
        old = self.engines.states[parts[ZOMBIE]].generation
        return any(client.knows <= old for client in self.members(parts))

    def _judge(self, moment: Moment, step: Step, index: int) -> tuple[int, str | None]:
        if step.kind is Kind.DEFECT:
            return moment[JUDGE], f"DEFECT: {step.label}"
        unsafe = index == ENGINE and bool(self.engines.states[step.to].overtaken)
        excused = unsafe and self.oracles[moment[JUDGE]].clean
        if not step.effects and step.cost is Cost.NOTHING and not excused:
            return moment[JUDGE], None
        overtaken = index >= CLIENTS and self._starts_late(moment, step, index)
        known = self.judged.get((moment[JUDGE], step, excused, overtaken))
        if known is None:
            oracle = spent(self.oracles[moment[JUDGE]], step.cost, self.world)
            assert oracle is not None, "the bound was checked before the step"
            if step.cost is Cost.MOVE:
                assert isinstance(step.detail, tuple)
                oracle = oracle._replace(targets=step.detail)
            if step.cost is Cost.RESET:
                oracle = _asked(oracle, step.detail)
            if excused:
                oracle = oracle._replace(clean=False)
            oracle, violation = moved(oracle, step.effects, step.label, overtaken=overtaken)
            known = self._oracle(oracle), violation
            self.judged[moment[JUDGE], step, excused, overtaken] = known
        return known

    def _starts_late(self, moment: Moment, step: Step, index: int) -> bool:
        """Whether a client starts under a grant that its successor does not wait for."""
        overtaken = self.engines.states[moment[ENGINE]].overtaken
        if not overtaken or not step.effects:
            return False
        member, queues = self.members(moment)[index - CLIENTS].member, self.world.message_queues
        return any(
            (queues[effect.queue], member, effect.started) in overtaken
            for effect in step.effects
            if effect.started is not None
        )

    def _oracle(self, oracle: Oracle) -> int:
        number = self.oracle_numbers.setdefault(oracle, len(self.oracles))
        if number == len(self.oracles):
            self.oracles.append(oracle)
        return number

    def _violation(self, moment: Moment) -> str | None:
        """Return the violation of a moment by itself."""
        seen = 0
        engine = moment[ENGINE]
        clients = self.members(moment)
        for client in clients:
            if client.works_on & seen:
                overtaken = self.engines.states[engine].overtaken
                violation = two_owners(self.world, overtaken, clients)
                if violation is not None:
                    return violation
            seen |= client.works_on
            if client.works_on and not self._is_tracked(engine, client):
                works = dict(client.works)
                return f"UNTRACKED: {client.member.incarnation} works on {works}"
        return None

    def _is_tracked(self, engine: int, client: MemberState) -> bool:
        name = engine, client.member, client.works
        known = self.tracked.get(name)
        if known is None:
            held = self.engines.states[engine]
            queues = self.world.message_queues
            known = not held.granting or all(
                (queues[queue], client.member, epoch) in held.holdings
                for queue, epoch in client.works
            )
            self.tracked[name] = known
        return known

    def _pruned(self, facts: int, parts: Moment) -> Moment:
        """Return the moment without the facts that can never again have an effect."""
        if not self.world.prune:
            return (facts, *parts)
        keep = 0
        engines = self.engines
        if self.oracles[parts[JUDGE - 1]].losses and self.world.restart is not Restart.INTACT:
            keep = facts & self.facts.lasting
        for state in parts[: JUDGE - 1]:
            if state != NONE:
                engines.effective(state, facts)
                keep |= facts & engines.alive[state]
        for state in parts[: JUDGE - 1]:
            if state != NONE:
                for holding in engines.states[state].holdings:
                    keep |= facts & self.facts.releases.get(holding, 0)
        for index, state in enumerate(parts[CLIENTS - 1 :], CLIENTS):
            party = self.party(index)
            party.effective(state, facts)
            keep |= facts & party.alive[state]
        for number in bits(keep & self.facts.gated):
            for holding in self.facts.known[number].gates:
                keep |= facts & self.facts.releases.get(holding, 0)
        return (keep, *parts)

    def stays(self, moment: Moment) -> str | None:
        """Return the text about an engine that would stay in its barrier for ever; None: none."""
        state = moment[ENGINE]
        if not self.world.prune or self.engines.states[state].granting:
            return None
        if not self.barrier_exit.stays(state, self._environment(moment)):
            return None
        return "an engine that has read everything stays in its barrier"

    def unsettled(self, moment: Moment) -> str | None:
        """Return why a moment without further steps is not settled; None: it is settled."""
        engine = self.engines.states[moment[ENGINE]]
        live = [client for client in self.members(moment) if not client.stopped]
        if engine.group is None or not engine.granting:
            return "the engine is still recovering"
        for client in live:
            if client.waits:
                return f"{client.member.incarnation} still waits"
        unread = unfollowed(self.oracles[moment[JUDGE]])
        if live and unread is not None:
            return unread
        return self._unowned(engine.group, live)

    def _unowned(self, group: GroupState, live: Sequence[MemberState]) -> str | None:
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


def _asked(oracle: Oracle, detail: object) -> Oracle:
    assert isinstance(detail, tuple)
    queue, position = detail
    asked = (*oracle.asked[queue], position)
    return oracle._replace(asked=(*oracle.asked[:queue], asked, *oracle.asked[queue + 1 :]))
