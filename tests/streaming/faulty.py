"""A user's strategy with a fault that no edge of the core catches: the step itself fails."""

from fairlead.core.allocation import Allocation, AllocationRequest


class FaultyStrategy:
    """Returns what is no allocation: the step raises when it looks inside."""

    name = "FAULTY"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Return topics without their owners."""
        return Allocation(dict.fromkeys(request.queues))  # type: ignore[arg-type]  # the fault
