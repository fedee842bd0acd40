"""The gateways of a world: each may serve any exchange, and knows what the client's state says."""

from dataclasses import dataclass, field

from fairlead_client.model import Epoch, Queue
from fairlead_client.model import Process as ClientProcess
from fairlead_client.session.saved_session import SavedSession
from fairlead_client.session.seen_releases import SeenReleases

from fairlead.core.model import MemberKey
from fairlead_proof.explorer.appending import appended
from fairlead_proof.explorer.exchange import NOW_MS, Exchange, Fold, settled_state
from fairlead_proof.explorer.facts import Facts
from fairlead_proof.explorer.memory_image import settings_of
from fairlead_proof.explorer.world import CLIENT_SUBSCRIPTIONS, GROUP, WorldBounds, process_of

__all__ = ["Gateways"]

State = tuple[SavedSession, frozenset[tuple[Queue, Epoch]]]
"""What a `state` says of a session: the session, and which starts the client knows."""


@dataclass(slots=True)
class Gateways:
    """The states that answers carry, by number, and the sessions that go on from them."""

    world: WorldBounds
    facts: Facts
    states: list[State] = field(default_factory=list)
    _numbers: dict[State, int] = field(default_factory=dict)

    def join(self, member: MemberKey, generation: int) -> tuple[Exchange, int]:
        """Return a session that has just joined, and what the gateway writes for it."""
        exchange = self._hosted(member.client_id, None)
        heartbeat = exchange.join(member.incarnation, generation, NOW_MS)
        facts, _ = appended(self.facts, self.world, member, heartbeat)
        return exchange, facts

    def number(self, exchange: Exchange) -> int:
        """Return the number of the state that the session's answer carries."""
        state = settled_state(exchange.saved()), exchange.told
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def restored(self, client_id: str, number: int) -> Exchange:
        """Return the session of a state, at a gateway that has read nothing else."""
        return self._hosted(client_id, self.states[number])

    def _hosted(self, client_id: str, state: State | None) -> Exchange:
        saved, told = (None, frozenset[tuple[Queue, Epoch]]()) if state is None else state
        process = process_of(client_id)
        settings = settings_of(
            GROUP, client_id, ClientProcess(process.start_ms, process.uuid), CLIENT_SUBSCRIPTIONS
        )
        exchange = Exchange(settings, saved, told, SeenReleases(), NOW_MS)
        exchange.words = Fold(GROUP)
        return exchange
