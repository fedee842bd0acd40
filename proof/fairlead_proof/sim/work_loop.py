"""What the application of a simulated client does in a turn, whichever session it takes part by."""

from typing import Protocol

from fairlead.core.model import MessageQueue
from fairlead_proof.sim.application import Application, Work
from fairlead_proof.sim.client_environment import ClientEnvironment

__all__ = ["WORK_EVERY_MS", "WorkLoop", "Worker"]

PROCESSED_MOST = 3
WORK_EVERY_MS = 400


class Worker(Protocol):
    """A client whose application works."""

    @property
    def world(self) -> ClientEnvironment:
        """Where it lives."""

    @property
    def application(self) -> Application:
        """Its application."""

    @property
    def mute(self) -> bool:
        """Whether it answers no drop."""

    def owns(self, work: Work) -> bool:
        """Tell whether it may work."""

    def report(self, work: Work, end: int) -> None:
        """Say where a work is, and where its queue ends."""

    def release(self, work: Work, end: int) -> None:
        """Say that a work has stopped, and where its queue ends."""


class WorkLoop:
    """Processes messages now and then, reports what has moved, and ends what was to stop."""

    def __init__(self) -> None:
        self.worked_ms = 0

    def turn(self, worker: Worker) -> None:
        """Let the application work once."""
        world, application = worker.world, worker.application
        now_ms = world.timeline.now_ms

        def end_of(work: Work) -> int:
            return world.data.end_offset(MessageQueue(*work.queue), now_ms)

        if now_ms - self.worked_ms >= WORK_EVERY_MS:
            self.worked_ms = now_ms
            for work in application.works.values():
                if work.stops_ms is None and worker.owns(work):
                    left = end_of(work) - work.offset
                    if left > 0:
                        application.process(work, min(left, PROCESSED_MOST))
        for work in list(application.works.values()):
            if work.reported < work.offset:
                work.reported = work.offset
                worker.report(work, end_of(work))
        if not worker.mute:
            for work in list(application.stopped(now_ms)):
                in_hand = world.chance.below(2) if worker.owns(work) else 0
                application.finish(work, in_hand=in_hand)
                worker.release(work, end_of(work))
