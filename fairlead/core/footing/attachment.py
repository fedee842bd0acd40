"""What a group that stands by still lacks before the engine may take it over.

Decides nothing: it names the first thing that is missing, for the decision and for people.
"""

from typing import Final, NamedTuple

from fairlead.core.draft import Draft
from fairlead.core.footing.looks import ENOUGH_LOOKS, ids_of, live_members
from fairlead.core.footing.transitions import standing_of
from fairlead.core.membership.members import shared_topics
from fairlead.core.name_list import listed
from fairlead.core.standing import ClusterLooks
from fairlead.core.state import GroupState, Member
from fairlead.core.topics.retry_topic import is_awaited
from fairlead.core.topics.routes import is_lacking

__all__ = ["NEVER", "Lack", "followed", "lack_of", "lack_of_looks", "sharing"]

NEVER: Final = "never"
"""The word of the rule ``take_over`` that keeps a group with the data plane."""


class Lack(NamedTuple):
    """What is missing: details that make it another one, and words for people."""

    details: tuple[str, ...]
    words: str


def sharing(state: GroupState) -> list[Member]:
    """Return the members that share queues and do not leave, in order."""
    members = live_members(state)
    return [members[key] for key in sorted(members) if members[key].shares]


def followed(draft: Draft) -> str | None:
    """Return the one strategy that all members can follow and the engine has; None: there is none.

    Each must be listed under an id of its own: of two with one id nobody could tell who is there.
    """
    members = sharing(draft.state)
    names = {member.profile.follows for member in members}
    ids = ids_of(members)
    if len(names) != 1 or len(set(ids)) != len(members):
        return None
    (name,) = names
    return name if name in draft.engine.strategies else None


def lack_of(draft: Draft) -> Lack | None:
    """Return what keeps the engine from taking the group over; None: nothing."""
    if draft.rules.take_over == NEVER:
        return _lack("rule", words="the rule take_over says never")
    if draft.rules.pause:
        return _lack("paused", words="the group is paused")
    return _lack_of_members(draft) or _lack_of_routes(draft) or lack_of_looks(draft)


def _lack(*details: str, words: str) -> Lack:
    return Lack(details, words)


def _lack_of_members(draft: Draft) -> Lack | None:
    members = sharing(draft.state)
    cannot = [member.key.client_id for member in members if member.profile.follows is None]
    if cannot:
        words = (
            f"{listed(cannot)} cannot follow RocketMQ's strategy and waits: stop it, or attach it"
        )
        return _lack("cannot", *cannot, words=words)
    names = sorted({member.profile.follows or "" for member in members})
    if len(names) > 1:
        words = f"members follow different strategies, {listed(names)}: give all the same"
        return _lack("differ", *names, words=words)
    unknown = [name for name in names if name not in draft.engine.strategies]
    if unknown:
        words = f"the engine has no strategy {unknown[0]}, which the members follow"
        return _lack("unknown", *unknown, words=words)
    ids = ids_of(members)
    twins = sorted({each for each in ids if ids.count(each) > 1})
    if twins:
        words = f"two members read as {listed(twins)}: an earlier life of it ends with its lease"
        return _lack("twins", *twins, words=words)
    return None


def _lack_of_routes(draft: Draft) -> Lack | None:
    state = draft.state
    topics = [
        topic
        for topic in shared_topics(state)
        if is_lacking(state.routes, topic)
        and is_awaited(state.group, topic, draft.rules.retry_topics)
    ]
    if not topics:
        return None
    return _lack("routes", *topics, words=f"no bridge has told a route of {listed(topics)}")


def lack_of_looks(draft: Draft) -> Lack | None:
    """Return what the looks at the group's members do not show yet; None: nothing."""
    looks = standing_of(draft).looks
    if not looks:
        return _lack("no look", words="no bridge has told who is in the group")
    telling = {name: each for name, each in sorted(looks.items()) if each.listed}
    if not telling:
        return _lack("nobody", words="no broker lists any member of the group")
    # As many as the group has, whether they share queues or read all of them.
    ids = ids_of(live_members(draft.state).values())
    for cluster, each in telling.items():
        lack = _lack_of_look(cluster, each, ids)
        if lack is not None:
            return lack
    return None


def _lack_of_look(cluster: str, looks: ClusterLooks, ids: list[str]) -> Lack | None:
    foreign = sorted(looks.listed.keys() - {*ids})
    if foreign:
        words = f"not attached: {listed(foreign)}"
        return _lack("foreign", *foreign, words=words)
    if not looks.complete:
        return _lack("brokers", cluster, words=f"not every broker of cluster {cluster} answers")
    missing = sorted({*ids} - looks.listed.keys())
    if missing:
        words = f"no broker of cluster {cluster} lists {listed(missing)} yet"
        return _lack("missing", *missing, words=words)
    if not looks.even:
        words = f"the brokers of cluster {cluster} do not list the same members yet"
        return _lack("uneven", cluster, words=words)
    if looks.counted < ENOUGH_LOOKS:
        words = f"all are attached; cluster {cluster} is looked at once more"
        return _lack("again", cluster, words=words)
    return None
