"""What is wrong with a native group at one look, in the words that `fairlead group check` uses.

Wrong is what costs messages or repeats them while it lasts (ADR 0213).
"""

from collections import Counter
from collections.abc import Iterator

from fairlead.counts import counted, listed
from fairlead.native.group_look import GroupLook
from fairlead.native.member_findings import member_findings
from fairlead.native.share_shape import computed_apart, shares_by
from fairlead.observed.finding import Finding

__all__ = ["look_findings"]

_AGAIN = "look again after 20 s: if it stays"


def look_findings(look: GroupLook) -> tuple[Finding, ...]:
    """Return what is wrong, the worst first; a group in the middle of a rebalance has less."""
    if not look.members:
        return (*_unread(look), *_offline(look))
    return (
        *_unread(look),
        *_overlap(look),
        *member_findings(look),
        *_unassigned(look),
        *_against_the_strategy(look),
    )


def _unread(look: GroupLook) -> Iterator[Finding]:
    for each in look.unread:
        text = f"a part of the group is unknown: {each}"
        remedy = "see that the caller may describe the group, and that all brokers run"
        yield Finding("unread", None, text, remedy)


def _overlap(look: GroupLook) -> Iterator[Finding]:
    if not look.shares:
        return
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in look.queues:
        if len(each.owners) > 1:
            place = f"{each.queue.broker_name}/{each.queue.queue_id}"
            names = tuple(one.name for one in each.owners)
            together.setdefault((each.queue.topic, names), []).append(place)
    why = "the members do not know of each other"
    if look.kind == "rocketmq" and not all(each.assignor for each in look.members):
        why += ", or follow different strategies, which some clients do not tell"
    for (topic, owners), places in together.items():
        text = (
            f"{listed(owners)} work on {counted(len(places), 'queue')} of "
            f"it at the same time, so messages are read twice: {listed(places)}"
        )
        remedy = f"{_AGAIN}, {why}; compare their settings, and restart one of them"
        yield Finding("overlap", topic, text, remedy)


def _unassigned(look: GroupLook) -> Iterator[Finding]:
    nobodys: dict[str, list[str]] = {}
    for each in look.unassigned:
        place = f"{each.queue.broker_name}/{each.queue.queue_id}"
        nobodys.setdefault(each.queue.topic, []).append(place)
    for topic, places in sorted(nobodys.items()):
        text = f"nobody works on {counted(len(places), 'queue')} of it: {listed(places)}"
        remedy = f"{_AGAIN}, see what else is said of the group; restart a member"
        yield Finding("unassigned", topic, text, remedy)


def _against_the_strategy(look: GroupLook) -> Iterator[Finding]:
    strategy = computed_apart(look)
    if strategy is None or any(each.processes > 1 for each in look.members):
        return
    queues = [each for each in look.subscribed if not each.is_retry]
    should = shares_by(strategy, look, [each.member_id for each in look.members], {})
    elsewhere = Counter(
        each.queue.topic
        for each in queues
        if each.owners and [one.member_id for one in each.owners] != [should.get(each.queue)]
    )
    for topic, number in sorted(elsewhere.items()):
        text = f"{counted(number, 'queue')} of it not where {strategy.name} puts them"
        remedy = f"{_AGAIN}, some members see other members or other queues"
        yield Finding("not_as_strategy", topic, text, remedy)


def _offline(look: GroupLook) -> Iterator[Finding]:
    if look.lag:
        text = f"it has no members, and {counted(look.lag, 'message')} wait"
        yield Finding("offline", None, text, "start its clients; or delete the group if it is done")
