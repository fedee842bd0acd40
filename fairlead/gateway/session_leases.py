"""Whose sessions have a lease at this gateway: each counts until it has ended, whoever polls it."""

__all__ = ["SessionLeases"]


class SessionLeases:
    """The ends of leases, by session and principal.

    A client may break the connection of each poll, and still has a member in its group: so a
    session counts from its first request here until its lease is over.
    """

    def __init__(self) -> None:
        self._until_ms: dict[str, dict[str, int]] = {}
        self._count = 0

    def __len__(self) -> int:
        """Return how many sessions have a lease."""
        return self._count

    def count(self, principal: str) -> int:
        """Return how many of them a principal has."""
        return len(self._until_ms.get(principal, ()))

    def renew(self, principal: str, session: str, until_ms: int) -> None:
        """Note that a session has a lease until then."""
        sessions = self._until_ms.setdefault(principal, {})
        self._count += session not in sessions
        sessions[session] = until_ms

    def end(self, principal: str, session: str) -> None:
        """Note that a session is over."""
        sessions = self._until_ms.get(principal, {})
        if sessions.pop(session, None) is not None:
            self._count -= 1
            if not sessions:
                del self._until_ms[principal]

    def forget(self, now_ms: int) -> None:
        """Forget the sessions whose lease is over."""
        over = [
            (principal, session)
            for principal, sessions in self._until_ms.items()
            for session, until_ms in sessions.items()
            if until_ms <= now_ms
        ]
        for principal, session in over:
            self.end(principal, session)
