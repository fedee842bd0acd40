"""The states of a session and of each of its queues, and the signals that move a queue."""

from enum import StrEnum


class SessionState(StrEnum):
    """Where a client is in its life; each state is named in the public interface."""

    NEW = "new"
    """Waits to be started."""
    STARTING = "starting"
    """Waits for its first heartbeat to be acknowledged: there is no lease yet."""
    RUNNING = "running"
    """Holds a lease; may work on queues."""
    LEAVING = "leaving"
    """Waits for every queue to be stopped and released, then for its leave to be acknowledged."""
    FENCED = "fenced"
    """Lost its lease; waits for the work to stop, then for a new incarnation."""
    CLOSED = "closed"
    """Waits for nothing."""


class QueueState(StrEnum):
    """What a queue waits for. In the last four a newer add may wait behind the work."""

    IDLE = "idle"
    """Waits for an add."""
    GATED = "gated"
    """Has an add; waits for releases of those who worked before."""
    COMMITTING = "committing"
    """Started; waits until the operator's reset is committed, before the first delivery."""
    WORKING = "working"
    """The application works on it; waits for a drop."""
    LINGERING = "lingering"
    """Dropped; works on and waits for its turn to stop."""
    DRAINING = "draining"
    """Dropped; waits for the application to stop."""


class Signal(StrEnum):
    """What can happen to one queue; session events are translated into these."""

    ADD = "add"
    DROP = "drop"
    RESYNC = "resync"
    """The whole set arrived: what is missing from it and not newer is dropped."""
    SCAN = "scan"
    """Something that a gate may wait for has changed."""
    VOID = "void"
    """A newer generation: gates are void."""
    PROGRESS = "progress"
    COMMITTED = "committed"
    STOPPED = "stopped"
    DRAIN_OVER = "drain_over"
    DUE = "due"
    """A commit that a start waits for is to be tried again; or it is the queue's turn to stop."""
    LEAVE = "leave"
    FENCE = "fence"
