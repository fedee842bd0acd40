"""What a strategy makes of the demo's group: asked directly, for it is a pure function."""

from collections.abc import Collection, Iterable, Mapping

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead_proof.local.ownership import Ownership
from strategies.registry import STRATEGIES

__all__ = ["going_to", "owners_under"]


def owners_under(
    strategy: str,
    members: Collection[str],
    queues: Iterable[MessageQueue],
    owners: Mapping[MessageQueue, str] | None = None,
) -> dict[MessageQueue, str]:
    """Return who gets which queue.

    Args:
        strategy: its name on the wire.
        members: client ids; each subscribes to every topic.
        queues: what they share.
        owners: who has which queue now; nobody has any unless given.
    """
    topics: dict[str, list[MessageQueue]] = {}
    for queue in sorted((MessageQueue(*each) for each in queues), key=queue_order):
        topics.setdefault(queue.topic, []).append(queue)
    request = AllocationRequest(
        group="demo",
        candidates=tuple(
            Candidate(client_id, frozenset(topics)) for client_id in sorted(members, key=java_order)
        ),
        queues={topic: tuple(found) for topic, found in topics.items()},
        owners={MessageQueue(*queue): owner for queue, owner in (owners or {}).items()},
    )
    return {
        MessageQueue(*queue): client_id
        for shares in STRATEGIES[strategy].allocate(request).topics.values()
        for client_id, owned in shares.items()
        for queue in owned
    }


def going_to(ownership: Ownership, newcomer: str) -> list[MessageQueue]:
    """Return the queues that the group's strategy will give to a client that joins, in order."""
    newest = ownership.newest
    assert newest is not None, "the group has been decided on"
    owners = {queue: client_id for queue, (client_id, _) in ownership.granted.items()}
    after = owners_under(newest.strategy, {*newest.members, newcomer}, owners, owners)
    return sorted(queue for queue, client_id in after.items() if client_id == newcomer)
