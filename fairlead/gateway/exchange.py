"""One request between its arrival and its reply, and one session between two of its polls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from fairlead_client.session.records import Assignment, Notice

from fairlead.gateway.client_state import ClientState
from fairlead.gateway.hosted_session import HostedSession
from fairlead.gateway.poll_words import Poll
from fairlead.gateway.session_log import Heard

__all__ = ["Exchange", "KeptSession", "Newest", "PollRequest"]

_LEASE_PARTS = 3
"""Two polls that wait, one behind the other, take two parts of a lease; one part is left."""


@dataclass(frozen=True, slots=True)
class PollRequest:
    """A poll as it arrives.

    Attributes:
        session: the session.
        principal: who sends it.
        state: the text of the `state` that the client echoes.
        poll: its words.
        wait_ms: how long the client waits for news.
        ending: whether these are the client's last words.
        may_consume: tells whether the principal may consume in a group now.
    """

    session: str
    principal: str
    state: str
    poll: Poll
    wait_ms: int = 0
    ending: bool = False
    may_consume: Callable[[str], bool] = lambda _: True


class Newest(NamedTuple):
    """What a session has read of the log: the newest words to it, and how many releases."""

    generation: int
    assignment: Assignment | None
    notices: tuple[Notice, ...]
    releases: int


@dataclass(slots=True)
class KeptSession:
    """A session between two polls, exactly as the `state` says that was handed out last.

    Attributes:
        text: the text of that `state`.
        state: what it says.
        hosted: the session.
        leased_ms: when the poll was received whose heartbeat gave the present lease.
        append_ms: when that heartbeat was appended.
        was_read: what the session has read of the log.
    """

    text: str
    state: ClientState
    hosted: HostedSession
    leased_ms: int
    append_ms: int
    was_read: Newest | None


@dataclass(slots=True)
class Exchange:
    """A join, a poll or last words, between arrival and reply.

    Attributes:
        request: names the request.
        session: the session.
        state: what the client's `state` says.
        hosted: the session.
        poll: the client's words.
        received_ms: when it arrived.
        until_ms: until then it waits for news.
        gives_up_ms: until then it waits for the brokers.
        kept: the session as this gateway has kept it; None: somebody else answered last.
        joins: whether it is a join.
        ending: whether it has the client's last words.
        awaited: the appends that must be confirmed before the reply.
        heartbeat: the append of its heartbeat; None: it writes none.
        at: the partition and offset of the heartbeat; None: it is not confirmed yet.
        append_ms: when the heartbeat was appended; None: it is not confirmed yet.
        confirmed_ms: when this gateway heard of that; None: not yet.
        newest_ms: when the newest record was appended that came meanwhile and may be news for it;
            None: none came.
        has_failed: whether an append may not be in the log.
        was_read: what the session has read of the log.
    """

    request: int
    session: str
    state: ClientState
    hosted: HostedSession
    poll: Poll
    received_ms: int
    until_ms: int
    gives_up_ms: int
    kept: KeptSession | None = None
    joins: bool = False
    ending: bool = False
    awaited: set[int] = field(default_factory=set)
    heartbeat: int | None = None
    at: tuple[int, int] | None = None
    append_ms: int | None = None
    confirmed_ms: int | None = None
    newest_ms: int | None = None
    has_failed: bool = False
    was_read: Newest | None = None

    def note_release(self) -> None:
        """Note that the session has read one more release of its group.

        It need not have read those before: some may have come between two polls.
        """
        if self.was_read is not None:
            self.was_read = self.was_read._replace(releases=self.was_read.releases + 1)

    def shorten_wait(self, heard: Heard | None) -> bool:
        """Wait for news no longer than the client's lease allows; tell whether that is shorter.

        Earlier polls may have had no answer, so that most of the lease is over. The client needs
        this answer while there is still time to ask once more.
        """
        if heard is None or heard.renewed_ms is None or self.append_ms is None:
            return False
        used_ms = self.append_ms - heard.renewed_ms
        until_ms = self.received_ms + self.state.lease_ms * 2 // _LEASE_PARTS - used_ms
        is_shorter = until_ms < self.until_ms
        self.until_ms = min(until_ms, self.until_ms)
        return is_shorter

    @property
    def group(self) -> str:
        """The session's group."""
        return self.state.profile.group

    @property
    def is_confirmed(self) -> bool:
        """Whether everything that the reply waits for is in the log."""
        beats = self.heartbeat is None or self.append_ms is not None
        return beats and not self.awaited and not self.has_failed

    @property
    def lease_append_ms(self) -> int | None:
        """When the heartbeat was appended that gave the present lease; None: nobody knows."""
        if self.append_ms is None and self.kept is not None:
            return self.kept.append_ms
        return self.append_ms

    @property
    def took_ms(self) -> int | None:
        """How long the brokers took to confirm its heartbeat; None: they have not."""
        return None if self.confirmed_ms is None else self.confirmed_ms - self.received_ms
