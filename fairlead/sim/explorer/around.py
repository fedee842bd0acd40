"""What an engine's steps depend on besides its own state: the log, and who has really stopped.

Leases are an order here, not a time: an engine takes only those for dead that work no more, and a
wait for everybody who may be alive is over only when all of them were heard.
"""

from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead.sim.explorer.client_half import ClientState
from fairlead.sim.explorer.engine_half import EngineHalf
from fairlead.sim.explorer.steps import Kind, Step
from fairlead.sim.explorer.world import life_of

__all__ = ["Around", "Seen", "seen_by_engines"]


class Seen(NamedTuple):
    """What matters of a client to what an engine may do."""

    member: MemberKey
    birth: int
    stopped: bool
    closed: bool


def seen_by_engines(client: ClientState) -> Seen:
    """Return what matters of a client to what an engine may do."""
    return Seen(client.member, client.birth, client.stopped, client.closed)


class Around(NamedTuple):
    """The log, the clients, and the operator's newest word, at one moment."""

    engines: EngineHalf
    facts: int
    clients: tuple[Seen, ...]
    targets: tuple[str, ...]

    def allows(self, state: int, step: Step) -> bool:
        """Whether an engine in this state can take a step of its own now."""
        if step.kind is Kind.LAPSE:
            assert isinstance(step.detail, tuple)
            return self._has_stopped(state, MemberKey(*step.detail))
        return step.kind is not Kind.HEARD or self._all_heard(state)

    def _has_stopped(self, state: int, member: MemberKey) -> bool:
        """Whether a member works no more.

        Who left cleanly heartbeat until all that it had to say was in the log, so it was read.
        """
        client = next(each for each in self.clients if each.member.client_id == member.client_id)
        if life_of(client.member) > life_of(member):
            return True
        if not client.closed:
            return client.stopped
        facts = self.engines.facts
        said = facts.of_member.get(member, 0) & self.facts & ~facts.unread
        return not self.engines.look(state, said)

    def _all_heard(self, state: int) -> bool:
        """Whether every client that lived before the driver started is a member.

        A driver with a state reads their heartbeats before its first tick, which stands behind them
        in one partition; one without hears whoever is alive while it waits. Whoever began knowing
        the generation may come later: it takes nothing of an older one.
        """
        engine = self.engines.states[state]
        members = engine.group.members if engine.group is not None else {}
        return all(
            client.stopped or client.birth >= engine.generation or client.member in members
            for client in self.clients
        )
