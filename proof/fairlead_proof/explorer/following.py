"""The strategy of the searched worlds: a queue goes to the client that the operator names."""

from typing import Any

from fairlead.core.allocation import Allocation, AllocationRequest

__all__ = ["FOLLOWING", "Following", "following"]

FOLLOWING = "FOLLOWING"


class Following:
    """Gives each queue to its client in the option ``targets``, or else to the first one there."""

    name = FOLLOWING

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Return the operator's targets, as far as these clients are there."""
        named = request.options["targets"]
        topics: dict[str, dict[str, tuple[Any, ...]]] = {}
        for topic, queues in request.queues.items():
            there = sorted(each.client_id for each in request.candidates if topic in each.topics)
            shares = topics.setdefault(topic, {})
            for queue in queues if there else ():
                wanted = named[queue.queue_id]
                owner = wanted if wanted in there else there[0]
                shares[owner] = (*shares.get(owner, ()), queue)
        return Allocation(topics)


def following(targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the value of the rule ``strategy`` that points queue i at the i-th client id."""
    return {"name": FOLLOWING, "options": {"targets": list(targets)}}
