"""Checks of a strategy's answer: a user's own strategy may answer anything.

Decides which of its topics fail, never who owns what.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from fairlead.core.allocation import Allocation, AllocationError, described
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.rules.designation import Sharing
from fairlead.core.state import Member

__all__ = ["STRATEGY_ERROR", "read_answer", "refusal"]

STRATEGY_ERROR = "strategy_error"
"""The code of a topic whose strategy raised, or whose answer is no allocation."""

TWO_OWNERS = (
    "two clients would own one queue, so nothing is changed: let one client consume (the rule "
    "designated), or take a strategy that shares, such as STICKY or AVG"
)


def read_answer(answer: object, asked: Iterable[str]) -> Allocation:
    """Return the answer for the topics in question; a topic without an answer has failed.

    A share may be any iterable of queues. Answers for other topics do not count.

    Raises:
        AllocationError: ``strategy_error``, it is no allocation at all.
    """
    if not isinstance(answer, Allocation):
        raise _no_answer(f"it is {_kind(answer)}, not an Allocation")
    topics: object = answer.topics
    failures: object = answer.failures
    if not isinstance(topics, Mapping) or not isinstance(failures, Mapping):
        raise _no_answer("its topics and failures must be mappings by topic")
    taken: dict[str, Mapping[str, tuple[MessageQueue, ...]]] = {}
    failed: dict[str, AllocationError] = {}
    for topic in asked:
        error = failures.get(topic)
        try:
            if error is not None:
                failed[topic] = _as_failure(error)
            elif topic not in topics:
                raise _no_answer(f"it names neither the owners of {topic} nor why there are none")
            else:
                taken[topic] = _shares(topics[topic], topic)
        except AllocationError as refused:
            failed[topic] = refused
    return Allocation(taken, failed, tuple(map(str, answer.notes)))


def refusal(
    shares: Mapping[str, tuple[MessageQueue, ...]],
    members: Mapping[str, Member],
    sharing: Sharing,
    topic: str,
    held: tuple[MessageQueue, ...],
) -> AllocationError | None:
    """Return why the engine refuses these shares of a topic; None: they are valid."""
    shared = set(held)
    owners: dict[MessageQueue, str] = {}
    for client_id, owned in shares.items():
        if owned and client_id not in members:
            detail = f"{client_id} was given queues of {topic}, and is no member that may own any"
            return AllocationError("unknown_client", detail)
        if owned and not sharing.allows(topic, client_id):
            return AllocationError("not_designated", f"{client_id} was given queues of {topic}")
        for queue in owned:
            if queue not in shared:
                return AllocationError("unknown_queue", f"{client_id} was given {_named(queue)}")
            if queue in owners:
                both = f"{_named(queue)} to {owners[queue]} and {client_id}"
                return AllocationError("two_owners", f"{TWO_OWNERS}; {both}")
            owners[queue] = client_id
    return None


def _shares(given: object, topic: str) -> Mapping[str, tuple[MessageQueue, ...]]:
    if not isinstance(given, Mapping):
        raise _no_answer(f"of {topic} it has {_kind(given)}, not the queues of each client")
    shares: dict[str, tuple[MessageQueue, ...]] = {}
    for client_id, owned in given.items():
        if not isinstance(client_id, str) or not isinstance(owned, Iterable):
            raise _no_answer(f"of {topic} it has {_kind(owned)} for {_kind(client_id)}")
        try:
            shares[client_id] = tuple(owned)
        except Exception as error:  # iterating a share may run the user's code
            raise AllocationError(STRATEGY_ERROR, described(error)) from error
        # In C: a big group has 100,000 queues.
        if not {MessageQueue}.issuperset(map(type, shares[client_id])):
            raise _no_answer(f"of {topic} {client_id} is given what is no MessageQueue")
        if isinstance(owned, AbstractSet):
            # The order of a set differs between processes; the decision must not.
            shares[client_id] = tuple(sorted(shares[client_id], key=queue_order))
    return shares


def _as_failure(error: Any) -> AllocationError:
    if isinstance(error, AllocationError):
        return error
    return _no_answer(f"its failures must be AllocationError, not {_kind(error)}")


def _no_answer(why: str) -> AllocationError:
    return AllocationError(STRATEGY_ERROR, f"the strategy's answer cannot be taken: {why}")


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _named(queue: MessageQueue) -> str:
    return "/".join(map(str, queue))
