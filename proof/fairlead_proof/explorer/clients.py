"""The clients of a world: real sessions, with numbered states and remembered steps.

A client is a chain of incarnations. It carries out each action of its session at once: a broker
appends and acknowledges a record in the same step, since a client that dies before the append is
like one that dies before the step. Only the steps of other parts interleave.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

from fairlead_client.model import Process as ClientProcess
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.lifecycle_steps import held_digest
from fairlead_client.session.memory import OWNED, Memory
from fairlead_client.session.session import LEASED, Session
from fairlead_client.session.states import QueueState, SessionState

from fairlead.core import model
from fairlead_proof.explorer.appending import appended
from fairlead_proof.explorer.facts import epoch_text
from fairlead_proof.explorer.memory_image import FOREVER_MS, copied, image, settings_of, settle
from fairlead_proof.explorer.party import DEAF, WAITS, Party, Read
from fairlead_proof.explorer.steps import Cost, Effect, Kind, Step
from fairlead_proof.explorer.world import (
    CLIENT_SUBSCRIPTIONS,
    GROUP,
    member_key,
    process_of,
)

__all__ = ["ClientState", "Clients"]


class _Session(Session):
    """The real session, continued from the memory of another one."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory


@dataclass(frozen=True, slots=True)
class ClientState:
    """One client at one moment.

    ``birth`` is the newest claimed generation at the beginning of its incarnation; ``memory`` None:
    its process is dead.
    """

    client: int
    life: int
    birth: int
    memory: Memory | None
    member: model.MemberKey
    works: tuple[tuple[int, model.Epoch], ...] = ()
    """The queues that it works on under a running lease, and their epochs."""
    works_on: int = 0
    """The same queues as bits."""
    waits: bool = False
    """A gate or a drain of a live client is open."""
    digest: int | None = None
    """The digest in its heartbeats; None: it has no lease."""

    @property
    def stopped(self) -> bool:
        """Whether this incarnation has stopped for good."""
        return self.memory is None or self.memory.state not in LEASED

    @property
    def knows(self) -> float:
        """The newest generation that it knows, and obeys; infinite if it has stopped."""
        return inf if self.stopped or self.memory is None else self.memory.generation

    @property
    def closed(self) -> bool:
        """Whether it left cleanly."""
        return self.memory is not None and self.memory.state is SessionState.CLOSED


@dataclass(slots=True)
class Clients(Party[ClientState]):
    """All reached states of all clients, and the steps between them."""

    own: dict[int, tuple[Step, ...]] = field(default_factory=dict)

    def begin(self, client: int, generation: int) -> tuple[int, int]:
        """Return a client's first state, with its lease, and the facts that it wrote."""
        client_id = self.world.client_ids[client]
        process = process_of(client_id)
        settings = settings_of(
            GROUP, client_id, ClientProcess(process.start_ms, process.uuid), CLIENT_SUBSCRIPTIONS
        )
        return self._live(client, 1, generation, Memory(settings, settings.subscriptions))

    def comebacks(self, state: int, generation: int) -> Iterator[Step]:
        """Yield the step in which a client that lost its lease begins a new incarnation."""
        held = self.states[state]
        memory = held.memory
        if memory is None or not memory.new_incarnation_asked:
            return
        to, facts = self._live(held.client, held.life + 1, generation, copied(memory))
        label = f"{self.states[to].member.incarnation} begins anew, knowing {generation}"
        yield Step(label, to, facts, Kind.CHANCE, cost=Cost.COMEBACK)

    def _live(self, client: int, life: int, generation: int, memory: Memory) -> tuple[int, int]:
        member = member_key(self.world.client_ids[client], life)
        done = _Doing(self, memory, member)
        done.handle(on.Started(member.incarnation, generation))
        done.handle(on.HeartbeatAppended(member.incarnation, 1, 0))
        return self._number(client, life, generation, done), done.facts

    def readable(self) -> int:
        """Return the facts for clients."""
        return self.facts.for_clients

    def read(self, state: int, number: int) -> Read:
        """Return the effect of a fact on a client; a dead client ignores every fact."""
        held, fact = self.states[state], self.facts.known[number]
        if fact.event is None:
            return DEAF
        if held.stopped:
            # A new incarnation learns everything again, and may still find its assignments.
            mine = fact.reader == held.member and self._may_return(held.memory)
            return WAITS if mine else DEAF
        kind = Kind.FAIR if fact.holding is None else Kind.CHANCE
        step = self._take(state, fact.event, f"{_name(held)} reads {fact.text}", kind)
        if step.matters(state, 1 << number):
            return Read(step, alive=True)
        mine = fact.reader is None or fact.reader == held.member
        return WAITS if mine and self._may_yet(held, number) else DEAF

    def _may_yet(self, held: ClientState, number: int) -> bool:
        """Whether a fact without an effect now can have one later.

        A claim or an assignment has none after a newer one. A release only matters to a client that
        waits for it, and the gates of facts name those clients.
        """
        fact, memory = self.facts.known[number], held.memory
        assert memory is not None
        if fact.holding is not None:
            return False
        if not isinstance(fact.event, on.AssignmentRead):
            return fact.generation > memory.generation
        if fact.generation < memory.generation:
            return False
        tops = [
            memory.queues[queue].top
            for queue in map(_client_queue, self.world.message_queues)
            if queue in memory.queues
        ]
        return len(tops) < self.world.queues or min(tops) < fact.event.record.epoch

    def steps(self, state: int) -> tuple[Step, ...]:
        """Return the steps of a client that need no reading."""
        known = self.own.get(state)
        if known is None:
            known = self.own[state] = tuple(self._own_steps(state))
        return known

    def _own_steps(self, state: int) -> Iterator[Step]:
        held = self.states[state]
        memory = held.memory
        if memory is None or memory.state is SessionState.CLOSED:
            return
        name = _name(held)
        for queue in memory.queues.values():
            offset = queue.position.offset
            where = f"{queue.queue.queue_id}@{epoch_text(queue.started)}"
            if queue.state is QueueState.DRAINING:
                kind = Kind.FAIR if memory.state in LEASED else Kind.CHANCE
                event = on.WorkStopped(queue.queue, queue.started, offset)
                yield self._take(state, event, f"{name} has stopped {where} at {offset}", kind)
            if queue.state in OWNED and memory.state in LEASED and offset < self.world.offsets:
                made = on.ProgressMade(queue.queue, queue.started, offset + 1)
                text = f"{name} processes message {offset} of {where}"
                step = self._take(state, made, text, Kind.CHANCE)
                reached = model.Position(queue.position.reset, offset + 1)
                effect = Effect(queue.queue.queue_id, None, reached)
                yield step._replace(effects=(*step.effects, effect))
        if memory.state in LEASED:
            yield from self._ends(state, name)

    def _ends(self, state: int, name: str) -> Iterator[Step]:
        held = self.states[state]
        dead = self._dead(held.client, held.life, held.member)
        yield Step(f"{name} crashes", dead, kind=Kind.CHANCE, cost=Cost.DEATH)
        late = self._take(
            state, on.TimePassed(), f"{name} loses its lease", Kind.CHANCE, now_ms=FOREVER_MS
        )
        yield late._replace(cost=Cost.DEATH)
        memory = held.memory
        if memory is not None and memory.state is not SessionState.LEAVING:
            step = self._take(state, on.LeaveRequested(), f"{name} leaves", Kind.CHANCE)
            yield step._replace(cost=Cost.LEAVE)
            if memory.works_on:
                ask = on.LeaveRequested(FOREVER_MS)
                step = self._take(state, ask, f"{name} leaves and hands over", Kind.CHANCE)
                yield step._replace(cost=Cost.LEAVE)
        elif memory is not None and memory.hand_over_until_ms is not None:
            label = f"{name} has no more time to hand over"
            yield self._take(state, on.LeaveRequested(), label, Kind.FAIR)

    def _take(
        self, state: int, event: on.Event, label: str, kind: Kind, *, now_ms: int = 0
    ) -> Step:
        held = self.states[state]
        assert held.memory is not None
        done = _Doing(self, copied(held.memory), held.member)
        try:
            done.handle(event, now_ms)
        except Exception as error:  # noqa: BLE001 - any exception of the session is a defect
            return Step(f"{label}: {type(error).__name__}: {error}", state, kind=Kind.DEFECT)
        to = self._number(held.client, held.life, held.birth, done)
        return Step(label, to, done.facts, kind, tuple(done.effects))

    def _may_return(self, memory: Memory | None) -> bool:
        """Whether a new incarnation may follow this one."""
        if not self.world.comebacks or memory is None:
            return False
        return memory.state is SessionState.FENCED and not memory.closing

    def _dead(self, client: int, life: int, member: model.MemberKey) -> int:
        return self.numbered((client, life), lambda: ClientState(client, life, 0, None, member))

    def _number(self, client: int, life: int, birth: int, done: "_Doing") -> int:
        memory = done.memory
        settle(memory)
        forgets = memory.state not in LEASED and not self._may_return(memory)
        if forgets and self.world.prune:
            # A stopped incarnation forgets everything except queues that it may have to release.
            birth = 0
            idle = [queue for queue, held in memory.queues.items() if not held.works]
            for queue in idle:
                del memory.queues[queue]
            memory.generation = 0
            memory.pending.clear()
            if not memory.queues and not memory.closing:
                return self._dead(client, life, done.member)
        return self.numbered(
            (client, life, birth, image(memory)),
            lambda: _described(client, life, birth, done),
        )


@dataclass(slots=True)
class _Doing:
    """One event and its immediate consequences."""

    party: Clients
    memory: Memory
    member: model.MemberKey
    facts: int = 0
    effects: list[Effect] = field(default_factory=list)

    def handle(self, event: on.Event, now_ms: int = 0) -> None:
        """Pass an event to the session, and carry out its actions and what is due at once."""
        session = _Session(self.memory)
        self._do(session, session.handle(event, now_ms), now_ms)
        self._do(session, session.handle(on.TimePassed(), now_ms), now_ms)

    def _do(self, session: Session, actions: list[act.Action], now_ms: int) -> None:
        for action in actions:
            facts, answer = appended(self.party.facts, self.party.world, self.member, action)
            self.facts |= facts
            if answer is not None:
                self._do(session, session.handle(answer, now_ms), now_ms)
            if isinstance(action, act.StartWork):
                epoch = model.Epoch(*action.epoch)
                position = model.Position(*action.position)
                start = Effect(action.queue.queue_id, epoch, position)
                self.effects.append(start)


def _described(client: int, life: int, birth: int, done: _Doing) -> ClientState:
    memory = done.memory
    leased = memory.state in LEASED
    works = tuple(
        (queue.queue.queue_id, model.Epoch(*queue.started))
        for queue in memory.queues.values()
        if queue.state in OWNED and leased
    )
    on_bits = sum(1 << queue for queue, _ in works)
    waits = leased and any(
        queue.gate is not None or queue.state is QueueState.DRAINING
        for queue in memory.queues.values()
    )
    digest = int(held_digest(memory), 16) if leased else None
    return ClientState(client, life, birth, memory, done.member, works, on_bits, waits, digest)


def _client_queue(queue: model.MessageQueue) -> Any:
    return tuple(queue)


def _name(held: ClientState) -> str:
    return held.member.incarnation
