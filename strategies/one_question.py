"""Asks a strategy for whole groups about one part of a topic, as RocketMQ asks its strategies.

The strategy then balances only within that part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairlead.core.allocation import AllocationRequest, Candidate, Strategy
from fairlead.core.model import MessageQueue
from strategies.dealing import Deal, Dealing, check

__all__ = ["deal_of"]


def deal_of(strategy: Strategy, request: AllocationRequest | None) -> Deal:
    """Return a function that deals some queues to some clients by this strategy.

    ``request``: the whole request, with owners, zones and capacities; None: these are unknown.
    """

    def deal(
        queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
    ) -> Dealing:
        check_options = getattr(strategy, "check_options", None)
        if check_options is not None:
            check_options(options)
        shares: dict[str, list[MessageQueue]] | None = None
        known = frozenset(client_ids)

        def share(client_id: str) -> tuple[MessageQueue, ...]:
            nonlocal shares
            if not check(client_id, queues, known):
                return ()
            if shares is None:
                shares = _answer(strategy, _request(request, queues, client_ids, options))
            return tuple(shares.get(client_id, ()))

        return share

    return deal


def _request(
    request: AllocationRequest | None,
    queues: Sequence[MessageQueue],
    client_ids: Sequence[str],
    options: Mapping[str, Any],
) -> AllocationRequest:
    by_topic: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    topics = frozenset(by_topic)
    base = AllocationRequest("", (), {}) if request is None else request
    known = {candidate.client_id: candidate for candidate in base.candidates}
    candidates = tuple(
        replace(known.get(client_id, Candidate(client_id, topics)), topics=topics)
        for client_id in dict.fromkeys(client_ids)
    )
    asked = {topic: tuple(held) for topic, held in by_topic.items()}
    return replace(base, candidates=candidates, queues=asked, options=options)


def _answer(strategy: Strategy, request: AllocationRequest) -> dict[str, list[MessageQueue]]:
    allocation = strategy.allocate(request)
    for error in allocation.failures.values():
        raise error
    shares: dict[str, list[MessageQueue]] = {}
    for topic in request.queues:
        for client_id, owned in allocation.topics[topic].items():
            shares.setdefault(client_id, []).extend(owned)
    return shares
