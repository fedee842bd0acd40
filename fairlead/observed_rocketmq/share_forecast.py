"""What a join, a leave and a deploy would move, under AVG and under STICKY."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairlead.core.allocation import AllocationRequest, Candidate, Strategy
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead.observed_rocketmq.seen_group import SeenGroup
from strategies.registry import STRATEGIES

__all__ = ["ShareForecast", "forecasts_of", "shares_by"]

_COMPARED: Final = ("AVG", "STICKY")
MEMBERS_MAX: Final = 64
"""Of larger groups nothing is forecast: a deploy asks the strategies twice for each member."""

Owners = Mapping[MessageQueue, str]


@dataclass(frozen=True, slots=True)
class ShareForecast:
    """How many queues change owner.

    Attributes:
        change: `join` of one client, `leave` of one, or `deploy`: each leaves and comes back under
            a new id, one after another.
        strategy: what shares the queues.
        fewest: in the best case: it depends on where the client's id stands among the others.
        most: in the worst case.
    """

    change: str
    strategy: str
    fewest: int
    most: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "forecast_of": self.change,
            "strategy": self.strategy,
            "moves_fewest": self.fewest,
            "moves_most": self.most,
        }


def shares_by(
    strategy: Strategy, ids: Sequence[str], queues: Sequence[MessageQueue], owners: Owners
) -> dict[MessageQueue, str]:
    """Return whom a strategy gives each queue; `owners`: who has it now.

    Every member counts for every topic, as in RocketMQ (RebalanceImpl#rebalanceByTopic).
    """
    by_topic: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    topics = frozenset(by_topic)
    answer = strategy.allocate(
        AllocationRequest(
            group="",
            candidates=tuple(Candidate(each, topics) for each in sorted(ids, key=java_order)),
            queues={topic: tuple(each) for topic, each in by_topic.items()},
            owners={queue: owner for queue, owner in owners.items() if owner in ids},
            slots="group",
        )
    )
    return {
        queue: client_id
        for shares in answer.topics.values()
        for client_id, held in shares.items()
        for queue in held
    }


def forecasts_of(group: SeenGroup) -> tuple[ShareForecast, ...]:
    """Return what changes of the membership would move; nothing where nobody shares queues.

    Each strategy begins with its own shares of the present members, so that only the change counts.
    """
    ids = [each.client_id for each in group.members]
    if not ids or len(ids) > MEMBERS_MAX or group.is_broadcast or not group.queues:
        return ()
    queues, found = list(group.queues), []
    held = {queue: owners[0] for queue, owners in group.owners.items() if owners}
    for name in _COMPARED:
        strategy = STRATEGIES[name]
        now = shares_by(strategy, ids, queues, held)

        def moved(
            after: list[str], before: Owners = now, by: Strategy = strategy
        ) -> tuple[int, Owners]:
            shares = shares_by(by, after, queues, before)
            return sum(shares.get(each) != before.get(each) for each in queues), shares

        joins = [moved([*ids, new])[0] for new in _places(ids)]
        found.append(ShareForecast("join", name, min(joins), max(joins)))
        if len(ids) > 1:
            leaves = [moved([each for each in ids if each != gone])[0] for gone in ids]
            found.append(ShareForecast("leave", name, min(leaves), max(leaves)))
            total = _deploy(strategy, ids, queues, now)
            found.append(ShareForecast("deploy", name, total, total))
    return tuple(found)


def _places(ids: Sequence[str]) -> list[str]:
    """Return an id before all others, and one behind each."""
    return [" ", *(f"{each} " for each in ids)]


def _deploy(
    strategy: Strategy, ids: Sequence[str], queues: Sequence[MessageQueue], now: Owners
) -> int:
    total, present, shares = 0, list(ids), dict(now)
    for client_id in ids:
        for after in (
            [each for each in present if each != client_id],
            [f"{each} " if each == client_id else each for each in present],
        ):
            then = shares_by(strategy, after, queues, shares)
            total += sum(then.get(queue) != shares.get(queue) for queue in queues)
            shares = then
        present = [f"{each} " if each == client_id else each for each in present]
    return total
