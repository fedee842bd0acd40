"""What an engine's steps depend on besides its own state: the log, and who has really stopped.

A lease is an order here, not a time: an engine calls only stopped clients dead, and a wait for live
clients ends only when it has heard all of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from fairlead.core.model import MemberKey
from fairlead_proof.explorer.engines import Engines
from fairlead_proof.explorer.member_state import MemberState
from fairlead_proof.explorer.steps import Step
from fairlead_proof.explorer.world import life_of

__all__ = ["Environment", "Seen", "seen_by_engines"]


class Seen(NamedTuple):
    """The part of a client's state that decides what an engine may do."""

    member: MemberKey
    birth: int
    stopped: bool
    closed: bool


def seen_by_engines(client: MemberState) -> Seen:
    """Return the part of a client's state that decides what an engine may do."""
    return Seen(client.member, client.birth, client.stopped, client.closed)


class Environment(NamedTuple):
    """The log, the clients, and the operator's newest targets, at one moment."""

    engines: Engines
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
        """Return the lapse of a stopped member; None: it is no member, or may still work."""
        group = self.engines.states[state].group
        if group is None or member not in group.members or not self._has_stopped(state, member):
            return None
        return self.engines.lapse(state, member)

    def tick(self, state: int) -> Step | None:
        """Return an engine's next tick; None: there is none, or it must read something first.

        It must hear all live clients, and read control to its end when a driver starts.
        """
        if self.engines.waits_for_all(state) and not self._all_read(state):
            return None
        return self.engines.tick(state)

    def _has_stopped(self, state: int, member: MemberKey) -> bool:
        """Whether a member has stopped for good.

        A client that left cleanly sent heartbeats until the log had all its records, so the engine
        has read them.
        """
        client = next(each for each in self.clients if each.member.client_id == member.client_id)
        if life_of(client.member) > life_of(member):
            return True
        if not client.closed:
            return client.stopped
        facts = self.engines.facts
        sent = facts.of_member.get(member, 0) & self.facts & ~facts.unread
        return not self.engines.effective(state, sent)

    def _all_read(self, state: int) -> bool:
        resets = self.facts & self.engines.facts.resets
        return self._all_heard(state) and not self.engines.effective(state, resets)

    def _all_heard(self, state: int) -> bool:
        """Whether every client that lived before the driver's start is a member.

        A driver with a state reads their heartbeats before its first tick, which follows them in
        one partition; a driver without a state hears every live client while it waits. A client
        that began with the new generation may come later: it obeys no older one.
        """
        engine = self.engines.states[state]
        members = engine.group.members if engine.group is not None else {}
        return all(
            client.stopped or client.birth >= engine.generation or client.member in members
            for client in self.clients
        )
