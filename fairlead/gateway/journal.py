"""What a gateway says and counts of its answers: one line for each event, never a state or token.

A poll that goes well is counted and not logged.
"""

import time
from typing import Final, NamedTuple

import structlog
from fairlead_client.thin.thin_words import Joined, PollAnswer

from fairlead.gateway.gateway_metrics import GatewayMetrics
from fairlead.gateway.outputs import SUPERSEDED, SUPERSEDED_ELSEWHERE, Left, Refusal, Reply
from fairlead.gateway.routes import ROUTES

__all__ = ["Asker", "Journal"]

_LOST: Final = "lost"
_SHOWN_MAX: Final = 255

log = structlog.get_logger(__name__)


class Asker(NamedTuple):
    """Who sent a request, as far as the request shows it; "": it does not."""

    principal: str = ""
    session: str = ""
    group: str = ""


class Journal:
    """Counts and logs.

    Args:
        metrics: counts there.
    """

    def __init__(self, metrics: GatewayMetrics) -> None:
        self._metrics = metrics
        self._news = metrics.polls.labels("news")
        self._quiet = metrics.polls.labels("quiet")
        self._routes = {
            route: metrics.request_seconds.labels(route)
            for route in (*(each.name for each in ROUTES), "unknown")
        }
        self._polled = metrics.requests.labels("poll", "200")

    def request(self, route: str, status: int, seconds: float) -> None:
        """Note that a request was answered."""
        if route == "poll" and status == 200:  # noqa: PLR2004 - RFC 9110
            self._polled.inc()
        else:
            self._metrics.requests.labels(route, str(status)).inc()
        self._routes[route].observe(seconds)

    def appended(self, topic: str, *, is_there: bool) -> None:
        """Note that records were appended to a topic, or may not have been."""
        self._metrics.appends.labels(topic, "appended" if is_there else "failed").inc()

    def replied(self, route: str, asker: Asker, reply: Reply) -> None:
        """Note a reply to a join, a poll or last words.

        Args:
            route: "join", "poll", "leave" or "unknown".
            asker: who asked.
            reply: the reply.
        """
        metrics, body = self._metrics, reply.body
        if reply.heartbeat_ms is not None:
            metrics.heartbeat_seconds.observe(reply.heartbeat_ms / 1_000)
        match body:
            case PollAnswer():
                (self._news if reply.is_news else self._quiet).inc()
                if reply.news_append_ms is not None:
                    since_ms = time.time_ns() // 1_000_000 - reply.news_append_ms
                    metrics.news_seconds.observe(max(0, since_ms) / 1_000)
                metrics.state_bytes.observe(len(body.state))
            case Joined():
                metrics.joins.labels("joined").inc()
                metrics.state_bytes.observe(len(body.state))
                log.info("session_joined", **_who(asker._replace(session=body.session), reply))
            case Left():
                metrics.polls.labels("left").inc()
                log.info("session_left", **_who(asker, reply))
            case Refusal() if body in (SUPERSEDED, SUPERSEDED_ELSEWHERE):
                metrics.polls.labels("superseded").inc()
            case Refusal():
                self._refused(route, body, _who(asker, reply))

    def _refused(self, route: str, body: Refusal, who: dict[str, str | None]) -> None:
        metrics, is_lost = self._metrics, body.kind == _LOST
        if route == "join":
            metrics.joins.labels("refused").inc()
        elif route != "unknown":
            metrics.polls.labels(_LOST if is_lost else "refused").inc()
        if is_lost:
            metrics.lost.labels(body.reason).inc()
            log.warning("session_lost", reason=body.reason, detail=body.detail, **who)
        else:
            metrics.refused.labels(body.kind).inc()
            log.warning("request_refused", kind=body.kind, detail=body.detail, route=route, **who)


def _who(asker: Asker, reply: Reply) -> dict[str, str | None]:
    profile = reply.profile
    return {
        "group": asker.group[:_SHOWN_MAX] or None if profile is None else profile.group,
        "client_id": None if profile is None else profile.client_id,
        "session": asker.session[:_SHOWN_MAX] or None,
        "principal": asker.principal or None,
    }
