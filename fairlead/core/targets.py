"""Who should own which queue.

Asks the group's strategy and checks its answer; decides nothing about when a queue moves. A topic
whose allocation fails keeps its last assignment and is tried again at the next trigger, the other
topics go on. Under the rule ``designated`` the strategy is shown the designated members alone.
"""

import json
import re
from collections.abc import Mapping

from fairlead.core.allocation import (
    Allocation,
    AllocationError,
    AllocationRequest,
    Candidate,
)
from fairlead.core.designation import Sharing, sharing
from fairlead.core.draft import Draft
from fairlead.core.membership import effective_members, subscribed_topics
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Failure
from fairlead.core.routes import queue_zones, readable_queues
from fairlead.core.scales import takes_weights
from fairlead.core.state import GroupState, Member

ERROR_TEXT_MAX = 200
FAILED_ALLOCATION = "failed_allocation"
"""What each attempt to allocate a topic counts as if it fails, with the code of its failure."""

DESIGNATION_EMPTY = "designation_empty"
"""The alarm that a topic has no designated member."""

__all__ = [
    "DESIGNATION_EMPTY",
    "FAILED_ALLOCATION",
    "allocation_text",
    "compute_targets",
    "shared_queues",
]


def shared_queues(state: GroupState) -> dict[str, tuple[MessageQueue, ...]]:
    """Return the readable queues of each subscribed topic of which the route is known."""
    return {
        topic: readable_queues(state.routes[topic])
        for topic in subscribed_topics(state)
        if topic in state.routes
    }


def allocation_text(draft: Draft) -> str:
    """Return what besides members and routes an allocation depends on, as one comparable text."""
    rules = draft.rules
    options = json.dumps(rules.strategy_options, sort_keys=True)
    text = f"{rules.strategy} {options} {rules.slots}"
    return text if rules.designated is None else f"{text} {rules.designated.text}"


def compute_targets(draft: Draft) -> None:
    """Replace the group's targets by a new allocation of every topic that can be allocated."""
    state = draft.state
    queues = shared_queues(state)
    members = effective_members(state.members)
    subscriptions = {client_id: member.topics for client_id, member in members.items()}
    shares = sharing(
        draft.rules.designated, subscriptions, [topic for topic, held in queues.items() if held]
    )
    allocation = _allocate(draft, members, shares, queues)
    targets: dict[MessageQueue, str] = {}
    failures: dict[str, Failure] = {}
    for topic, held in queues.items():
        error = allocation.failures.get(topic) or _refusal(allocation, shares, topic, held)
        if error is None:
            for client_id, owned in allocation.topics.get(topic, {}).items():
                targets.update(dict.fromkeys(owned, client_id))
            continue
        failures[topic] = Failure(topic, error.code, error.message)
        kept = {queue: state.targets[queue] for queue in held if queue in state.targets}
        # A failing strategy is no reason for anybody else to go on consuming.
        targets.update(
            (queue, owner) for queue, owner in kept.items() if shares.allows(topic, owner)
        )
    if failures != state.failures and failures:
        draft.alarms.add("allocation_failed")
    # An alarm alone makes a record: it is raised beside something that does so anyhow.
    if shares.empty and (draft.dirty or draft.causes or draft.moves or targets != state.targets):
        draft.alarms.add(DESIGNATION_EMPTY)
    draft.counts.update((FAILED_ALLOCATION, failure.code) for failure in failures.values())
    state.failures = failures
    state.targets = targets
    state.allocated_by = allocation_text(draft)


def _allocate(
    draft: Draft,
    members: dict[str, Member],
    shares: Sharing,
    queues: dict[str, tuple[MessageQueue, ...]],
) -> Allocation:
    """Ask the strategy once for each set of members that share topics with each other."""
    allocated: dict[str, Mapping[str, tuple[MessageQueue, ...]]] = {}
    failures: dict[str, AllocationError] = {}
    designated = {name: member for name, member in members.items() if name in shares.designated}
    for sharers, topics in ((members, shares.common), (designated, shares.reserved)):
        asked = {topic: held for topic, held in queues.items() if topic in topics}
        if not asked:
            continue
        answer = _ask(draft, sharers, asked)
        # What a strategy says of topics that it was not asked for is no answer.
        allocated |= {topic: answer.topics[topic] for topic in asked if topic in answer.topics}
        failures |= {topic: answer.failures[topic] for topic in asked if topic in answer.failures}
    return Allocation(allocated, failures)


def _ask(
    draft: Draft, members: dict[str, Member], queues: dict[str, tuple[MessageQueue, ...]]
) -> Allocation:
    state, rules = draft.state, draft.rules
    candidates = tuple(
        Candidate(
            client_id,
            members[client_id].topics,
            members[client_id].profile.zone,
            members[client_id].profile.capacity,
        )
        for client_id in sorted(members, key=java_order)
    )
    owners = {
        queue: value.chain[-1].member.client_id
        for queue, value in state.queues.items()
        if value.chain and not value.chain[-1].dropped
    }
    zones = {
        queue: zone for topic in queues for queue, zone in queue_zones(state.routes[topic]).items()
    }
    request = AllocationRequest(
        state.group,
        candidates,
        queues,
        owners,
        rules.slots,
        rules.strategy_options,
        zones,
        state.weights if takes_weights(draft) else {},
    )
    strategy = draft.engine.strategies.get(rules.strategy)
    if strategy is None:
        known = ", ".join(sorted(draft.engine.strategies))
        missing = AllocationError("unknown_strategy", f"{rules.strategy}; known: {known}")
        return Allocation({}, dict.fromkeys(queues, missing))
    try:
        return strategy.allocate(request)
    except AllocationError as error:
        return Allocation({}, dict.fromkeys(queues, error))
    except Exception as error:  # noqa: BLE001  # a user's strategy may raise anything: the topics keep their assignment
        failed = AllocationError("strategy_error", _described(error))
        return Allocation({}, dict.fromkeys(queues, failed))


def _described(error: Exception) -> str:
    """Word an exception without what differs from run to run: the record must be the same again."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x…", str(error))
    return f"{type(error).__name__}: {text[:ERROR_TEXT_MAX]}"


def _refusal(
    allocation: Allocation, shares: Sharing, topic: str, held: tuple[MessageQueue, ...]
) -> AllocationError | None:
    shared, seen = set(held), set()
    for client_id, owned in allocation.topics.get(topic, {}).items():
        if owned and not shares.allows(topic, client_id):
            return AllocationError("not_designated", f"{client_id} was given queues of {topic}")
        for queue in owned:
            if queue not in shared:
                return AllocationError("unknown_queue", f"{client_id} was given {queue}")
            if queue in seen:
                return AllocationError("two_owners", f"{queue} was given twice")
            seen.add(queue)
    return None
