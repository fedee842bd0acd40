"""A user's strategy with a fault that no edge of the core catches: the step itself fails."""

from fairlead.core.allocation import Allocation, AllocationRequest


class FaultyStrategy:
    """Cannot say which rules it takes: the step raises when it asks."""

    name = "FAULTY"

    @property
    def takes_rules(self) -> tuple[str, ...]:
        """Raise."""
        raise ZeroDivisionError

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give nobody anything; it is never asked."""
        return Allocation({topic: {} for topic in request.queues})
