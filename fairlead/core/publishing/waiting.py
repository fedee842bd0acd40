"""The notice that says why a member waits, where only the engine knows it.

A client learns by itself that nobody has released its queues, or that no engine runs. Only records
that it does not read say that a rule keeps it from queues, that a topic does not exist, or that no
bridge answers. Decides what a member reads, never who gets what. It depends on the state and the
clock at the end of a step, so that batches without a decision may be cut in any way.

ADR 0184 gives the reasons.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Final, NamedTuple

from fairlead.core.draft import Draft
from fairlead.core.footing.attachment import Lack, lack_of
from fairlead.core.footing.take_over import waited_for
from fairlead.core.membership.members import effective_members, notice_to, subscribed_topics
from fairlead.core.membership.surplus import SHARE_REMEDY, without_room
from fairlead.core.model import MemberKey
from fairlead.core.name_list import listed as _listed
from fairlead.core.outputs import What
from fairlead.core.publishing.utc_words import utc_words
from fairlead.core.records import TopicAbsent
from fairlead.core.rules.single_rules import drained_of
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, Member
from fairlead.core.targets.compute import outsiders
from fairlead.core.topics.retry_topic import own_retry_topic
from fairlead.core.topics.routes import is_lacking

__all__ = ["UNANSWERED_MS", "WAITING", "apply_absent", "note_answer", "notify_waiting"]

WAITING: Final = "waiting"
"""The notice that says why a member has less than it wants, or that the reason is over."""

UNANSWERED_MS: Final = 10_000
"""A bridge answers within a second, and in a slow cluster within five.

The engine repeats requests after 1, 3, 7 and 15 s: a request that it repeats so long after the
first one has no answer.
"""

_PAUSE: Final = "pause"
_DESIGNATED: Final = "designated"
_CLUSTERS_MAX: Final = 8
"""The state keeps so many clusters that lack a topic: each has a bridge of its own."""
_MESSAGE_MAX: Final = 300
_NOTHING_KEEPS_IT: Final = "nothing that the engine knows of keeps it from its queues any more"


class _Reason(NamedTuple):
    """Why a member waits: in one word, its details, and as a message for people.

    Other details make it another reason; other times in the message do not.
    """

    word: str
    details: tuple[str, ...]
    message: str

    @property
    def mark(self) -> tuple[str, ...]:
        """The word and a hash of the details: marks what a notice has said."""
        return (self.word, sha256("\n".join(self.details).encode()).hexdigest()[:16])


def apply_absent(draft: Draft, answer: TopicAbsent) -> None:
    """Note that a cluster lacks a topic that the group wants and has no route of."""
    state, topic = draft.state, answer.topic
    note_answer(draft, "route", topic)
    note_answer(draft, "offsets", topic)
    if topic not in subscribed_topics(state) or not is_lacking(state.routes, topic):
        draft.counts["absent", "stale"] += 1
        return
    known = state.absent.get(topic, ())
    if answer.cluster in known or len(known) >= _CLUSTERS_MAX:
        draft.counts["absent", "duplicate"] += 1
        return
    draft.counts["absent", "applied"] += 1
    state.absent[topic] = tuple(sorted((*known, answer.cluster)))


def note_answer(draft: Draft, what: What, topic: str) -> None:
    """Note that a bridge has answered a request, perhaps not completely."""
    request = draft.state.requests.get((what, topic))
    if request is not None and request.unanswered is not None:
        draft.state.requests[what, topic] = replace(request, unanswered=None)


def notify_waiting(draft: Draft) -> None:
    """Notify each member whose reason has changed; forget answers that are out of date.

    In a barrier the engine does not know who holds what, so the last notice stands.
    """
    state = draft.state
    if state.absent:
        wanted = set(subscribed_topics(state))
        state.absent = {
            topic: clusters
            for topic, clusters in state.absent.items()
            if topic in wanted and is_lacking(state.routes, topic)
        }
    if state.barrier is not None:
        return
    reasons, generation = _reasons(draft), str(draft.engine.generation)
    for key in sorted(state.members):
        member, reason = state.members[key], reasons.get(key)
        # Clients count only notices of the present generation, so each engine says it again.
        told = member.told_waiting if member.told_waiting[:1] == (generation,) else ()
        mark = () if reason is None else (generation, *reason.mark)
        if mark == told or member.leaving:
            continue
        notice = notice_to(draft, key, WAITING, _NOTHING_KEEPS_IT)
        if reason is not None:
            notice = replace(notice, message=reason.message[:_MESSAGE_MAX], reason=reason.word)
        draft.notices.append(notice)
        draft.counts["waiting", "over" if reason is None else reason.word] += 1
        draft.update_member(member, told_waiting=mark)


def _reasons(draft: Draft) -> dict[MemberKey, _Reason]:
    """Return, for each member that has less than it wants, why it waits."""
    state = draft.state
    members = effective_members(state.members)
    stands_by = _stands_by(draft)
    if stands_by is not None:
        return {member.key: stands_by for member in members.values()}
    lacking = {topic for topic in subscribed_topics(state) if is_lacking(state.routes, topic)}
    # A bridge creates it for the first message that is sent back: nobody waits for it before.
    lacking.discard(own_retry_topic(state.group))
    silent = _silent(draft)
    kept_out = _kept_out(draft, members)
    if not (lacking or silent or kept_out):
        return {}
    roomless = without_room(draft, lacking)
    begins = _without_start(state, silent)
    reasons: dict[MemberKey, _Reason] = {}
    for client_id, member in members.items():
        if client_id in kept_out:
            # Without its other reasons the member would have no more either.
            reasons[member.key] = kept_out[client_id]
            continue
        topics = lacking & member.topics
        # A bridge that died may have missed a topic that was created meanwhile.
        reason = (
            _no_room(topics & roomless)
            or _unanswered(draft, topics, silent)
            or _absent(state, topics)
        )
        if reason is None and client_id in begins:
            reason = _bridge(draft, begins[client_id], ("offsets",), "told where to begin in")
        if reason is not None:
            reasons[member.key] = reason
    return reasons


def _stands_by(draft: Draft) -> _Reason | None:
    """Return what the engine waits for before it takes the group over; None: it has it."""
    standing = draft.state.standing
    footing = None if standing is None else standing.footing
    if standing is None or footing is None or footing in (Footing.OWN, Footing.RETURNING):
        return None
    if footing is Footing.FOLLOWING:
        lack = lack_of(draft) or _TO_BEGIN
        failed = f"; the last attempt failed: {standing.because}" if standing.because else ""
        words = f"RocketMQ's own strategy shares the queues out: {lack.words}{failed}"
        return _Reason("standby", (*lack.details, standing.because), words)
    if footing is Footing.FREEZING:
        words = "the group goes over to the engine: each member tells what it works on"
        return _Reason("standby", (footing,), words)
    known = _listed(waited_for(draft))
    words = f"the group has gone over to the engine, which waits until {known} has read of it"
    return _Reason("standby", (footing,), words)


_TO_BEGIN: Final = Lack(("retry",), "the engine tries again in a moment")


def _kept_out(draft: Draft, members: Mapping[str, Member]) -> dict[str, _Reason]:
    """Return the clients that hold nothing and that a rule keeps from queues: with that reason."""
    state, rules = draft.state, draft.rules
    drained = drained_of(rules.single)
    if not (rules.pause or drained or rules.designated is not None):
        return {}
    holding = _holding(state)
    idle = sorted(name for name, each in members.items() if each.shares and each.key not in holding)
    if rules.pause:
        return dict.fromkeys(idle, _paused(state))
    reasons = {name: _drained(state, name) for name in idle if name in drained}
    if len(reasons) < len(idle):
        others, reason = outsiders(draft), _designated(draft)
        reasons |= {name: reason for name in idle if name in others}
    return reasons


def _holding(state: GroupState) -> frozenset[MemberKey]:
    """Return the members with a wanted grant."""
    newest = (value.chain[-1] for value in state.queues.values() if value.chain)
    return frozenset(grant.member for grant in newest if not grant.dropped)


def _paused(state: GroupState) -> _Reason:
    scope, whose, group = _whose(state, _PAUSE)
    words = (
        f"the group is paused by the rule pause {whose}: no queue moves until "
        f"`fairlead group resume {group}`"
    )
    return _Reason("paused", (scope,), words)


def _drained(state: GroupState, client_id: str) -> _Reason:
    words = (
        f"this client is drained by the rule drain of group {state.group}: it is given nothing "
        f"until `fairlead group undrain {state.group} {client_id}`"
    )
    return _Reason("drained", (), words)


def _designated(draft: Draft) -> _Reason:
    designated = draft.rules.designated
    if designated is not None and designated.is_release:
        words = (
            f"group {draft.state.group} is released to native consumers: its clients are given "
            f"nothing until `fairlead adopt {draft.state.group} --apply`"
        )
        return _Reason("designated", ("release",), words)
    scope, whose, group = _whose(draft.state, _DESIGNATED)
    words = (
        f"the rule designated {whose} does not name this client: others alone consume until it is "
        f"named too, or `fairlead group unset {group} --designated`"
    )
    return _Reason("designated", (scope,), words)


def _whose(state: GroupState, rule: str) -> tuple[str, str, str]:
    """Return the scope of a rule in force: its word, its words, and the group in commands."""
    if state.rules.get(rule) is not None:
        return "group", f"of group {state.group}", state.group
    return "all", "of all groups", "'*'"


def _no_room(topics: Iterable[str]) -> _Reason | None:
    """Return that the group requests no routes, since the shard has no room for the queues."""
    if not topics:
        return None
    named = sorted(topics)
    why = "the state of all groups has reached its limit"
    words = f"no room for {_names(named)}: {why}; {SHARE_REMEDY}"
    return _Reason("room", tuple(named), words)


def _absent(state: GroupState, topics: Iterable[str]) -> _Reason | None:
    """Return that topics do not exist: a bridge said so, or deleted their route."""
    gone = sorted(topic for topic in topics if topic in state.absent or topic in state.routes)
    if not gone:
        return None
    clusters = sorted({name for topic in gone for name in state.absent.get(topic, ())})
    where = f" on cluster {_listed(clusters)}" if clusters else ""
    words = f"{_topics(gone)} not exist{where}; create it there, or correct the subscription"
    return _Reason("topic", (*gone, "on", *clusters), words)


def _unanswered(
    draft: Draft, topics: Iterable[str], silent: Mapping[tuple[What, str], int]
) -> _Reason | None:
    asked = sorted(topic for topic in topics if ("route", topic) in silent)
    return _bridge(draft, asked, ("route",), "answered for") if asked else None


def _bridge(draft: Draft, topics: list[str], what: tuple[What, ...], verb: str) -> _Reason:
    """Return that no bridge answers, since when, and the newest sign of one."""
    asked = [draft.state.requests[each, topic].unanswered for each in what for topic in topics]
    # Converted by the newest record that was read: the clock has no date.
    since = draft.moment.append_ms - draft.moment.clock_ms + min(filter(None, asked), default=0)
    words = (
        f"no bridge has {verb} {_names(topics)} since {utc_words(since)}; "
        f"{_last_sign(draft.moment.bridges)}"
    )
    return _Reason("bridge", (*what, *topics), words)


def _last_sign(bridges: Mapping[str, tuple[int, str]]) -> str:
    if not bridges:
        return (
            "none has ever given a sign of life: start one, `fairlead bridge kafka` or "
            "`fairlead bridge rocketmq`"
        )
    cluster, (at_ms, said) = max(bridges.items(), key=lambda each: (each[1][0], each[0]))
    did = {
        "stopped": "was stopped",
        "look_ups_fail": "cannot reach its cluster, it last said",
    }.get(said, "last gave a sign of life")
    return f"that of cluster {cluster} {did} at {utc_words(at_ms)}"


def _silent(draft: Draft) -> dict[tuple[What, str], int]:
    """Return the requests that were repeated after a bridge would have answered: since when.

    The times of the requests decide, not the present clock: a group is stepped when it asks, and
    the end of a batch between two of its records must not matter.
    """
    return {
        asked: request.unanswered
        for asked, request in draft.state.requests.items()
        if request.unanswered is not None and request.asked_ms - request.unanswered >= UNANSWERED_MS
    }


def _without_start(
    state: GroupState, silent: Mapping[tuple[What, str], int]
) -> dict[str, list[str]]:
    """Return, for each client, the topics of its targets whose start no bridge has told."""
    topics = {topic for what, topic in silent if what == "offsets"}
    waiting: dict[str, set[str]] = {}
    for queue, value in state.queues.items() if topics else ():
        owner = state.targets.get(queue)
        unknown = value.base is None and not value.chain
        # Its reports wait until a bridge tells its end (rule H30).
        unknown |= bool(value.doubts) and all(grant.dropped for grant in value.chain)
        if owner is not None and queue.topic in topics and unknown:
            waiting.setdefault(owner, set()).add(queue.topic)
    return {client_id: sorted(names) for client_id, names in waiting.items()}


def _names(names: list[str]) -> str:
    return f"topic {names[0]}" if len(names) == 1 else f"topics {_listed(names)}"


def _topics(names: list[str]) -> str:
    return f"{_names(names)} {'does' if len(names) == 1 else 'do'}"
