"""What a view of all groups tells the ribbon of one group, taken while nobody changes the view."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.group_decisions import GroupDecisions, LastGrant, LoggedDecision
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.ownership import GroupOwnership, Share
from fairlead.observed.releases import Releases
from fairlead.observed.silences import lapsed_clients, silent_since

__all__ = ["OpenShares", "RibbonFacts", "RibbonPlace", "facts_of"]

_SILENT_PART = 2
"""A client is silent once nothing was heard of it for this part of its lease: it heartbeats at
least three times in it."""


@dataclass(frozen=True, slots=True)
class RibbonPlace:
    """How far a ribbon has followed a view.

    Attributes:
        decided: the decisions that it follows; other ones begin anew.
        offset: of the newest decision that it has taken.
        ownership: what it has seen of who holds what.
    """

    decided: GroupDecisions
    offset: int
    ownership: GroupOwnership


@dataclass(frozen=True, slots=True)
class OpenShares:
    """Who has to do with the queues now.

    Attributes:
        of: the shares in each queue, oldest grant first.
        since_ms: when each of them began, or was to end; what the log does not say is left out.
        newest: the newest grants, by the decisions.
        told: the epoch of the newest assignment of each client.
        settled_ms: since when each client holds what it holds, as its heartbeats say.
        releases: the releases of the group.
        queues: the queues that the group shares.
    """

    of: Mapping[MessageQueue, Sequence[Share]]
    since_ms: Mapping[tuple[MessageQueue, Epoch], int]
    newest: Mapping[MessageQueue, LastGrant]
    told: Mapping[str, Epoch]
    settled_ms: Mapping[str, int]
    releases: Releases
    queues: frozenset[MessageQueue]


@dataclass(frozen=True, slots=True)
class RibbonFacts:
    """What is new for the ribbon of one group.

    Attributes:
        place: how far it is followed now.
        again: these are not the decisions that were followed: begin anew.
        decisions: the new ones, oldest first.
        kept_since_ms: when the oldest remembered decision was appended; None: there is none.
        open: who has to do with the queues now; None: the same as before.
        heard: offset of a new decision -> client that it took for dead -> its last heartbeat.
        silent: member with a share that is silent now -> its last heartbeat.
    """

    place: RibbonPlace
    again: bool
    decisions: Sequence[LoggedDecision]
    kept_since_ms: int | None
    open: OpenShares | None
    heard: Mapping[int, Mapping[str, int]]
    silent: Mapping[MemberKey, int]


def facts_of(
    view: ObservedGroups, group: str, place: RibbonPlace | None, now_ms: int
) -> RibbonFacts | None:
    """Return what is new in a view; None: there is no such group.

    Args:
        view: the view; nobody may change it meanwhile.
        group: the group's name.
        place: how far its ribbon has followed the view; None: it begins.
        now_ms: until when silence counts.
    """
    decisions, observed = view.decisions(group), view.fold(group)
    if decisions is None:
        return None
    ownership, decided = observed.ownership, observed.decided
    followed = place is not None and place.decided is decided
    after = place.offset if place is not None and followed else -1
    fresh = [each for each in decisions if each.place.offset > after]
    same = followed and place is not None and place.ownership is ownership
    newest = max((each.place.offset for each in fresh), default=after)
    return RibbonFacts(
        place=RibbonPlace(decided, newest, ownership),
        again=not followed,
        decisions=fresh,
        kept_since_ms=decisions[0].append_ms if decisions else None,
        open=None if same else _open_shares(observed),
        heard={each.place.offset: _heard(observed, each) for each in fresh},
        silent=_silent(observed, now_ms),
    )


def _open_shares(observed: ObservedGroup) -> OpenShares:
    shares = observed.shares()
    since = {
        (queue, share.epoch): observed.since_ms(queue, share)
        for queue, of_queue in shares.items()
        for share in of_queue
    }
    told: dict[str, Epoch] = {}
    for member, assigned in observed.assignments.sets.items():
        told[member.client_id] = max(assigned.epoch, told.get(member.client_id, assigned.epoch))
    settled_ms: dict[str, int] = {}
    for member, heard in observed.members.heard.items():
        settled_ms[member.client_id] = max(heard.digest_ms, settled_ms.get(member.client_id, 0))
    routed = observed.standing().queues.values()
    return OpenShares(
        of=shares,
        since_ms={place: at_ms for place, at_ms in since.items() if at_ms is not None},
        newest=dict(observed.decided.newest_grants),
        told=told,
        settled_ms=settled_ms,
        releases=observed.releases.copy(),
        queues=frozenset(queue for queues in routed for queue in queues),
    )


def _heard(observed: ObservedGroup, decision: LoggedDecision) -> Mapping[str, int]:
    """Return when the clients were heard last that a decision took for dead."""
    if "client_expired" not in decision.triggers:
        return {}
    lapsed = lapsed_clients(decision.body()["cause"])
    found = silent_since(observed.members, observed.rules, lapsed, decision.append_ms)
    return {**found, **observed.silences.of(decision.place.offset)}


def _silent(observed: ObservedGroup, now_ms: int) -> Mapping[MemberKey, int]:
    rules, silent = observed.rules, {}
    for member in observed.ownership.owned:
        heard = observed.members.heard.get(member)
        if heard is not None:
            lease_ms = max(rules.lease_ms, heard.member.profile.lease_ms)
            if now_ms - heard.heard_ms > lease_ms // _SILENT_PART:
                silent[member] = heard.heard_ms
    return silent
