"""Laws about a single answer: valid owners, an even spread, and input that must not matter."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from fairlead.core.allocation import Allocation, AllocationRequest, Placement
from fairlead.core.model import MessageQueue
from strategies.laws.law import Law
from strategies.laws.trial import Trial, alike, owners_of

__all__ = [
    "ANY_ORDER",
    "EVERY_QUEUE_OWNED",
    "FREE",
    "ONE_OWNER",
    "OWNERS_CHANGE_NOTHING",
    "TWICE_IS_ONCE",
    "spread_by_topic",
    "spread_in_total",
]


def _nothing_fails(trial: Trial) -> Iterator[str]:
    for topic, error in trial.allocation.failures.items():
        yield f"{topic!a} failed: {error.code}: {error.message}"


NOTHING_FAILS: Final = Law("every topic is allocated", _nothing_fails)


def _sharers_only(trial: Trial) -> Iterator[str]:
    for topic, client_id, owned in _shares(trial.allocation):
        if owned and client_id not in trial.sharers(topic):
            yield f"{client_id!a} gets queues of {topic!a}"


SHARERS_ONLY: Final = Law("only clients that share a topic get queues of it", _sharers_only)


def _queues_of_the_topic(trial: Trial) -> Iterator[str]:
    for topic, client_id, owned in _shares(trial.allocation):
        asked = trial.request.queues.get(topic, ())
        for queue in owned:
            if queue not in asked:
                yield f"{client_id!a} gets {queue!a} for {topic!a}"


QUEUES_OF_THE_TOPIC: Final = Law(
    "the answer has only queues of the request, each under its topic", _queues_of_the_topic
)


def _one_owner(trial: Trial) -> Iterator[str]:
    given = Counter(queue for _, _, owned in _shares(trial.allocation) for queue in owned)
    for queue, times in given.items():
        if times > 1:
            yield f"{queue!a} has {times} owners"


ONE_OWNER: Final = Law("no queue has two owners", _one_owner)


def _same_again(trial: Trial) -> Iterator[str]:
    if not _equal(trial.allocation, trial.ask(trial.request)):
        yield "a second answer to the same request differs"


SAME_AGAIN: Final = Law("the same request has the same answer", _same_again)


def _no_order_of_mappings(trial: Trial) -> Iterator[str]:
    placement = replace(trial.request.placement, **_turned(trial.request.placement))
    turned = replace(trial.request, **_turned(trial.request) | {"placement": placement})
    if not _equal(trial.allocation, trial.ask(turned)):
        yield "with topics, owners and other mappings in another order the answer differs"


NO_ORDER_OF_MAPPINGS: Final = Law(
    "the order of topics, owners and other mappings changes nothing", _no_order_of_mappings
)


def _settled(trial: Trial) -> Iterator[str]:
    settled = trial.ask(replace(trial.request, owners=trial.owners))
    if not _equal(trial.allocation, settled):
        yield "with its answer as the current owners the next answer differs"


SETTLED: Final = Law("an answer that is in force stays", _settled)

FREE: Final = (
    NOTHING_FAILS,
    SHARERS_ONLY,
    QUEUES_OF_THE_TOPIC,
    ONE_OWNER,
    SAME_AGAIN,
    NO_ORDER_OF_MAPPINGS,
    SETTLED,
)
"""The laws that the engine relies on: without them queues would keep old owners, have none, or
move forever."""


def _every_queue_owned(trial: Trial) -> Iterator[str]:
    request = trial.request
    for topic, queues in request.queues.items():
        if any(topic in each.topics for each in request.candidates):
            for queue in queues:
                if queue not in trial.owners:
                    yield f"{queue!a} has no owner"


EVERY_QUEUE_OWNED: Final = Law(
    "each queue of a topic that somebody subscribes has an owner", _every_queue_owned
)


def _owners_change_nothing(trial: Trial) -> Iterator[str]:
    request = trial.request
    somebody = [each.client_id for each in request.candidates[:1]]
    for owners in ({}, {queue: one for queue in trial.queues() for one in somebody}):
        if not _equal(trial.allocation, trial.ask(replace(request, owners=owners))):
            yield "with other current owners the answer differs"


OWNERS_CHANGE_NOTHING: Final = Law(
    "the answer does not depend on the current owners", _owners_change_nothing
)


def _any_order(trial: Trial) -> Iterator[str]:
    request = trial.request
    turned = replace(
        request,
        candidates=request.candidates[::-1],
        queues={topic: queues[::-1] for topic, queues in request.queues.items()},
    )
    if owners_of(trial.ask(turned)) != trial.owners:
        yield "with candidates and queues in another order the owners differ"


ANY_ORDER: Final = Law("candidates and queues need not be sorted", _any_order)


def _twice_is_once(trial: Trial) -> Iterator[str]:
    request = trial.request
    doubled = replace(
        request,
        candidates=tuple(each for each in request.candidates for _ in range(2)),
        queues={topic: (*queues, *queues) for topic, queues in request.queues.items()},
    )
    if not _equal(trial.allocation, trial.ask(doubled)):
        yield "with each candidate and each queue twice the answer differs"


TWICE_IS_ONCE: Final = Law("a repeated candidate or queue counts once", _twice_is_once)


def spread_by_topic(most: int) -> Law:
    """Return the law that two clients of a topic differ by at most this many of its queues."""

    def broken(trial: Trial) -> Iterator[str]:
        for topic in trial.request.queues:
            counts = Counter(
                {
                    client_id: len(owned)
                    for client_id, owned in trial.allocation.topics.get(topic, {}).items()
                }
            )
            numbers = [counts[client_id] for client_id in trial.sharers(topic)]
            if numbers and max(numbers) - min(numbers) > most:
                yield f"{topic!a}: the most is {max(numbers)}, the least {min(numbers)} queues"

    return Law(f"two clients of a topic differ by at most {most} of its queues", broken)


def spread_in_total(most: int) -> Law:
    """Return the law that members with the same topics differ by at most this many queues."""

    def broken(trial: Trial) -> Iterator[str]:
        counts = Counter(trial.owners.values())
        numbers = [counts[each.client_id] for each in trial.request.candidates]
        if alike(trial.request) and numbers and max(numbers) - min(numbers) > most:
            yield f"the most is {max(numbers)}, the least {min(numbers)} queues"

    return Law(f"members with the same topics differ by at most {most} queues in all", broken)


def _shares(allocation: Allocation) -> Iterator[tuple[str, str, tuple[MessageQueue, ...]]]:
    for topic, shares in allocation.topics.items():
        for client_id, owned in shares.items():
            yield topic, client_id, owned


def _equal(one: Allocation, other: Allocation) -> bool:
    """Compare two answers; a client without queues may be listed or left out."""
    return _essence(one) == _essence(other)


def _essence(allocation: Allocation) -> object:
    given = {(topic, client): tuple(own) for topic, client, own in _shares(allocation) if own}
    return given, {topic: error.code for topic, error in allocation.failures.items()}


def _turned(holder: AllocationRequest | Placement) -> dict[str, Any]:
    """Return each mapping of a request, or of its placement, in reverse order."""
    values = {each.name: getattr(holder, each.name) for each in fields(holder)}
    return {
        name: dict([*value.items()][::-1])
        for name, value in values.items()
        if isinstance(value, Mapping)
    }
