"""Unusual facts about a live group, in words, for readers of a plan and of a check.

Each note says what is so, and then what a plan makes of it or what will happen.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from fairlead.core.membership.members import effective_members
from fairlead.core.ordering import java_order
from fairlead.core.records import ALL_GROUPS
from fairlead.core.state import Member
from fairlead.durations import duration_words
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.phase_words import NATIVE_PHASES
from fairlead.observed.unrouted import unrouted_topics

__all__ = ["check_notes", "plan_notes", "refusal_notes"]


class _Remark(NamedTuple):
    """A fact; ``planned``: what a plan makes of it; ``now``: what will happen."""

    what: str
    planned: str = ""
    now: str = ""


def plan_notes(live: LiveGroup, now_ms: int) -> tuple[str, ...]:
    """Return what a reader of a plan must know of the group now, one sentence each.

    Args:
        live: the group.
        now_ms: the time of this machine; only a note comes of it.
    """
    life = live.engine(now_ms)
    what_if = "the plan shows what an engine would decide"
    engine = (f"{life.words()}; {what_if}",) if life.silent else ()
    group = (*_rules(live), *_members(live), *_broadcasters(live), *_topics(live))
    beside = (*_weights(live), *_passing(live))
    return (*engine, *(each.what + each.planned for each in (*group, *beside)))


def check_notes(live: LiveGroup, unanswered: Collection[str]) -> tuple[str, ...]:
    """Return what is unusual about the group and no fault, one sentence each.

    Whether an engine runs is said elsewhere, and a topic without a route is a finding.

    Args:
        live: the group.
        unanswered: clients whose findings say that they have no assignment.
    """
    notes = (*_rules(live), *_members(live, unanswered), *_broadcasters(live), *_passing(live))
    return tuple(each.what + each.now for each in notes)


def refusal_notes(live: LiveGroup) -> tuple[str, ...]:
    """Return which rules of the group the engine rejects, and what counts instead."""
    return tuple(each.what for each in _rules(live))


def _rules(live: LiveGroup) -> Iterator[_Remark]:
    in_force = live.in_force
    for (group, rule, subject), refused in in_force.refused.items():
        kept = (rule, subject) in in_force.of(group)
        what = (
            "the one before it stays in force"
            if kept
            else "one before it may be in force, but the log no longer has it"
        )
        if refused.error.reason == "unknown_strategy":
            what += "; if the engine knows this strategy, give --config as to `fairlead run`"
        everybody = ["of every group"] if group == ALL_GROUPS else []
        name = " ".join((rule, *everybody, "/".join(subject))).strip()
        yield _Remark(f"the engine rejects the rule {name} ({refused.error.detail}): {what}")


def _members(live: LiveGroup, unanswered: Collection[str] = ()) -> Iterator[_Remark]:
    state, assigned = live.core.state, live.assigned
    heard = state.members
    for client_id in sorted(state.awaited, key=java_order):
        yield _Remark(
            f"{client_id} is gone; its queues are kept until it returns (restart_grace_ms)"
        )
    # Who has lapsed and has no assignment left is dealt with.
    for key in sorted(assigned.keys() - heard.keys()):
        if key.client_id in live.planned.members:
            yield _Remark(
                f"{key.client_id} was started again: the queues of its former process are moving"
            )
        elif key.client_id not in state.awaited:
            yield _Remark(
                f"{key.client_id} sends no heartbeats any more",
                planned=": the plan leaves it out",
                now=": the engine takes its queues lease and margin after its last heartbeat",
            )
    yield from _leaving_and_joining(live, unanswered)
    lives = Counter(key.client_id for key, member in heard.items() if not member.leaving)
    for client_id in sorted(lives, key=java_order):
        if lives[client_id] > 1:
            yield _Remark(f"{client_id} runs {lives[client_id]} times: only the newest counts")


def _leaving_and_joining(live: LiveGroup, unanswered: Collection[str]) -> Iterator[_Remark]:
    assigned = live.assigned
    for key, member in sorted(live.core.state.members.items()):
        if member.leaving:
            # Who has nothing left to give up is gone, even if its leave was read.
            if key in assigned and key.client_id not in live.core.state.awaited:
                yield _Remark(
                    f"{key.client_id} is leaving",
                    planned=": the plan leaves it out",
                    now=": its queues go to others",
                )
        elif key not in assigned and key.client_id in unanswered:
            continue
        elif key not in assigned:
            yield _Remark(f"{key.client_id} {_since_when(live, member)} and has no assignment yet")
        elif not assigned[key].complete:
            yield _Remark(
                f"the engine is still writing the assignment of {key.client_id}",
                planned=": run the plan again",
                now=": check again",
            )


def _since_when(live: LiveGroup, member: Member) -> str:
    # Heartbeats are read for little longer than a lease: how much older it is remains unknown.
    lease_ms = max(live.core.rules.lease_ms, member.profile.lease_ms)
    if live.core.clock_ms - member.joined_ms <= lease_ms:
        return "has just joined"
    return f"has heartbeat for more than {duration_words(lease_ms)}"


def _broadcasters(live: LiveGroup) -> Iterator[_Remark]:
    for client_id, member in sorted(effective_members(live.core.state.members).items()):
        if not member.shares:
            yield _Remark(f"{client_id} broadcasts: it reads every queue and shares none")


def _topics(live: LiveGroup) -> Iterator[_Remark]:
    for topic in unrouted_topics(live.planned.state, live.core.rules):
        yield _Remark(
            f"the route of {topic} is unknown", planned=": its queues are not in the plan"
        )


def _weights(live: LiveGroup) -> Iterator[_Remark]:
    if live.planned.state.measures:
        percent = live.core.rules.weighing.change_percent
        yield _Remark(
            f"queues weigh what the last {duration_words(live.measured_ms)} of progress show; the "
            f"engine's weights in force may differ by {percent} %"
        )


def _passing(live: LiveGroup) -> Iterator[_Remark]:
    number, newest = len(live.passing), live.observed.decided.newest
    if number and (newest is None or newest.phase not in NATIVE_PHASES):
        queues = "1 queue is" if number == 1 else f"{number} queues are"
        yield _Remark(
            f"{queues} moving to another member",
            planned=", and planned as if already there",
        )
