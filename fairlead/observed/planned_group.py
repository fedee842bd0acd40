"""A group as the engine holds it: members, routes, owners and rules; a plan starts from it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.core.draft import Draft
from fairlead.core.membership.members import sharing_members
from fairlead.core.model import (
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Subscription,
)
from fairlead.core.moment import Moment
from fairlead.core.records import Heartbeat
from fairlead.core.rules.group_rules import EngineRules, GroupRules, rules_of
from fairlead.core.state import Grant, GroupState, Member, QueueState
from fairlead.core.targets.compute import shared_queues

__all__ = [
    "GENERATION",
    "SOMEWHERE",
    "PlannedGroup",
    "empty_group",
    "heartbeat_of",
    "owned_by",
]

GENERATION = 1

SOMEWHERE = Position(0, 0)
"""The position of every queue in a plan: positions decide nothing about owners."""

_INCARNATION = "planned"
_BEFORE = Epoch(GENERATION, 0)


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """One state of a group, and the rules that the engine gives to each of its steps.

    ``state.routes`` may have topics that nobody subscribes to: a joining member may. ``of_all``:
    the rules of all groups, which the engine's defaults include. ``clock_ms``: the one moment of a
    plan; nothing in it takes time, so no lease ends.
    """

    state: GroupState
    engine: EngineRules
    of_all: Mapping[str, Any] = field(default_factory=dict)
    clock_ms: int = 0

    @property
    def members(self) -> dict[str, Member]:
        """The members that share the queues, by client id."""
        return sharing_members(self.state)

    @property
    def rules(self) -> GroupRules:
        """The rules in force."""
        return rules_of(self.state.rules, self.engine)

    @property
    def queues(self) -> list[MessageQueue]:
        """The readable queues of every topic that somebody subscribes to."""
        return [queue for held in shared_queues(self.state).values() for queue in held]

    @property
    def owners(self) -> dict[MessageQueue, str]:
        """The owner of each readable queue; a holder that has to give it up is none."""
        members, queues = self.members, self.state.queues
        owners = {}
        for queue in self.queues:
            value = queues.get(queue)
            if value is None or not value.chain or value.chain[-1].dropped:
                continue
            holder = value.chain[-1].member
            member = members.get(holder.client_id)
            # Not a former process of the client: the engine takes its queues for the newest one.
            if member is not None and member.key == holder:
                owners[queue] = holder.client_id
        return owners

    def draft(self) -> Draft:
        """Return a step in the making, on a copy of the group."""
        moment = Moment(self.clock_ms, append_ms=0, marker=GENERATION)
        return Draft(self.state.copy(), moment, self.engine, self.rules, dirty=True)

    def owned(self, owners: Mapping[MessageQueue, str]) -> "PlannedGroup":
        """Return the group with these owners and no others.

        Each owner is a member.
        """
        state = self.state.copy()
        members = sharing_members(state)
        state.queues = {
            queue: owned_by(members[client_id].key) for queue, client_id in owners.items()
        }
        state.targets = dict(owners)
        return replace(self, state=state)


def empty_group(group: str) -> GroupState:
    """Return a group without members."""
    return GroupState(group, created_ms=0, generation=GENERATION)


def owned_by(member: MemberKey) -> QueueState:
    """Return a queue that one member holds and nobody waits for."""
    return QueueState(base=SOMEWHERE, chain=(Grant(member, _BEFORE),))


def heartbeat_of(
    group: str, client_id: str, topics: Iterable[str], profile: MemberProfile
) -> Heartbeat:
    """Return the first heartbeat of a planned member, or of one in a group file."""
    return Heartbeat(
        group,
        MemberKey(client_id, _INCARNATION),
        Process(0, _INCARNATION),
        incarnations=1,
        sequence=1,
        generation=GENERATION,
        profile=profile,
        subscriptions=tuple(Subscription(topic) for topic in sorted(topics)),
        applied=None,
        digest=0,
    )
