"""What is unusual in a native group at one look, and may be meant: it changes no exit code."""

from collections.abc import Iterator
from typing import Final

from fairlead.counts import counted, listed
from fairlead.native.group_look import FROZEN, GroupLook
from fairlead.observed.finding import Finding
from fairlead.planning.imbalance import skew_of

__all__ = ["look_notes"]

_SPREAD_MIN: Final = 2
"""Fewer queues apart than this is what a division leaves over."""
_UNEVEN: Final = 1.5
"""Largest share / mean from which on a group is uneven."""
_LAGGING: Final = 2.0
"""Largest lag of a member / mean from which on one member holds the group up."""
_LAG_MIN: Final = 1_000
"""Less lag than this is not told: it comes and goes with every poll."""


def look_notes(look: GroupLook) -> tuple[Finding, ...]:
    """Return what is unusual; of who works on what only where that is known of all members."""
    told = (*_uneven(look), *_idle(look), *_lagging(look)) if look.is_told else ()
    return (*_pop(look), *_untold(look), *told)


def _pop(look: GroupLook) -> Iterator[Finding]:
    if look.protocol == "pop":
        text = "members take messages by POP, from every queue: no queue has an owner"
        yield Finding("pop", None, text, "nothing; Fairlead cannot share out such a group")


def _untold(look: GroupLook) -> Iterator[Finding]:
    for each in look.members:
        if each.silence and each.is_grpc:
            text = "it has the id of a gRPC client: RocketMQ's proxy alone knows what it works on"
            yield Finding("grpc", each.name, text, "nothing; Fairlead cannot share out its queues")
        elif each.silence not in ("", FROZEN):
            text = f"nobody says what it works on: {each.silence}"
            yield Finding("untold", each.name, text, "nothing, if its client library has no answer")


def _uneven(look: GroupLook) -> Iterator[Finding]:
    skew = look.by_queues()
    if skew.spread >= _SPREAD_MIN and (skew.ratio or 0) >= _UNEVEN:
        text = f"one member has {skew.most:g} queues and another {skew.least:g}"
        remedy = "a strategy that balances all topics together (sticky) shares them evenly"
        yield Finding("uneven", None, text, remedy)


def _idle(look: GroupLook) -> Iterator[Finding]:
    idle = look.idle
    if idle:
        names = listed([each.name for each in idle])
        text = (
            f"{counted(len(idle), 'member')} of {len(look.members)} "
            f"{'has' if len(idle) == 1 else 'have'} no queue: {names}"
        )
        remedy = "give the topics more queues, or run fewer members"
        yield Finding("idle_member", None, text, remedy)


def _lagging(look: GroupLook) -> Iterator[Finding]:
    lags = look.lags()
    skew = skew_of(lags.values())
    if len(lags) > 1 and skew.most >= _LAG_MIN and (skew.ratio or 0) >= _LAGGING:
        slow = next(each for each in look.members if lags[each.member_id] == skew.most)
        text = f"{skew.most:,.0f} of {sum(lags.values()):,} waiting messages wait for it"
        remedy = "look into its log; queues of one slow member should move to others"
        yield Finding("lagging_member", slow.name, text, remedy)
