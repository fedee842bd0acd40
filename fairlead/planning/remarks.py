"""What a reader of a plan must know of the live group that it starts from, in words."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fairlead.core.membership import effective_members, shared_topics
from fairlead.core.ordering import java_order
from fairlead.core.records import ALL_GROUPS
from fairlead.planning.live_group import LiveGroup

__all__ = ["remarks_on"]

_TICKS_SILENT: Final = 5
"""An engine that has not ticked for so many periods is taken for stopped."""


def remarks_on(live: LiveGroup, tick_ms: int, now_ms: int) -> tuple[str, ...]:
    """Return what is unusual, one sentence each.

    Args:
        live: the group.
        tick_ms: the period of the engine's ticks.
        now_ms: the time of this machine, of which nothing but a remark comes.
    """
    return (
        *_engine(live, tick_ms, now_ms),
        *_rules(live),
        *_members(live),
        *_broadcasters(live),
        *_topics(live),
        *_weights(live),
        *_passing(live),
    )


def _engine(live: LiveGroup, tick_ms: int, now_ms: int) -> Iterator[str]:
    rules, newest = live.roll.rules, live.newest_ms
    patience_ms = rules.lease_ms + rules.margin_ms
    what_if = "the plan is what an engine would decide once it runs"
    if newest is None:
        yield f"no heartbeat is left in the log: no engine and no client runs; {what_if}"
    elif now_ms - newest > patience_ms:
        yield (
            f"nothing was heard for {_seconds(now_ms - newest)}, by this machine's clock: "
            f"no engine and no client runs; {what_if}"
        )
    elif live.roll.ticked_ms is None:
        yield f"no engine has ticked for {_seconds(patience_ms)}; {what_if}"
    elif newest - live.roll.ticked_ms > _TICKS_SILENT * tick_ms:
        yield f"no engine has ticked for {_seconds(newest - live.roll.ticked_ms)}; {what_if}"


def _seconds(time_ms: int) -> str:
    return f"{time_ms // 1000} s"


def _rules(live: LiveGroup) -> Iterator[str]:
    in_force = live.in_force
    for (group, rule, subject), refused in in_force.refused.items():
        kept = (rule, subject) in in_force.of(group)
        what = (
            "the one before it holds"
            if kept
            else "one before it may be in force, and is not in the log any more"
        )
        everybody = ["of every group"] if group == ALL_GROUPS else []
        name = " ".join((rule, *everybody, "/".join(subject))).strip()
        yield f"the rule {name} is refused by the engine ({refused.error.detail}): {what}"


def _members(live: LiveGroup) -> Iterator[str]:
    state, told = live.roll.state, live.told
    heard = state.members
    for client_id in sorted(state.awaited, key=java_order):
        yield f"{client_id} is gone and waited for (restart_grace_ms): its queues are kept for it"
    for key in sorted({*live.roll.lapsed, *told} - heard.keys()):
        if key.client_id in live.picture.members:
            yield f"{key.client_id} was started again: what its former life held is on its way"
        elif key.client_id not in state.awaited:
            yield f"{key.client_id} does not heartbeat any more: it is planned without"
    for key, member in sorted(heard.items()):
        if member.leaving:
            if key.client_id not in state.awaited:
                yield f"{key.client_id} is leaving: it is planned without"
        elif key not in told:
            yield f"{key.client_id} has just joined and was not told anything yet"
        elif not told[key].complete:
            yield f"what {key.client_id} holds is being written: run the plan again"
    lives = Counter(key.client_id for key, member in heard.items() if not member.leaving)
    for client_id in sorted(lives, key=java_order):
        if lives[client_id] > 1:
            yield f"{client_id} runs {lives[client_id]} times: the newest process counts"


def _broadcasters(live: LiveGroup) -> Iterator[str]:
    for client_id, member in sorted(effective_members(live.roll.state.members).items()):
        if not member.shares:
            yield f"{client_id} broadcasts: it reads every queue and has no share"


def _topics(live: LiveGroup) -> Iterator[str]:
    state = live.picture.state
    for topic in shared_topics(state):
        if topic not in state.routes:
            yield f"the route of {topic} is not known: its queues are not in the plan"


def _weights(live: LiveGroup) -> Iterator[str]:
    if live.picture.state.measures:
        percent = live.roll.rules.weighing.change_percent
        yield (
            f"queues weigh what the last {_seconds(live.measured_ms)} of progress say; the weights "
            f"that the engine has in force may differ by {percent} %"
        )


def _passing(live: LiveGroup) -> Iterator[str]:
    number = len(live.passing)
    if number:
        queues = "1 queue is" if number == 1 else f"{number} queues are"
        yield f"{queues} on the way to another member, and planned from where they go to"
