"""The JVM that the query runs in, as the driver watches it."""

from dataclasses import dataclass

from streaming.heap import HeapWatch
from streaming.jvm_end import JvmProcess
from streaming.stall_probe import Pulse

__all__ = ["Jvm"]


@dataclass(frozen=True, slots=True)
class Jvm:
    """What is asked of it.

    Attributes:
        process: its process.
        pulse: whether anything moves in it.
        heap: how full it is.
    """

    process: JvmProcess
    pulse: Pulse
    heap: HeapWatch

    def feel(self) -> None:
        """Look at all of it once.

        Raises:
            HeapExhaustedError: its heap is too small.
            Py4JError, OSError: it is gone.
        """
        self.pulse.feel()
        self.heap.feel()
