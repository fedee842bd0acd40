"""The thin clients of a world, and the gateways between them and the log.

A thin client is the library's thin session, and the exchange of its newest poll: what a gateway
makes of the `state` and the words of that poll. This loses nothing, though there may be any number
of gateways, polls may come late or twice, and answers may be lost:

- The client hears only the answer to its newest poll. Whatever a gateway makes of another one shows
  only in the log, by what the words of a poll make it write at once (`HostedSession.begin`).
- What a poll makes a gateway write depends on the state and the words of that poll alone. So here
  it is written when the client sends the poll. A gateway that gets it late, or again, writes the
  same facts, and everybody may read a fact late, again, and behind newer ones.
- The gateway that answers may have read anything or nothing of the log. So an exchange reads facts
  in any order, and the next one begins with nothing but what stands in the state. Or it goes on
  with the session of the exchange before, as a gateway does that has answered the last poll.
- An answer may come at any time, and a lost one leaves the client as it was: it polls again, with
  the state that it has and the words of that moment. A gateway that has kept the session may
  answer although it does not know whether its records are in the log; it has read nothing then.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf

from fairlead_client.session import events as on
from fairlead_client.session.records import Assignment
from fairlead_client.thin import thin_session as thin
from fairlead_client.thin.thin_words import Joined

from fairlead.core import model
from fairlead.gateway.poll_words import Answer
from fairlead_proof.explorer.exchange import NOW_MS, Exchange
from fairlead_proof.explorer.facts import Fact, epoch_text
from fairlead_proof.explorer.gateways import Gateways
from fairlead_proof.explorer.memory_image import FOREVER_MS
from fairlead_proof.explorer.party import DEAF, WAITS, Party, Read
from fairlead_proof.explorer.searched_thin import SearchedThin
from fairlead_proof.explorer.steps import Cost, Kind, Step
from fairlead_proof.explorer.thin_event import ThinEvent
from fairlead_proof.explorer.world import thin_key

__all__ = ["ThinClients", "ThinState"]


@dataclass(frozen=True, slots=True)
class ThinState:
    """One thin client at one moment.

    ``session`` and ``exchange`` None: its process is dead, or its lease is over, or it has left.
    """

    client: int
    life: int
    birth: int
    member: model.MemberKey
    session: SearchedThin | None = None
    exchange: Exchange | None = None
    works: tuple[tuple[int, model.Epoch], ...] = ()
    works_on: int = 0
    waits: bool = False
    digest: int | None = None
    knows: float = inf
    """The generation that its state names: a gateway that goes on obeys no older one."""
    may_return: bool = False
    closed: bool = False

    @property
    def stopped(self) -> bool:
        """Whether this session has stopped for good."""
        return self.session is None


@dataclass(slots=True)
class ThinClients(Party[ThinState]):
    """All reached states of all thin clients, and the steps between them."""

    own: dict[int, tuple[Step, ...]] = field(default_factory=dict)
    gateways: Gateways = field(init=False)
    repeated: dict[tuple[model.MemberKey, int], int] = field(default_factory=dict)
    """What a join writes that comes once more, beside its first heartbeat."""

    def __post_init__(self) -> None:
        """Create the gateways."""
        self.gateways = Gateways(self.world, self.facts)

    def begin(self, client: int, generation: int) -> tuple[int, int]:
        """Return a client's first state, with its lease, and the facts that it wrote."""
        return self._joined(client, 1, generation)

    def comebacks(self, state: int, generation: int) -> Iterator[Step]:
        """Yield the step in which a client that lost its lease joins again."""
        held = self.states[state]
        if held.may_return:
            to, facts = self._joined(held.client, held.life + 1, generation)
            label = f"{self.states[to].member.incarnation} joins anew, knowing {generation}"
            yield Step(label, to, facts, Kind.CHANCE, cost=Cost.COMEBACK)

    def joins_again(self, state: int, generation: int) -> Step | None:
        """Return the step in which a join comes once more, to a gateway that knows a generation.

        None: nothing but the first heartbeat is written, as before.
        """
        held = self.states[state]
        name = (held.member, generation)
        if name not in self.repeated:
            _, facts = self.gateways.join(held.member, generation)
            self.repeated[name] = facts & ~self.facts.sent(self.world.heartbeat(held.member, 1))
        label = f"{held.member.incarnation}'s join comes once more, to one that knows {generation}"
        facts = self.repeated[name]
        return Step(label, state, facts, Kind.CHANCE) if facts and not held.stopped else None

    def _joined(self, client: int, life: int, generation: int) -> tuple[int, int]:
        member = thin_key(self.world.client_ids[client], life)
        exchange, facts = self.gateways.join(member, generation)
        session = SearchedThin()
        session.passed(NOW_MS)
        token = str(self.gateways.number(exchange))
        joined = Joined(member.incarnation, token, member.client_id, FOREVER_MS, FOREVER_MS)
        done = ThinEvent(self.gateways, member, session, exchange, facts)
        done.obey(session.joined(session.joins, joined, NOW_MS))
        return self._number((client, life, generation), done), done.facts

    def readable(self) -> int:
        """Return the facts for clients."""
        return self.facts.for_clients

    def read(self, state: int, number: int) -> Read:
        """Return the effect of a fact on an exchange; the last one of a session reads nothing."""
        held, fact = self.states[state], self.facts.known[number]
        event, session = fact.event, held.session
        if session is None or session.state is thin.ThinState.ENDING or event is None:
            return DEAF
        if fact.reader not in (None, held.member):
            return DEAF
        match event:
            case on.AssignmentRead(record):
                step = self._reads(state, fact, lambda exchange: exchange.read_word(record))
                alive = self._may_yet(session.token, record)
            case on.GenerationRead(generation):
                step = self._reads(
                    state, fact, lambda exchange: exchange.read(generation, None, (), NOW_MS)
                )
                alive = generation > self.gateways.states[session.token][0].generation
            case on.ReleaseRead(release):
                step = self._reads(
                    state, fact, lambda exchange: exchange.read_release(release, NOW_MS)
                )
                alive = False
            case on.NoticeRead(notice) if notice.code == "lapsed":
                wrong = Step(f"{fact.text} to who may work", state, kind=Kind.DEFECT)
                return Read(wrong, alive=True)
            case _:
                return DEAF
        if step.matters(state, 1 << number) and not self._only_forgets(state, step.to):
            return Read(step, alive=True)
        return WAITS if alive else DEAF

    def _only_forgets(self, state: int, other: int) -> bool:
        """Whether reading made nothing but an add obsolete that was not passed on."""
        here, there = self.states[state].exchange, self.states[other].exchange
        return here is not None and there is not None and here.only_forgets(there)

    def _may_yet(self, token: int, record: Assignment) -> bool:
        """Whether an assignment without an effect now can have one later."""
        saved, _ = self.gateways.states[token]
        if record.generation < saved.generation:
            return False
        if saved.applied is None or record.epoch > saved.applied:
            return True
        started = {each.queue: each.started for each in saved.queues}
        names = [(each.queue, each.epoch) for each in record.add]
        names += [(each.queue, each.epoch) for each in record.assigned]
        return any(queue not in started or epoch > started[queue] for queue, epoch in names)

    def _reads(self, state: int, fact: Fact, reading: Callable[[Exchange], None]) -> Step:
        kind = Kind.FAIR if fact.holding is None else Kind.CHANCE

        label = f"{self.states[state].member.incarnation}'s gateway reads {fact.text}"
        return self._take(state, label, kind, lambda done: done.read(reading))

    def steps(self, state: int) -> tuple[Step, ...]:
        """Return the steps of a client that need no reading."""
        known = self.own.get(state)
        if known is None:
            known = self.own[state] = tuple(self._own_steps(state))
        return known

    def _own_steps(self, state: int) -> Iterator[Step]:
        held = self.states[state]
        if held.session is None:
            return
        name = held.member.incarnation
        yield from self._answers(state, name)
        for queue, epoch, offset, stopping in held.session.held:
            where = f"{queue.queue_id}@{epoch_text(epoch)}"
            if stopping:
                label = f"{name} has stopped {where} at {offset}"
                stop = partial(ThinEvent.stop, queue=queue, epoch=epoch)
                yield self._take(state, label, Kind.FAIR, stop)
                label += ", and nobody knows whether that is in the log"
                yield self._take(state, label, Kind.CHANCE, partial(stop, kept=True))
            if offset < self.world.offsets:
                label = f"{name} processes message {offset} of {where}"
                process = partial(ThinEvent.process, queue=queue, epoch=epoch, offset=offset)
                yield self._take(state, label, Kind.CHANCE, process)
        yield from self._ends(state, name)

    def _answers(self, state: int, name: str) -> Iterator[Step]:
        held = self.states[state]
        assert held.session is not None
        if held.session.state is thin.ThinState.ENDING:
            yield self._take(state, f"{name} has left", Kind.FAIR, ThinEvent.left)
            return
        again = self._take(state, f"{name} hears no answer and polls", Kind.CHANCE, ThinEvent.lost)
        if again.matters(state, 0):
            yield again._replace(back=True)
        assert held.exchange is not None
        told = _text(held.exchange.copied().answer(NOW_MS))
        label = f"{name} hears: {told}"
        step = self._take(state, label, Kind.FAIR, ThinEvent.answered)
        if step.kind is Kind.DEFECT or not self._same_client(state, step.to):
            yield step
            to_the_same = partial(ThinEvent.answered, kept=True)
            same = f"{label} (and polls the same gateway)"
            yield self._take(state, same, Kind.FAIR, to_the_same)
        for stays in (False, True):
            unconfirmed = partial(ThinEvent.answered_unconfirmed, stays=stays)
            same = f"{label}, and an answer without confirmation{' twice' * stays}"
            yield self._take(state, same, Kind.CHANCE, unconfirmed)._replace(back=True)

    def _same_client(self, state: int, other: int) -> bool:
        """Whether a client has learned nothing."""
        here, there = self.states[state].session, self.states[other].session
        assert here is not None
        return there is not None and here.image() == there.image()

    def _ends(self, state: int, name: str) -> Iterator[Step]:
        held = self.states[state]
        assert held.session is not None
        polling = held.session.state is thin.ThinState.POLLING
        may_return = polling and self.world.comebacks > 0
        label = f"{name} loses its lease" if may_return else f"{name} crashes"
        gone = self._gone(held.client, held.life, held.member, may_return=may_return)
        yield Step(label, gone, kind=Kind.CHANCE, cost=Cost.DEATH)
        if polling:
            # The gates of an exchange outlive it at its gateway alone, which answers them now.
            ways = (
                ("", ThinEvent.leave),
                (" at the same gateway", partial(ThinEvent.leave, kept=True)),
                (", unconfirmed", partial(ThinEvent.leave, kept=True, confirmed=False)),
            )
            for how, leave in ways:
                step = self._take(state, f"{name} leaves{how}", Kind.CHANCE, leave)
                yield step._replace(cost=Cost.LEAVE)
                if held.session.owned:
                    hand = partial(leave, hand_over_ms=FOREVER_MS)
                    label = f"{name} leaves and hands over{how}"
                    step = self._take(state, label, Kind.CHANCE, hand)
                    yield step._replace(cost=Cost.LEAVE)
        elif held.session.hands_over:
            label = f"{name} has no more time to hand over"
            yield self._take(state, label, Kind.FAIR, ThinEvent.leave)

    def _take(self, state: int, label: str, kind: Kind, do: Callable[[ThinEvent], None]) -> Step:
        held = self.states[state]
        assert held.session is not None
        assert held.exchange is not None
        session, exchange = held.session.copied(), held.exchange.copied()
        done = ThinEvent(self.gateways, held.member, session, exchange, 0, held.digest)
        try:
            do(done)
        except Exception as error:  # noqa: BLE001 - any exception of the session is a defect
            return Step(f"{label}: {type(error).__name__}: {error}", state, kind=Kind.DEFECT)
        to = self._number((held.client, held.life, held.birth), done)
        return Step(label, to, done.facts, kind, tuple(done.effects))

    def _gone(
        self,
        client: int,
        life: int,
        member: model.MemberKey,
        *,
        may_return: bool = False,
        closed: bool = False,
    ) -> int:
        return self.numbered(
            (client, life, may_return, closed),
            lambda: ThinState(client, life, 0, member, may_return=may_return, closed=closed),
        )

    def _number(self, whose: tuple[int, int, int], done: ThinEvent) -> int:
        client, life, _ = whose
        session, exchange = done.session, done.exchange
        if session.state is thin.ThinState.CLOSED:
            return self._gone(client, life, done.member, closed=True)
        session.settle()
        exchange.settle()
        digest = done.digest if self.world.lost else 0
        return self.numbered(
            (*whose, digest, session.image(), exchange.image()),
            lambda: self._described(whose, done, digest),
        )

    def _described(
        self, whose: tuple[int, int, int], done: ThinEvent, digest: int | None
    ) -> ThinState:
        works = tuple(
            (queue.queue_id, model.Epoch(*epoch)) for queue, epoch, _, _ in done.session.held
        )
        return ThinState(
            *whose,
            done.member,
            done.session,
            done.exchange,
            works,
            sum(1 << queue for queue, _ in works),
            done.exchange.waits or any(stopping for *_, stopping in done.session.held),
            digest,
            self.gateways.states[done.session.token][0].generation,
        )


def _text(answer: Answer) -> str:
    words = [
        f"start {each.queue.queue_id}@{epoch_text(each.epoch)} from {each.offset}"
        for each in answer.start
    ]
    words += [f"stop {each.queue.queue_id}@{epoch_text(each.epoch)}" for each in answer.stop]
    return "; ".join(words) or "nothing new"
