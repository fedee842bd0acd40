"""Writes the requests of a thin client: what its session wants to say, as HTTP carries it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fairlead_client.model import Epoch, Process, Queue, Subscription
from fairlead_client.thin.thin_json import join_body, leave_body, poll_body
from fairlead_client.thin.thin_words import Poll, Request

__all__ = ["ThinProfile", "ThinRequests"]


@dataclass(frozen=True, slots=True)
class ThinProfile:
    """What a member says when it joins, and how it works.

    Attributes:
        group: the group.
        client_id: the client id.
        fields: the other fields of its joins.
        subscriptions: the topics at first.
        process: orders two clients with one client id. Its uuid is unique, so that a join which
            comes twice makes one session.
        progress_ms: how often positions go to the gateway while they change.
        drain_deadline_ms: how long the application may take to stop a queue; None: for ever.
    """

    group: str
    client_id: str
    fields: Mapping[str, Any]
    subscriptions: tuple[Subscription, ...]
    process: Process
    progress_ms: int
    drain_deadline_ms: int | None


class ThinRequests:
    """Writes the requests of one member.

    Args:
        profile: the member.
    """

    def __init__(self, profile: ThinProfile) -> None:
        self._profile = profile
        self._polled: dict[tuple[Queue, Epoch], int] = {}
        self._joins, self._has_joined = 1, False

    def join(
        self, number: int, topics: tuple[Subscription, ...], session_patience_ms: int
    ) -> Request:
        """Return a join: the same one until a session polls, however many are sent.

        Two sessions of one client would be two members; the first would have to lapse.
        """
        profile = self._profile
        self._polled = {}
        if self._has_joined:
            self._joins, self._has_joined = self._joins + 1, False
        start_ms, uuid = profile.process.rank
        process = {"start_ms": start_ms, "uuid": uuid, "joins": self._joins}
        member = {"client_id": profile.client_id, "process": process, **profile.fields}
        body = join_body(member, topics)
        path = f"/v1/groups/{quote(profile.group, safe='')}/members"
        key = f"{uuid}-{self._joins}"
        return Request(number, "POST", path, body, _patience_ms(session_patience_ms), key)

    def poll(self, poll: Poll, session_patience_ms: int) -> Request:
        """Return a poll."""
        self._has_joined = True
        at = {(work.queue, work.epoch): work.position for work in poll.working}
        # What has moved goes on moving: then the gateway shall soon hear where it is.
        moves = any(self._polled.get(work, offset) != offset for work, offset in at.items())
        self._polled = at
        wait_ms = min(poll.wait_ms, self._profile.progress_ms) if moves else poll.wait_ms
        path = f"/v1/sessions/{poll.session}/poll"
        patience_ms = _patience_ms(session_patience_ms)
        return Request(poll.sequence, "POST", path, poll_body(poll, wait_ms), patience_ms)

    def leave(self, poll: Poll, session_patience_ms: int) -> Request:
        """Return a session's last request."""
        path = f"/v1/sessions/{poll.session}"
        patience_ms = _patience_ms(session_patience_ms)
        return Request(poll.sequence, "DELETE", path, leave_body(poll), patience_ms)


def _patience_ms(session_ms: int) -> int:
    """Return how long to wait for a reply: a little less than the session does."""
    return max(100, session_ms - 200)
