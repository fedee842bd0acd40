"""Who should own which queue.

Asks the group's strategy and checks its answer; decides nothing about when a queue moves. A topic
whose allocation fails keeps its last assignment until the next trigger; the other topics go on.
Under the rule ``designated`` the strategy sees only the designated members; it never sees drained
ones.
"""

import json
from collections.abc import Mapping

from fairlead.core.allocation import (
    Allocation,
    AllocationError,
    AllocationRequest,
    Candidate,
    described,
)
from fairlead.core.draft import Draft
from fairlead.core.handover.forced_handover import MUTE_MEMBER, any_mute, has_ordered
from fairlead.core.membership.member_disagreement import SUBSCRIPTION_DISAGREEMENT, any_odd
from fairlead.core.membership.members import (
    DUPLICATE_CLIENT_ID,
    absent_members,
    has_duplicates,
    shared_topics,
    sharing_members,
)
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Failure
from fairlead.core.rules.designation import Sharing, sharing
from fairlead.core.rules.group_rules import without_effect
from fairlead.core.rules.single_rules import drained_of, placement_of
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, Member
from fairlead.core.targets.followed import allocate_as_followed, followed_text, is_returning
from fairlead.core.targets.queue_measures import takes_weights
from fairlead.core.targets.strategy_answer import STRATEGY_ERROR, read_answer, refusal
from fairlead.core.topics.retry_topic import own_retry_topic
from fairlead.core.topics.routes import can_be_read, is_lacking, queue_zones, readable_queues

FAILED_ALLOCATION = "failed_allocation"
"""Counter of failed attempts to allocate a topic, by the code of the failure."""

DESIGNATION_EMPTY = "designation_empty"
"""The alarm that a topic has no designated member."""

PAUSED_UNASSIGNED = "paused_unassigned"
"""The alarm that a paused group has queues that nobody consumes."""

DRAINED_EMPTY = "drained_empty"
"""The alarm that every member that subscribes to a topic is drained."""

RULE_WITHOUT_EFFECT = "rule_without_effect"
"""The alarm that a rule does nothing.

The strategy in force does not know a rule of the group, or an ordered member prevents eager
handovers.
"""

CUT_SHORT = "allocation_cut_short"
"""The alarm that the strategy stopped at a limit of its own: its answer may not be the best."""

FOREIGN_MEMBER = "foreign_member"
"""The alarm that the data plane shares the group's queues out to somebody else as well."""

__all__ = [
    "FAILED_ALLOCATION",
    "FOREIGN_MEMBER",
    "alarms_of",
    "allocation_text",
    "compute_targets",
    "outsiders",
    "shared_queues",
]


def shared_queues(state: GroupState) -> dict[str, tuple[MessageQueue, ...]]:
    """Return the readable queues of each shared topic with a known route."""
    return {
        topic: readable_queues(state.routes[topic])
        for topic in shared_topics(state)
        if topic in state.routes
    }


def allocation_text(draft: Draft) -> str:
    """Return the rules that an allocation depends on, as one comparable text."""
    rules = draft.rules
    if is_returning(draft.state):
        return followed_text(draft.state)
    options = json.dumps(rules.strategy_options, sort_keys=True)
    text = f"{rules.strategy} {options} {rules.slots}"
    return text if rules.designated is None else f"{text} {rules.designated.text}"


def compute_targets(draft: Draft) -> None:
    """Replace the group's targets by a new allocation; a topic that fails keeps its old ones."""
    state = draft.state
    queues = shared_queues(state)
    if is_returning(state):
        members, shares = sharing_members(state), Sharing(frozenset(queues))
        allocation = allocate_as_followed(draft, queues)
    else:
        members = _possible_owners(draft)
        shares = _sharing(draft, members, [topic for topic, held in queues.items() if held])
        allocation = _allocate(draft, members, shares, queues)
    targets: dict[MessageQueue, str] = {}
    failures: dict[str, Failure] = {}
    for topic, held in queues.items():
        error = allocation.failures.get(topic)
        if error is None:
            error = _refusal(allocation.topics.get(topic, {}), members, shares, topic, held)
        if error is None:
            for client_id, owned in allocation.topics.get(topic, {}).items():
                targets.update(dict.fromkeys(owned, client_id))
            continue
        failures[topic] = Failure(topic, error.code, error.message)
        # After a loss only the holder shows the last assignment.
        last = {queue: state.targets.get(queue) or _holder(state, queue) for queue in held}
        kept = {queue: owner for queue, owner in last.items() if owner is not None}
        # A failing strategy lets no other member go on consuming.
        targets.update(
            (queue, owner)
            for queue, owner in kept.items()
            if owner in members and shares.allows(topic, owner)
        )
    if failures != state.failures and failures:
        draft.alarms.add("allocation_failed")
    draft.counts.update((FAILED_ALLOCATION, failure.code) for failure in failures.values())
    state.failures = failures
    state.targets = targets
    state.allocated_by = allocation_text(draft)


def _refusal(
    answer: Mapping[str, tuple[MessageQueue, ...]],
    members: dict[str, Member],
    shares: Sharing,
    topic: str,
    held: tuple[MessageQueue, ...],
) -> AllocationError | None:
    try:
        return refusal(answer, members, shares, topic, held)
    except Exception as error:  # noqa: BLE001  # a queue of a user's strategy may have any fields, also such as cannot be looked up
        return AllocationError(STRATEGY_ERROR, described(error))


def _holder(state: GroupState, queue: MessageQueue) -> str | None:
    """Return the client with the newest grant of a queue, unless that is dropped; None: nobody."""
    value = state.queues.get(queue)
    newest = value.chain[-1] if value is not None and value.chain else None
    return None if newest is None or newest.dropped else newest.member.client_id


def alarms_of(draft: Draft) -> tuple[str, ...]:
    """Return the alarms of a decision: those of events, and those that stand while they hold."""
    state, rules = draft.state, draft.rules
    strategy = draft.engine.strategies.get(rules.strategy)
    shares = Sharing(frozenset())
    # Decisions are frequent, and most groups have neither rule.
    if rules.designated is not None or "drain" in rules.single:
        routes = {
            topic: state.routes[topic] for topic in shared_topics(state) if topic in state.routes
        }
        topics = [topic for topic, route in routes.items() if can_be_read(route)]
        shares = _sharing(draft, _possible_owners(draft), topics)
    alarms = {
        DUPLICATE_CLIENT_ID: has_duplicates(state.members),
        DESIGNATION_EMPTY: bool(shares.empty),
        DRAINED_EMPTY: bool(shares.idle),
        RULE_WITHOUT_EFFECT: bool(without_effect(state.rules, strategy)),
        PAUSED_UNASSIGNED: rules.pause and _has_unassigned(state),
        CUT_SHORT: draft.cut_short,
        MUTE_MEMBER: any_mute(state),
        SUBSCRIPTION_DISAGREEMENT: any_odd(state),
    }
    if rules.mode == "eager" and has_ordered(state):
        alarms[RULE_WITHOUT_EFFECT] = True
    _judge_footing(state, alarms)
    return tuple(sorted(draft.alarms | {alarm for alarm, stands in alarms.items() if stands}))


def _judge_footing(state: GroupState, alarms: dict[str, bool]) -> None:
    """Add the alarms about who else shares the queues out, and take out those of nobody's shares.

    The engine gives a group back only if every member can follow one strategy.
    """
    standing = state.standing
    if standing is None:
        return
    alarms[FOREIGN_MEMBER] = bool(standing.foreign)
    footing = standing.footing
    if standing.is_theirs:
        for alarm in (DESIGNATION_EMPTY, DRAINED_EMPTY, RULE_WITHOUT_EFFECT, PAUSED_UNASSIGNED):
            alarms[alarm] = False
    elif footing in (None, Footing.OWN) and state.rules.get("take_over") == "never":
        follows = any(member.profile.follows is not None for member in state.members.values())
        alarms[RULE_WITHOUT_EFFECT] |= follows


def _has_unassigned(state: GroupState) -> bool:
    queues = state.queues
    return any(
        queue not in queues or not queues[queue].chain
        for held in shared_queues(state).values()
        for queue in held
    )


def _possible_owners(draft: Draft) -> dict[str, Member]:
    """Return the members that may own anything, by client id; absent ones keep their share."""
    drained = drained_of(draft.rules.single)
    members = {**absent_members(draft.state), **sharing_members(draft.state)}
    return {name: member for name, member in members.items() if name not in drained}


def outsiders(draft: Draft) -> frozenset[str]:
    """Return the clients that the rule ``designated`` keeps from all topics that they subscribe to.

    The group's own retry topic counts once it exists.
    """
    if draft.rules.designated is None:
        return frozenset()
    state, members = draft.state, _possible_owners(draft)
    retry = own_retry_topic(state.group)
    topics = [
        topic
        for topic in shared_topics(state)
        if topic != retry or not is_lacking(state.routes, topic)
    ]
    shares, counted = _sharing(draft, members, topics), frozenset(topics)
    return frozenset(
        client_id
        for client_id, member in members.items()
        if (wanted := member.topics & counted)
        and not any(shares.allows(topic, client_id) for topic in wanted)
    )


def _sharing(draft: Draft, members: dict[str, Member], topics: list[str]) -> Sharing:
    subscriptions = {client_id: member.topics for client_id, member in members.items()}
    return sharing(draft.rules.designated, subscriptions, topics)


def _allocate(
    draft: Draft,
    members: dict[str, Member],
    shares: Sharing,
    queues: dict[str, tuple[MessageQueue, ...]],
) -> Allocation:
    """Ask the strategy each question, and join the answers."""
    allocated: dict[str, Mapping[str, tuple[MessageQueue, ...]]] = {}
    failures: dict[str, AllocationError] = {}
    for subscriptions, topics in _questions(draft.rules.slots, members, shares):
        asked = {topic: held for topic, held in queues.items() if topic in topics}
        if not asked:
            continue
        answer = _ask(draft, members, subscriptions, asked)
        allocated |= answer.topics
        failures |= answer.failures
        draft.cut_short |= bool(answer.notes)
    return Allocation(allocated, failures)


def _questions(
    slots: str, members: dict[str, Member], shares: Sharing
) -> list[tuple[dict[str, frozenset[str]], frozenset[str]]]:
    """Return the questions for the strategy: (subscriptions by candidate, topics to share).

    It is one question, so that a member's queues of one topic count for the others; candidates that
    are not designated appear without the reserved topics. With ``slots = group`` subscriptions say
    nothing, so a second question has the reserved topics and the designated members alone.
    """
    subscriptions = {name: member.topics for name, member in members.items()}
    if not shares.reserved:
        return [(subscriptions, shares.common)]
    designated = {name: subscriptions[name] for name in members if name in shares.designated}
    if slots == "group":
        return [(subscriptions, shares.common), (designated, shares.reserved)]
    others = {
        name: left
        for name, topics in subscriptions.items()
        if name not in designated and (left := topics - shares.reserved)
    }
    return [({**others, **designated}, shares.common | shares.reserved)]


def _uncounted(
    state: GroupState, queues: Mapping[str, tuple[MessageQueue, ...]]
) -> dict[MessageQueue, float]:
    """Return the queues of the group's retry topic, which weigh nothing until they are measured.

    There is one for each delay, most of them empty. As full queues they would outweigh a topic: one
    member would get all of that topic, and another only these.
    """
    return dict.fromkeys(queues.get(own_retry_topic(state.group), ()), 0.0)


def _ask(
    draft: Draft,
    members: dict[str, Member],
    subscriptions: dict[str, frozenset[str]],
    queues: dict[str, tuple[MessageQueue, ...]],
) -> Allocation:
    state, rules = draft.state, draft.rules
    candidates = tuple(
        Candidate(
            client_id,
            subscriptions[client_id],
            members[client_id].profile.zone,
            members[client_id].profile.capacity,
        )
        for client_id in sorted(subscriptions, key=java_order)
    )
    owners = {
        queue: value.chain[-1].member.client_id
        for queue, value in state.queues.items()
        if value.chain and not value.chain[-1].dropped
    }
    if state.awaited:
        absent = state.awaited.keys()
        kept = {queue: owner for queue, owner in state.targets.items() if owner in absent}
        owners = {**kept, **owners}
    zones = {
        queue: zone for topic in queues for queue, zone in queue_zones(state.routes[topic]).items()
    }
    strategy = draft.engine.strategies.get(rules.strategy)
    if strategy is None:
        known = ", ".join(sorted(draft.engine.strategies))
        missing = AllocationError("unknown_strategy", f"{rules.strategy}; known: {known}")
        return Allocation({}, dict.fromkeys(queues, missing))
    taken = getattr(strategy, "takes_rules", ())
    request = AllocationRequest(
        state.group,
        candidates,
        queues,
        owners,
        rules.slots,
        rules.strategy_options,
        zones,
        {**_uncounted(state, queues), **state.weights} if takes_weights(draft) else {},
        placement_of({name: held for name, held in rules.single.items() if name in taken}),
    )
    try:
        return read_answer(strategy.allocate(request), queues)
    except AllocationError as error:
        return Allocation({}, dict.fromkeys(queues, error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a user's strategy may raise anything, and must not end the program: the topics keep their assignment
        failed = AllocationError(STRATEGY_ERROR, described(error))
        return Allocation({}, dict.fromkeys(queues, failed))
