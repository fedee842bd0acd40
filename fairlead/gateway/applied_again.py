"""What an assignment still says to a session that has applied it before."""

from collections.abc import Mapping
from dataclasses import replace

from fairlead_client.model import EPOCH_ZERO, Queue
from fairlead_client.session.memory import QueueMemory
from fairlead_client.session.records import Assigned, Assignment, Drop

__all__ = ["without_answered"]


def without_answered(
    assignment: Assignment, queues: Mapping[Queue, QueueMemory], *, leaves: bool
) -> Assignment:
    """Return an assignment that was applied before, without its drops of what never started.

    Whoever applied it has answered them: the answers stand in the state, or in the log. If each
    poll answered them, each would have news, and the client would poll without a pause until the
    engine writes it another word, which may be never. One that leaves has answered the adds, too.
    A drop of work counts again: no state has the turn of a queue that works on after its drop.
    """
    started = {queue: memory.started for queue, memory in queues.items()}

    def is_started(entry: Drop | Assigned) -> bool:
        return entry.epoch <= started.get(entry.queue, EPOCH_ZERO)

    def counts(entry: Assigned) -> bool:
        return is_started(entry) if leaves or entry.state == "draining" else True

    return replace(
        assignment,
        drop=tuple(filter(is_started, assignment.drop)),
        add=() if leaves else assignment.add,
        assigned=tuple(filter(counts, assignment.assigned)),
    )
