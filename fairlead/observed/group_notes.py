"""What is unusual about a live group, in words: for who reads a plan, and for who looks at it now.

Each remark says what is so, and beside that what a plan makes of it or what becomes of it.
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
from fairlead.observed.unrouted import unrouted_topics

__all__ = ["notes_on", "remarks_on"]


class _Remark(NamedTuple):
    """What is so, and how it goes on: ``planned`` in a plan, ``now`` for who asks how it stands."""

    what: str
    planned: str = ""
    now: str = ""


def remarks_on(live: LiveGroup, now_ms: int) -> tuple[str, ...]:
    """Return what a reader of a plan must know of the group that it starts from, a sentence each.

    Args:
        live: the group.
        now_ms: the time of this machine, of which nothing but a remark comes.
    """
    life = live.engine(now_ms)
    what_if = "the plan is what an engine would decide once it runs"
    engine = (f"{life.words()}; {what_if}",) if life.silent else ()
    found = (*_rules(live), *_members(live), *_broadcasters(live), *_topics(live))
    beside = (*_weights(live), *_passing(live))
    return (*engine, *(each.what + each.planned for each in (*found, *beside)))


def notes_on(live: LiveGroup, unanswered: Collection[str]) -> tuple[str, ...]:
    """Return what is unusual and no fault of the group as it stands, a sentence each.

    Whether an engine runs is told elsewhere, and a topic without a route is a finding.

    Args:
        live: the group.
        unanswered: clients of which a finding says that they were not told anything.
    """
    found = (*_rules(live), *_members(live, unanswered), *_broadcasters(live), *_passing(live))
    return tuple(each.what + each.now for each in found)


def _rules(live: LiveGroup) -> Iterator[_Remark]:
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
        yield _Remark(f"the rule {name} is refused by the engine ({refused.error.detail}): {what}")


def _members(live: LiveGroup, unanswered: Collection[str] = ()) -> Iterator[_Remark]:
    state, told = live.core.state, live.told
    heard = state.members
    for client_id in sorted(state.awaited, key=java_order):
        yield _Remark(
            f"{client_id} is gone and waited for (restart_grace_ms): its queues are kept for it"
        )
    # Who has lapsed and has no set any more has been dealt with.
    for key in sorted(told.keys() - heard.keys()):
        if key.client_id in live.picture.members:
            yield _Remark(
                f"{key.client_id} was started again: what its former life held is on its way"
            )
        elif key.client_id not in state.awaited:
            yield _Remark(
                f"{key.client_id} does not heartbeat any more",
                planned=": it is planned without",
                now=": the engine takes what it holds, lease and margin after its last heartbeat",
            )
    yield from _leaving_and_joining(live, unanswered)
    lives = Counter(key.client_id for key, member in heard.items() if not member.leaving)
    for client_id in sorted(lives, key=java_order):
        if lives[client_id] > 1:
            yield _Remark(f"{client_id} runs {lives[client_id]} times: the newest process counts")


def _leaving_and_joining(live: LiveGroup, unanswered: Collection[str]) -> Iterator[_Remark]:
    told = live.told
    for key, member in sorted(live.core.state.members.items()):
        if member.leaving:
            # Who has nothing left to give up is gone, though its leave is still read.
            if key in told and key.client_id not in live.core.state.awaited:
                yield _Remark(
                    f"{key.client_id} is leaving",
                    planned=": it is planned without",
                    now=": what it holds goes to others",
                )
        elif key not in told and key.client_id in unanswered:
            continue
        elif key not in told:
            yield _Remark(
                f"{key.client_id} {_since_when(live, member)} and was not told anything yet"
            )
        elif not told[key].complete:
            yield _Remark(
                f"what {key.client_id} holds is being written",
                planned=": run the plan again",
                now=": look again",
            )


def _since_when(live: LiveGroup, member: Member) -> str:
    # Heartbeats are read for little longer than a lease: how much older it is does not stand there.
    lease_ms = max(live.core.rules.lease_ms, member.profile.lease_ms)
    if live.core.clock_ms - member.joined_ms <= lease_ms:
        return "has just joined"
    return f"has heartbeat for more than {duration_words(lease_ms)}"


def _broadcasters(live: LiveGroup) -> Iterator[_Remark]:
    for client_id, member in sorted(effective_members(live.core.state.members).items()):
        if not member.shares:
            yield _Remark(f"{client_id} broadcasts: it reads every queue and has no share")


def _topics(live: LiveGroup) -> Iterator[_Remark]:
    for topic in unrouted_topics(live.picture.state, live.core.rules):
        yield _Remark(
            f"the route of {topic} is not known", planned=": its queues are not in the plan"
        )


def _weights(live: LiveGroup) -> Iterator[_Remark]:
    if live.picture.state.measures:
        percent = live.core.rules.weighing.change_percent
        yield _Remark(
            f"queues weigh what the last {duration_words(live.measured_ms)} of progress say; the "
            f"weights that the engine has in force may differ by {percent} %"
        )


def _passing(live: LiveGroup) -> Iterator[_Remark]:
    number = len(live.passing)
    if number:
        queues = "1 queue is" if number == 1 else f"{number} queues are"
        yield _Remark(
            f"{queues} on the way to another member",
            planned=", and planned from where they go to",
        )
