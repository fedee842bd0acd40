"""What the driver watches of the query's JVM."""

from dataclasses import dataclass

from streaming.heap import HeapWatch
from streaming.jvm_end import JvmProcess
from streaming.stall_probe import StallProbe

__all__ = ["Jvm"]


@dataclass(frozen=True, slots=True)
class Jvm:
    """The query's JVM and its probes.

    Attributes:
        process: its process.
        stalls: checks whether the query moves on.
        heap: checks how full the heap is.
    """

    process: JvmProcess
    stalls: StallProbe
    heap: HeapWatch

    def check(self) -> None:
        """Run every check once.

        Raises:
            HeapExhaustedError: its heap is too small.
            Py4JError, OSError: it is gone.
        """
        self.stalls.check()
        self.heap.check()
