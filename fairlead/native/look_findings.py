"""What is wrong with a native group at one look, in the words that `fairlead group check` uses."""

from collections.abc import Iterator
from typing import Final

from fairlead.counts import counted, listed
from fairlead.native.group_look import GroupLook
from fairlead.observed.finding import Finding
from fairlead.planning.imbalance import skew_of

__all__ = ["look_findings"]

_UNEVEN: Final = 1.5
"""Largest share / mean from which on a group is uneven; and at least two queues apart."""
_LAGGING: Final = 2.0
"""Largest lag of a member / mean from which on one member holds the group up."""
_LAG_MIN: Final = 1_000
"""Less lag than this is no finding: it comes and goes with every poll."""


def look_findings(look: GroupLook) -> list[Finding]:
    """Return what is wrong, the worst first; a group in the middle of a rebalance has less."""
    found = [*_unread(look), *_overlap(look)]
    if not look.members:
        return [*found, *_offline(look)]
    if look.shares:
        found += [*_unassigned(look), *_uneven(look), *_idle(look)]
    return [*found, *_lagging(look)]


def _unread(look: GroupLook) -> Iterator[Finding]:
    if look.unread is not None:
        text = f"a part of the group is unknown: {look.unread}"
        yield Finding("unread", None, text, "give the caller the right to describe the group")


def _overlap(look: GroupLook) -> Iterator[Finding]:
    for each in look.queues:
        if len(each.owners) > 1:
            owners = ", ".join(one.name for one in each.owners)
            text = f"{owners} own it at once: its messages are read twice"
            remedy = "check the assignor of the group's clients; restart one of these members"
            yield Finding("overlap", str(each.queue), text, remedy)


def _unassigned(look: GroupLook) -> Iterator[Finding]:
    for each in look.subscribed:
        if not each.owners:
            text = "a topic of the group, and no member reads it"
            remedy = "restart a member: the next rebalance shares it out; check the assignor"
            yield Finding("unassigned", str(each.queue), text, remedy)


def _uneven(look: GroupLook) -> Iterator[Finding]:
    skew = look.by_queues()
    if skew.spread >= 2 and (skew.ratio or 0) >= _UNEVEN:  # noqa: PLR2004 - one queue is a rest
        text = f"one member has {skew.most:g} queues and another {skew.least:g}"
        remedy = "an assignor that balances all topics together (sticky) shares them evenly"
        yield Finding("uneven", None, text, remedy)


def _idle(look: GroupLook) -> Iterator[Finding]:
    idle = look.idle
    if idle:
        names = listed([each.name for each in idle])
        text = (
            f"{counted(len(idle), 'member')} of {len(look.members)} "
            f"{'has' if len(idle) == 1 else 'have'} no queue: {names}"
        )
        yield Finding(
            "idle_member", None, text, "give the topics more queues, or run fewer members"
        )


def _lagging(look: GroupLook) -> Iterator[Finding]:
    lags = look.lags()
    skew = skew_of(lags.values())
    if len(lags) > 1 and skew.most >= _LAG_MIN and (skew.ratio or 0) >= _LAGGING:
        slow = next(each for each in look.members if lags[each.member_id] == skew.most)
        text = f"{skew.most:,.0f} of {sum(lags.values()):,} waiting messages wait for it"
        remedy = "look into its log; queues of one slow member should move to others"
        yield Finding("lagging_member", slow.name, text, remedy)


def _offline(look: GroupLook) -> Iterator[Finding]:
    if look.lag:
        text = f"it has no members, and {look.lag:,} messages wait"
        yield Finding("offline", None, text, "start its clients; or delete the group if it is done")
