"""The states of a session and of its queues, and the signals that move a queue."""

from enum import StrEnum


class SessionState(StrEnum):
    """The state of a client; the public interface shows these values."""

    NEW = "new"
    """Waits for its start."""
    STARTING = "starting"
    """Waits for the acknowledgement of its first heartbeat; it has no lease yet."""
    RUNNING = "running"
    """Holds a lease; may work on queues."""
    LEAVING = "leaving"
    """Waits until it has released every queue, and its leave is acknowledged."""
    FENCED = "fenced"
    """Lost its lease; waits for the work to stop, then for a new incarnation."""
    CLOSED = "closed"
    """Waits for nothing."""


class QueueState(StrEnum):
    """The state of a queue. In the last four, a newer add may wait behind the work."""

    IDLE = "idle"
    """Waits for an add."""
    GATED = "gated"
    """Has an add; waits for the releases of former holders."""
    COMMITTING = "committing"
    """Started; waits for the commit of the operator's reset before the first message."""
    WORKING = "working"
    """The application works on it; waits for a drop."""
    LINGERING = "lingering"
    """Dropped; works on and waits for its turn to stop."""
    DRAINING = "draining"
    """Dropped; waits for the application to stop."""
    FROZEN = "frozen"
    """The application has held it since before a freeze; waits for a grant."""
    YIELDING = "yielding"
    """Held without a grant; waits for the application to stop."""


class Standing(StrEnum):
    """Who decides what a client holds; one that cannot stand by is always at `own`."""

    WAIT = "wait"
    """Nobody yet: it holds nothing until the first assignment of its incarnation."""
    FOLLOW = "follow"
    """The data plane's former strategy, which the application follows."""
    FREEZE = "freeze"
    """Nobody: the application keeps what it holds and takes nothing."""
    OWN = "own"
    """The engine."""


class Signal(StrEnum):
    """What can happen to one queue; session events cause these signals."""

    ADD = "add"
    DROP = "drop"
    RESYNC = "resync"
    """The whole set arrived: drop what it does not name, unless it is newer."""
    SCAN = "scan"
    """Something that a gate may wait for has changed."""
    VOID = "void"
    """A newer generation began, and gates are void."""
    PROGRESS = "progress"
    COMMITTED = "committed"
    STOPPED = "stopped"
    DRAIN_OVER = "drain_over"
    DUE = "due"
    """It is time to repeat a commit that a start waits for, or the queue's turn to stop."""
    LEAVE = "leave"
    FENCE = "fence"
    FROZEN = "frozen"
    """The application's answer to a freeze names the queue."""
    HELD = "held"
    """The whole set says that the client holds the queue."""
    YIELD = "yield"
    """The engine shares the queues out again; what it has not granted must stop."""
    GIVE_UP = "give_up"
    """The engine's epochs mean nothing from now on; the application keeps what it holds."""
