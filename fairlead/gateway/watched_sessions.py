"""The sessions whose clients prefer a stream of news to long polls."""

from collections.abc import Iterator

from fairlead_client.session.records import Release

__all__ = ["WatchedSessions"]


class WatchedSessions:
    """Counts who watches which session, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, int]] = {}

    def watch(self, group: str, session: str) -> None:
        """One more watches a session."""
        watched = self._groups.setdefault(group, {})
        watched[session] = watched.get(session, 0) + 1

    def unwatch(self, session: str) -> None:
        """One less watches a session."""
        for group, watched in list(self._groups.items()):
            if session in watched:
                watched[session] -= 1
                if not watched[session]:
                    del watched[session]
                if not watched:
                    del self._groups[group]

    def everybody(self) -> Iterator[str]:
        """Yield every watched session."""
        for watched in self._groups.values():
            yield from watched

    def concerned(self, by: str | Release) -> Iterator[str]:
        """Yield the watched sessions that a session's record, or a release, concerns."""
        if isinstance(by, Release):
            yield from self._groups.get(by.group, ())
        elif any(by in watched for watched in self._groups.values()):
            yield by
