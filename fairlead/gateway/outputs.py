"""What a gateway does: it appends records, and replies to requests."""

from dataclasses import dataclass
from typing import Final

from fairlead_client.thin.thin_words import Joined, PollAnswer

from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.poll_words import UnexpectedStopError, UnfitStandbyError

__all__ = [
    "FULL",
    "REASONS",
    "SUPERSEDED",
    "SUPERSEDED_ELSEWHERE",
    "UNAVAILABLE",
    "Append",
    "Body",
    "Left",
    "News",
    "Output",
    "Refusal",
    "Reply",
    "forbidden",
    "session_over",
    "unfit_poll",
]


@dataclass(frozen=True, slots=True)
class Append:
    """Records to be written, in order; report by `appended` or `failed` with the number.

    Attributes:
        number: names it.
        suffix: the topic.
        group: the key, and what chooses the partition.
        values: the records.
        handed_to: with "handovers": the client that waits, which chooses the partition too.
    """

    number: int
    suffix: str
    group: str
    values: tuple[bytes, ...]
    handed_to: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that is an error.

    Attributes:
        status: its HTTP status.
        kind: its type.
        detail: what is wrong.
        remedy: what to do.
        field: the part of the request that is wrong; "": none.
        reason: why a session is over; "": it is not.
        retry_s: after what time another try makes sense; 0: the request does not say.
    """

    status: int
    kind: str
    detail: str
    remedy: str
    field: str = ""
    reason: str = ""
    retry_s: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """The session has ended, as the client wanted."""


Body = Joined | PollAnswer | Left | Refusal


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request, and what is known of it for logs and metrics.

    Attributes:
        request: names the request.
        body: the answer.
        profile: whose it is; None: the request did not show it.
        heartbeat_ms: how long its heartbeat took to be acknowledged; None: it was not, or none
            was written.
        is_news: whether an answer to a poll came before the wait was over.
        news_append_ms: when the record was appended that it tells of; None: not known.
    """

    request: int
    body: Body
    profile: MemberProfile | None = None
    heartbeat_ms: int | None = None
    is_news: bool = False
    news_append_ms: int | None = None


@dataclass(frozen=True, slots=True)
class News:
    """There may be news for a session: whoever watches it should poll."""

    session: str


Output = Append | Reply | News

UNAVAILABLE: Final = Refusal(
    503,
    "log_unavailable",
    "The brokers have not confirmed the heartbeat.",
    "Poll again: the lease of the answer before still counts.",
)


FULL: Final = Refusal(
    503,
    "gateway_full",
    "The gateway has as many sessions as gateway.sessions allows.",
    "Join at another gateway, or raise gateway.sessions.",
)


REASONS: Final = (
    *("lease_ended", "duplicate_client_id", "left", "session_elsewhere", "state_replayed"),
    "bad_state",
)
"""Why a session may be over."""


def session_over(reason: str, detail: str) -> Refusal:
    """Return the refusal of a session that is over."""
    remedy = "Stop everything, then join again."
    if reason == "duplicate_client_id":
        remedy = "Stop everything, and give each process its own client id."
    return Refusal(409, "lost", detail, remedy, reason=reason)


SUPERSEDED: Final = session_over("session_elsewhere", "A newer poll of it has come.")
"""The reply to a poll whose client has sent a newer one to the same gateway: nothing is lost."""

SUPERSEDED_ELSEWHERE: Final = session_over(
    "session_elsewhere", "A newer poll has come to another gateway."
)
"""The reply to a poll that waits while a newer one comes to another gateway.

Most often its client has given it up, as a client does when a gateway is slow."""


def forbidden(principal: str, right: str, group: str) -> Refusal:
    """Return the refusal of a principal without a right."""
    detail = f"{principal} has no right {right} in the group {group}."
    return Refusal(403, "forbidden", detail, "Ask for this right, or use another token.")


def unfit_poll(error: UnexpectedStopError | UnfitStandbyError) -> Refusal:
    """Return the refusal of a poll that does not fit its session."""
    if isinstance(error, UnfitStandbyError):
        return Refusal(422, "bad_field", str(error), error.remedy, error.field)
    work = error.work
    named = "/".join(map(str, work.queue))
    epoch = ".".join(map(str, work.epoch))
    return Refusal(
        422,
        "unexpected_stop",
        f"stopped: nobody asked for a stop of {named}, epoch {epoch}.",
        "Say stopped only for a queue that an answer named in stop, or with leaving.",
        "stopped",
    )
