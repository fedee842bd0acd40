"""One event of a thin client, and what follows from it at once: a new poll, and what it writes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session import actions as act
from fairlead_client.session.lifecycle_steps import held_digest
from fairlead_client.thin import thin_session as thin
from fairlead_client.thin.thin_words import Poll as SentPoll
from fairlead_client.thin.thin_words import PollAnswer

from fairlead.core import model
from fairlead.gateway.poll_words import Poll
from fairlead_proof.explorer.appending import appended
from fairlead_proof.explorer.exchange import NOW_MS, Exchange
from fairlead_proof.explorer.gateways import Gateways
from fairlead_proof.explorer.memory_image import FOREVER_MS
from fairlead_proof.explorer.searched_thin import SearchedThin
from fairlead_proof.explorer.steps import Effect

__all__ = ["ThinEvent"]


@dataclass(slots=True)
class ThinEvent:
    """One event of a thin client, and its immediate consequences."""

    gateways: Gateways
    member: model.MemberKey
    session: SearchedThin
    exchange: Exchange
    facts: int = 0
    digest: int | None = None
    effects: list[Effect] = field(default_factory=list)
    stays: bool = False
    """Whether the client polls the same gateway again after an answer without confirmation."""

    def obey(
        self,
        actions: list[thin.Action],
        kept: Exchange | None = None,
        *,
        confirmed: bool = True,
    ) -> None:
        """Carry out what the thin session says; its polls begin exchanges at once, also late ones.

        ``kept``: the session that the next gateway has kept. Not ``confirmed``: that gateway does
        not learn whether its records are in the log, and answers all the same.
        """
        if not any(isinstance(each, thin.SendPoll | thin.SendLeave) for each in actions):
            actions = [*actions, *self.session.passed(NOW_MS + thin.GATHER_MS)]
        for action in actions:
            match action:
                case thin.StartWork(queue, epoch, offset):
                    start = Position(self._reset(queue, epoch), offset)
                    position = model.Position(*start)
                    self.effects.append(Effect(queue.queue_id, model.Epoch(*epoch), position))
                case thin.SendPoll(poll) if not confirmed:
                    self._begin(poll, kept, confirmed=False)
                    self.answered(kept=self.stays)
                case thin.SendPoll(poll) | thin.SendLeave(poll):
                    self._begin(poll, kept)

    def _reset(self, queue: Queue, epoch: Epoch) -> int:
        saved, _ = self.gateways.states[self.session.token]
        resets = {(each.queue, each.started): each.position.reset for each in saved.queues}
        return resets[queue, epoch]

    def _begin(self, sent: SentPoll, kept: Exchange | None, *, confirmed: bool = True) -> None:
        gateways, session = self.gateways, self.session
        restored = gateways.restored(self.member.client_id, session.token)
        exchange = self.exchange = kept or restored
        poll = Poll(1, sent.working, sent.stopped, None, sent.leaving)
        actions = exchange.begin(poll, NOW_MS)
        self.write(actions, confirmed=confirmed)
        self.digest = int(held_digest(exchange.memory), 16)

    def write(self, actions: list[act.Action], *, confirmed: bool = True) -> None:
        """Append what the hosted session writes."""
        gateways, exchange = self.gateways, self.exchange
        events = []
        claimed = {each.generation for each in actions if isinstance(each, act.SendClaims)}
        saved, _ = gateways.states[self.session.token]
        if saved.claimed:
            claimed.add(saved.generation)
        for action in actions:
            facts, event = appended(gateways.facts, gateways.world, self.member, action)
            self.facts |= facts
            if event is not None:
                events.append(event)
            if isinstance(action, act.SendHeartbeat):
                self._beat(action, claimed)
        for event in events if confirmed else ():
            exchange.appended(event, NOW_MS)

    def _beat(self, action: act.SendHeartbeat, claimed: set[int]) -> None:
        """Note a heartbeat that may acknowledge a generation: it says that nothing is held.

        Behind the claims of its generation in the log it says nothing new.
        """
        if int(action.digest, 16) or not action.generation or action.generation in claimed:
            return
        gateways = self.gateways
        first = gateways.world.heartbeat(self.member, action.incarnations)
        beat = replace(first, sequence=2, generation=action.generation)
        self.facts |= gateways.facts.sent(beat)

    def read(self, reading: Callable[[Exchange], None]) -> None:
        """The gateway reads; it writes nothing of what it learns before the client's next poll."""
        reading(self.exchange)

    def answered(self, *, kept: bool = False, confirmed: bool = True) -> None:
        """The client hears the answer, and polls any gateway."""
        exchange = self.exchange
        answer = exchange.answer(NOW_MS)
        token = str(self.gateways.number(exchange))
        heard = PollAnswer(token, FOREVER_MS, answer.start, answer.stop, answer.working)
        actions = self.session.answered(self.session.sequence, heard, NOW_MS)
        self.obey(actions, exchange if kept else None, confirmed=confirmed)

    def answered_unconfirmed(self, *, stays: bool) -> None:
        """The client hears the answer, and an unconfirmed one of the same gateway."""
        self.stays = stays
        self.answered(kept=True, confirmed=False)

    def lost(self) -> None:
        """The client hears no answer, and polls again."""
        self.session.failed(1, NOW_MS)
        self.obey(self.session.passed(NOW_MS + thin.RETRY_MS))

    def left(self) -> None:
        """The client hears that its session has ended."""
        self.obey(self.session.left(NOW_MS))

    def leave(self, *, kept: bool = False, confirmed: bool = True, hand_over_ms: int = 0) -> None:
        """The application closes the client; ``kept``: the gateway that answered last hears it."""
        exchange = self.exchange
        if kept:
            self.answered()
        actions = self.session.leave(NOW_MS, hand_over_ms)
        self.obey(actions, exchange if kept else None, confirmed=confirmed)

    def stop(self, queue: Queue, epoch: Epoch, *, kept: bool = False) -> None:
        """The application has stopped this work; ``kept``: the same, without confirmation."""
        exchange = self.exchange
        if kept:
            self.answered()
        actions = self.session.stopped(queue, epoch, None, None, NOW_MS)
        self.obey(actions, exchange if kept else None, confirmed=not kept)

    def process(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """The application processes this message."""
        self.obey(self.session.progressed(queue, epoch, offset + 1, None, NOW_MS))
        position = model.Position(self._reset(queue, epoch), offset + 1)
        self.effects.append(Effect(queue.queue_id, None, position))
