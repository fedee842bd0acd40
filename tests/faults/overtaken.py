"""What the engine's own mark excuses: work beside an owner that did not have to wait.

Nothing else does: a grant that is not marked unsafe makes two owners of two who work at once.
"""

from collections.abc import Collection
from dataclasses import replace

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.overlaps import Overlap
from fairlead.verify.tenures import Tenure, Tenures


def set_aside(tenures: Tenures, unsafe: Collection[tuple[MessageQueue, Epoch]]) -> list[Overlap]:
    """End the work of whoever was not waited for where the marked one begins; return who it was.

    What it did before counts as what a death leaves: it may be read again within that bound. What
    it did beside the owner counts for nothing: the owner has to process it as well.
    """
    found = []
    for queue, of_queue in tenures.by_queue.items():
        for number, later in enumerate(of_queue):
            if (queue, later.epoch) not in unsafe:
                continue
            if number:
                of_queue[number - 1].ending = "killed"
            for earlier in of_queue[:number]:
                if earlier.end_ns is None or earlier.end_ns > later.begin_ns:
                    found.append(Overlap(replace(earlier), later))
                    _end(earlier, later.begin_ns)
    return found


def _end(tenure: Tenure, end_ns: int) -> None:
    tenure.end_ns, tenure.ending = end_ns, "killed"
    tenure.consumed = [message for message in tenure.consumed if message.t_ns < end_ns]
