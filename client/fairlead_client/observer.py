"""What may be watched in a client; metrics are one observer, none is the default."""


class Observer:
    """Told what happens, on whatever thread it happens; the methods of this one do nothing."""

    def assignment_read(self) -> None:
        """An assignment to this client was read."""

    def owned(self, queues: int) -> None:
        """The client works on this many queues."""

    def polled(self) -> None:
        """The application asked for a message."""

    def revoked(self) -> None:
        """A queue was taken away."""

    def revoke_took(self, seconds: float) -> None:
        """The application took this long to stop working on a queue."""

    def commit_failed(self) -> None:
        """Positions could not be committed."""
