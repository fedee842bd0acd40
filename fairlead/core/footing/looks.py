"""Whom the data plane lists as a group's members, as bridges tell it.

Only records decide what is kept here, and the append time of the group's own changes: batches
without a decision may be cut in any way. A look counts if it was appended after the group last
changed, and read after it. A bridge begins a look when the one before is appended; so of two looks
of one bridge that count, the newer one was begun after that change. The topic's order and its
append times say all of this, and no clock of a bridge does.
"""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.footing.transitions import standing_of
from fairlead.core.model import MemberKey
from fairlead.core.name_list import listed as listed_words
from fairlead.core.outputs import Cause
from fairlead.core.records import Arrival
from fairlead.core.standby_records import MembersLook
from fairlead.core.standing import ClusterLooks, Standing
from fairlead.core.state import GroupState, Member
from fairlead.core.targets.compute import FOREIGN_MEMBER

__all__ = [
    "ENOUGH_LOOKS",
    "apply_look",
    "ids_of",
    "live_members",
    "note_changes",
    "note_foreign",
    "reads_rocketmq",
]

ENOUGH_LOOKS: Final = 2
"""So many looks must list the members and nobody else."""

_MORE_THAN_MEMBERS: Final = 100
"""The group keeps so many ids more than its quota of members."""
_FOREIGN_MAX: Final = 100
_SILENT_MS: Final = 15_000
"""A bridge that lives looks every five seconds."""
_CLUSTERS_MAX: Final = 8


def reads_rocketmq(member: Member) -> bool:
    """Tell whether a member says that it reads queues of RocketMQ."""
    return member.profile.rocketmq_id is not None


def live_members(state: GroupState) -> dict[MemberKey, Member]:
    """Return the members that do not leave."""
    return {key: member for key, member in state.members.items() if not member.leaving}


def ids_of(members: Iterable[Member]) -> list[str]:
    """Return the ids under which RocketMQ lists these members, sorted."""
    ids = (member.profile.rocketmq_id for member in members)
    return sorted(each for each in ids if each is not None)


def apply_look(draft: Draft, arrival: Arrival, look: MembersLook) -> None:
    """Keep a cluster's newest look at a group that reads RocketMQ."""
    standing, append_ms = draft.state.standing, arrival.source.append_ms
    if standing is None:
        draft.counts["members", "stale"] += 1
        return
    known = standing.looks.get(look.cluster)
    looks = dict(standing.looks)
    if not look.look:
        looks.pop(look.cluster, None)
    elif known is not None and _is_known(known, look, append_ms):
        draft.counts["members", "duplicate"] += 1
        return
    else:
        if known is None and len(looks) >= _CLUSTERS_MAX:
            draft.counts["members", "stale"] += 1
            return
        members_max = draft.rules.quota.members
        looks[look.cluster] = _after(known, look, append_ms, standing, members_max)
    draft.counts["members", "applied"] += 1
    draft.state.standing = replace(standing, looks=looks)


def _is_known(known: ClusterLooks, look: MembersLook, append_ms: int) -> bool:
    """Tell whether a look was read before, or is of a second bridge of its cluster.

    Only looks of one bridge follow each other; the other one counts when that has been silent.
    """
    if known.bridge == look.bridge:
        return known.look >= look.look
    return append_ms - known.append_ms < _SILENT_MS


def _after(
    known: ClusterLooks | None,
    look: MembersLook,
    append_ms: int,
    standing: Standing,
    members_max: int,
) -> ClusterLooks:
    """Return what is kept of a cluster after one more look."""
    everybody = sorted({each for broker in look.brokers for each in broker.members})
    ids = everybody[: members_max + _MORE_THAN_MEMBERS]
    since = {} if known is None else known.listed
    listed = {each: since.get(each, append_ms) for each in ids}
    first = look.brokers[0].members if look.brokers else None
    same = first is not None and all(each.members == first for each in look.brokers)
    even = look.complete and same and len(ids) == len(everybody)
    counted = 0
    if even and append_ms > standing.changed_ms:
        before = known
        goes_on = (
            before is not None
            and before.even
            and before.bridge == look.bridge
            and before.listed.keys() == listed.keys()
        )
        counted = min(ENOUGH_LOOKS, (before.counted if before and goes_on else 0) + 1)
    return ClusterLooks(look.bridge, look.look, append_ms, listed, look.complete, even, counted)


def note_changes(draft: Draft) -> bool:
    """Let no look count any more if the members changed in this step; tell whether they did.

    So does an answer to a freeze. A step with such a change writes a decision.
    """
    standing = standing_of(draft)
    texts = sorted(
        f"{client_id} {incarnation} {member.profile.data_plane} {member.profile.follows}"
        for (client_id, incarnation), member in live_members(draft.state).items()
    )
    who = sha256("\n".join(texts).encode()).hexdigest()[:16]
    changed = who != standing.who
    if changed or draft.looks_void:
        draft.looks_void = False
        draft.state.standing = replace(
            standing,
            who=who,
            changed_ms=draft.moment.append_ms,
            looks={name: replace(each, counted=0) for name, each in standing.looks.items()},
        )
    return changed


def note_foreign(draft: Draft) -> None:
    """Note who is in the group for the data plane alone, and when that begins and ends."""
    standing = standing_of(draft)
    foreign = () if standing.is_theirs else _foreign(draft, standing)
    if foreign == standing.foreign:
        return
    draft.state.standing = replace(standing, foreign=foreign)
    if set(foreign) - set(standing.foreign):
        because = f"in the group without Fairlead: {listed_words(foreign)}"
        draft.because_of(Cause(FOREIGN_MEMBER, because=because))
    elif not foreign:
        draft.because_of(Cause(f"{FOREIGN_MEMBER}_gone"))


def _foreign(draft: Draft, standing: Standing) -> tuple[str, ...]:
    patience_ms = draft.rules.lease_ms + draft.rules.margin_ms
    found = {
        each
        for looks in standing.looks.values()
        for each, since_ms in looks.listed.items()
        if looks.append_ms - since_ms > patience_ms
    }
    known = {*ids_of(draft.state.members.values()), *standing.gone}
    return tuple(sorted(found - known)[:_FOREIGN_MAX])
