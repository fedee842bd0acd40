"""Answers a case of kind `allocate`, by a strategy of RocketMQ or one of ours.

Lists are taken in the order given: RocketMQ's strategies do not sort, their caller does.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fairlead.core.allocation import (
    Allocation,
    AllocationError,
    AllocationRequest,
    Candidate,
    Strategy,
)
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead_proof.conformance.fields import (
    BadCaseError,
    client_ids_of,
    options_of,
    queues_of,
    written,
)
from strategies.options import bad_option, queue_of
from strategies.registry import ROCKETMQ, STRATEGIES

__all__ = ["answer_allocate"]


def answer_allocate(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return who gets what under a strategy, and the strategy's notes if it has any.

    Raises:
        AllocationError: RocketMQ's strategy throws, or ours cannot allocate.
        BadCaseError: a field has not its form.
    """
    name = case.get("strategy")
    if not isinstance(name, str):
        raise BadCaseError("strategy: it must be a name")
    queues, client_ids = queues_of(case), client_ids_of(case)
    named = client_ids if case.get("for") is None else client_ids_of(case, "for")
    asked = tuple(dict.fromkeys(named))
    options = options_of(case)
    if name in ROCKETMQ:
        dealing = ROCKETMQ[name].deal(queues, client_ids, options)
        return {"result": {client_id: written(dealing(client_id)) for client_id in asked}}
    if name in STRATEGIES:
        allocation = _allocation(STRATEGIES[name], queues, client_ids, options)
        shares = _shares(allocation, dict.fromkeys(queue.topic for queue in queues))
        result = {client_id: written(shares.get(client_id, ())) for client_id in asked}
        return {"result": result} | ({"notes": [*allocation.notes]} if allocation.notes else {})
    known = ", ".join(sorted(STRATEGIES))
    raise AllocationError("unknown_strategy", f"there is no strategy {name!r}; known: {known}")


def _allocation(
    strategy: Strategy,
    queues: tuple[MessageQueue, ...],
    client_ids: tuple[str, ...],
    options: Mapping[str, Any],
) -> Allocation:
    """Let a strategy of ours allocate all topics at once.

    The options ``current`` and ``subscriptions`` are what the engine knows by itself.
    """
    by_topic: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    subscriptions = _subscriptions(options, frozenset(by_topic))
    everything = frozenset(by_topic)
    request = AllocationRequest(
        group="",
        candidates=tuple(
            Candidate(client_id, subscriptions.get(client_id, everything))
            for client_id in dict.fromkeys(client_ids)
        ),
        queues={topic: tuple(held) for topic, held in by_topic.items()},
        owners=_owners(options),
        options={
            name: value
            for name, value in options.items()
            if name not in ("current", "subscriptions")
        },
    )
    allocation = strategy.allocate(request)
    for error in allocation.failures.values():
        raise error
    return allocation


def _shares(allocation: Allocation, topics: Iterable[str]) -> dict[str, tuple[MessageQueue, ...]]:
    """Return what each client owns, topic by topic in the order of the queues."""
    by_client: dict[str, tuple[MessageQueue, ...]] = {}
    for topic in topics:
        for client_id, owned in allocation.topics.get(topic, {}).items():
            by_client[client_id] = by_client.get(client_id, ()) + owned
    return by_client


def _owners(options: Mapping[str, Any]) -> dict[MessageQueue, str]:
    """Return who owns what; of two owners the first in RocketMQ's order."""
    current = _lists(options, "current", "queues")
    return {
        queue_of(queue, f"current.{client_id}[{place}]"): client_id
        for client_id in sorted(current, key=java_order, reverse=True)
        for place, queue in enumerate(current[client_id])
    }


def _subscriptions(options: Mapping[str, Any], topics: frozenset[str]) -> dict[str, frozenset[str]]:
    given = _lists(options, "subscriptions", "topics")
    for client_id, own in given.items():
        for place, topic in enumerate(own):
            if not isinstance(topic, str):
                raise bad_option(f"subscriptions.{client_id}[{place}]", "a text")
    return {client_id: topics & frozenset(own) for client_id, own in given.items()}


def _lists(options: Mapping[str, Any], name: str, of: str) -> Mapping[str, list[Any]]:
    given = options.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(own, list) for own in given.values()):
        raise bad_option(name, f"an object: client id to its {of}")
    return given
