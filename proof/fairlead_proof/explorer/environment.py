"""What an engine's steps depend on besides its own state: the log, and who has really stopped.

Leases are an order here, not a time: an engine takes only those for dead that work no more, and a
wait for everybody who may be alive is over only when all of them were heard.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead_proof.explorer.client_half import ClientState
from fairlead_proof.explorer.engine_half import EngineHalf
from fairlead_proof.explorer.steps import Step
from fairlead_proof.explorer.world import life_of

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

    def steps(self, state: int) -> Iterator[Step]:
        """Yield what an engine in this state can do by itself now."""
        group = self.engines.states[state].group
        for member in sorted(group.members) if group is not None else ():
            lapse = self.lapse(state, member)
            if lapse is not None:
                yield lapse
        tick = self.tick(state)
        if tick is not None:
            yield tick

    def lapse(self, state: int, member: MemberKey) -> Step | None:
        """Return the lapse of a member that works no more; None: it is no member, or it may."""
        group = self.engines.states[state].group
        if group is None or member not in group.members or not self._has_stopped(state, member):
            return None
        return self.engines.lapse(state, member)

    def tick(self, state: int) -> Step | None:
        """Return an engine's next tick; None: there is none, or something is to be read first.

        That is whoever may be working, and what an operator said: control is read to its end when a
        driver starts.
        """
        if self.engines.waits_for_all(state) and not self._all_read(state):
            return None
        return self.engines.tick(state)

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

    def _all_read(self, state: int) -> bool:
        resets = self.facts & self.engines.facts.resets
        return self._all_heard(state) and not self.engines.look(state, resets)

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
