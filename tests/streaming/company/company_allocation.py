"""Strategies of a company that uses the engine: its folder is on the engine's PYTHONPATH."""

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import MessageQueue


class LastCome:
    """Everything goes to the last member."""

    name = "LAST_COME"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give each topic to the last member."""
        last = request.candidates[-1].client_id
        return Allocation({topic: {last: queues} for topic, queues in request.queues.items()})


class Inventive(LastCome):
    """As above, but from the second member on it invents a queue."""

    name = "INVENTIVE"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give the last member a queue that nobody has heard of."""
        if len(request.candidates) == 1:
            return super().allocate(request)
        last = request.candidates[-1].client_id
        return Allocation(
            {topic: {last: (MessageQueue(topic, "invented", 0),)} for topic in request.queues}
        )


class Averagely(LastCome):
    """Has a name of the product's."""

    name = "AVG"
