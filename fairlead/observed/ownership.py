"""Who holds each queue of a group, who gives it up, and who waits: the one place that decides it.

A member's assignment stays as it is after the member has given up or started its queues
(docs/protocol.md §3.12), so the assignment alone does not tell whether a drain is over. A drain is
over when its release was read, when a decision has resolved it, when the member's digest says that
the member holds exactly its assignment, or when a newer grant of the queue stands that does not
wait for it and was not made unsafely. A waiting grant is over in the same cases. A silent member
loses nothing: its assignment stands until the engine takes its queues, because it may be working.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.assignments import GroupAssignments
from fairlead.observed.group_decisions import GroupDecisions
from fairlead.observed.releases import Releases
from fairlead.wire.assignment_records import HeldEntry

__all__ = [
    "GrantEnds",
    "GroupOwnership",
    "QueueOwnership",
    "Share",
    "ShareState",
    "ownership_of",
    "shares_of",
]

ShareState = Literal["held", "gated", "draining"]

_Entries = Sequence[tuple[MemberKey, HeldEntry]]


class Share(NamedTuple):
    """The share that one member has in a queue.

    Attributes:
        state: ``held``: it works on the queue; ``gated``: it starts when others have released the
            queue; ``draining``: it has to stop and has not released the queue.
        epoch: of its grant.
        waits_for: the members whose release a gated grant waits for.
    """

    state: ShareState
    member: MemberKey
    epoch: Epoch
    waits_for: tuple[MemberKey, ...] = ()


@dataclass(frozen=True, slots=True)
class GrantEnds:
    """What proves that a grant is over.

    Attributes:
        released: the releases of the group.
        decided: its decisions.
        settled: members whose digest says that they hold exactly their assignment: they have given
            up what they had to, and wait for nothing.
    """

    released: Releases
    decided: GroupDecisions
    settled: Collection[MemberKey]

    def is_over(self, queue: MessageQueue, member: MemberKey, epoch: Epoch) -> bool:
        """Tell whether a release or a decision has ended a grant."""
        return self.released.has(queue, member, epoch) or self.decided.is_over(queue, epoch)


def shares_of(queue: MessageQueue, entries: _Entries, ends: GrantEnds) -> list[Share]:
    """Return the shares in a queue, sorted by the epochs of their grants.

    Args:
        queue: the queue.
        entries: its entries in the members' assignments, oldest grant first; at least one.
        ends: what proves that a grant is over.
    """
    # A grant that was dropped no longer says whom it waited for, so it passes nobody by.
    standing = [entry for _, entry in entries if entry.state != "draining"]
    newest = standing[-1] if standing else None
    assigned = {(member, entry.epoch) for member, entry in entries}
    ended = {each for each in assigned if ends.is_over(queue, *each)}
    awaited = {member for member, _ in newest.after} if newest else set()
    granted = ends.decided.grant(queue, newest.epoch) if newest else None
    unsafe = granted is not None and granted.unsafe
    shares = []
    for member, entry in entries:
        if (member, entry.epoch) in ended:
            continue
        settled = member in ends.settled
        # A member with a grant to hold it stays an owner: two of them are an overlap.
        is_older = newest is not None and entry.epoch < newest.epoch
        passed_by = is_older and member not in awaited and not unsafe
        if passed_by and entry.state != "held":
            continue
        if entry.state == "draining":
            if not settled:
                shares.append(Share("draining", member, entry.epoch))
            continue
        waits_for: tuple[MemberKey, ...] = ()
        if entry.state == "gated" and not settled:
            # A member whose assignment no longer has the queue has given it up.
            waits_for = tuple(each[0] for each in entry.after if each in assigned - ended)
        state: ShareState = "gated" if waits_for else "held"
        shares.append(Share(state, member, entry.epoch, waits_for))
    return shares


class QueueOwnership(NamedTuple):
    """Where one queue is.

    Attributes:
        state: of its owner's share; ``draining``: its holder gives it up, and nobody is granted it.
        owner: the present or next owner; None while it is draining.
        epoch: of the newest grant.
        holder: the member that has to give it up and has not; None: nobody.
        also: other members that it is assigned to.
    """

    state: ShareState
    owner: MemberKey | None
    epoch: Epoch
    holder: MemberKey | None = None
    also: tuple[MemberKey, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupOwnership:
    """All queues of a group that some assignment names.

    ``owned``: how many queues each member owns, including those that it waits for. ``draining``:
    queues that somebody has to give up. ``ungranted``: those of them that nobody is granted next.
    ``gated``: queues whose owner waits. ``contested``: queues that somebody gives up, or that
    several members have to hold, with all their shares.
    ``passing``: members that give a queue up, or that the engine has not yet told to start one:
    what they hold now is not all that their assignments say.
    """

    queues: Mapping[MessageQueue, QueueOwnership]
    owned: Mapping[MemberKey, int]
    draining: int
    ungranted: int
    gated: int
    contested: Mapping[MessageQueue, Sequence[Share]]
    passing: frozenset[MemberKey]

    @property
    def shared_twice(self) -> dict[MessageQueue, tuple[MemberKey, ...]]:
        """The queues that are assigned to several members, and these members."""
        return {
            queue: (hold.owner, *hold.also)
            for queue in self.contested
            if (hold := self.queues[queue]).also and hold.owner is not None
        }


def ownership_of(assignments: GroupAssignments, ends: GrantEnds) -> GroupOwnership:
    """Return where each queue is that some assignment names."""
    queues: dict[MessageQueue, QueueOwnership] = {}
    owned: Counter[MemberKey] = Counter()
    contested: dict[MessageQueue, Sequence[Share]] = {}
    passing: set[MemberKey] = set()
    for queue, entries in assignments.queues().items():
        if len(entries) == 1 and entries[0][1].state == "held":
            # Nearly every queue: the general rule comes to the same, in three times the time.
            member, entry = entries[0]
            if not ends.is_over(queue, member, entry.epoch):
                queues[queue] = QueueOwnership("held", member, entry.epoch)
                owned[member] += 1
            continue
        shares = shares_of(queue, entries, ends)
        passing.update(member for member, entry in entries if entry.state == "gated")
        passing.update(each.member for each in shares if each.state == "draining")
        hold = _hold(shares)
        if hold is None:
            continue
        queues[queue] = hold
        if hold.holder or hold.also:
            contested[queue] = shares
        if hold.owner is not None:
            owned[hold.owner] += 1
    states = Counter(hold.state for hold in queues.values())
    draining = sum(hold.holder is not None for hold in queues.values())
    ungranted, gated = states["draining"], states["gated"]
    return GroupOwnership(queues, owned, draining, ungranted, gated, contested, frozenset(passing))


def _hold(shares: Sequence[Share]) -> QueueOwnership | None:
    holder = next((each.member for each in reversed(shares) if each.state == "draining"), None)
    owners = [each for each in shares if each.state != "draining"]
    if owners:
        newest = owners[-1]
        # Who waits and has not started holds nothing yet.
        also = tuple(each.member for each in owners[:-1] if each.state == "held")
        also = tuple(member for member in also if member != newest.member)
        return QueueOwnership(
            newest.state,
            newest.member,
            newest.epoch,
            holder,
            () if newest.state == "gated" else also,
        )
    return None if holder is None else QueueOwnership("draining", None, shares[-1].epoch, holder)
