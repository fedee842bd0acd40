"""The gateway over HTTP: join, poll and leave, as an ASGI application.

Each answer that is an error is ``application/problem+json`` with type, field and remedy.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol
from uuid import uuid4

import orjson
from fairlead_client.model import DataPlane, Process
from fairlead_client.thin.thin_words import Joined, PollAnswer

from fairlead.gateway.answers import joined_json, polled_json
from fairlead.gateway.callers import Receive, body_of_request, caller_gone, unless_gone
from fairlead.gateway.exchange import PollRequest
from fairlead.gateway.journal import Asker, Journal
from fairlead.gateway.member_profile import MemberProfile
from fairlead.gateway.outputs import Body, Left, Refusal, Reply, forbidden
from fairlead.gateway.poll_words import Poll
from fairlead.gateway.requests import (
    JoinBody,
    LeaveBody,
    PollBody,
    body_of,
    checked_join,
    checked_topics,
    stopped_of,
    subscriptions_of,
)
from fairlead.gateway.routes import route_of
from fairlead.gateway.service import NOT_READY, GatewayService
from fairlead.gateway.session_log import incarnation_of_session
from fairlead.http.problems import PROBLEM_TYPE, Problem
from fairlead.wire.texts import GROUP

__all__ = [
    "Access",
    "Caller",
    "Client",
    "ClientAccess",
    "GatewayApi",
    "Scope",
    "Send",
    "problem",
    "problem_of_refusal",
]

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_JSON: Final = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
_PROBLEM: Final = [(b"content-type", PROBLEM_TYPE.encode()), (b"cache-control", b"no-store")]


_EVENTS: Final = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
_LOOK_S: Final = 1.0
"""A stream looks so often whether its caller still may."""
_UNKNOWN_SESSION: Final = Refusal(
    404,
    "unknown_session",
    "The gateway does not know this session, or others opened it.",
    "Poll first: a gateway knows the sessions that it has answered.",
)


class Caller(Protocol):
    """Who sends a request."""

    @property
    def name(self) -> str:
        """The principal's name."""

    def may(self, right: str, group: str) -> bool:
        """Tell whether the caller has a right in a group."""


class Access(Protocol):
    """Tells who sends a request."""

    def caller(self, scope: Scope) -> Caller | Refusal:
        """Return who sends the request, or why it is refused."""


class Client(Caller, Protocol):
    """Who sends a request of a client: a caller who opens sessions and streams."""

    def refused_session(self, open_now: int) -> Refusal | None:
        """Return why the caller, who has so many sessions, gets no other one; None: it does."""

    def enter_stream(self) -> Callable[[], None] | Refusal:
        """Open a stream; return what closes it, or why it is refused."""

    @property
    def still_stands(self) -> bool:
        """Whether the caller is still as it was."""


class ClientAccess(Protocol):
    """Tells who sends a request of a client."""

    def caller(self, scope: Scope) -> Client | Refusal:
        """Return who sends the request, or why it is refused."""


_Answer = Callable[[Client, Scope, bytes], Awaitable[Reply]]


class GatewayApi:
    """Answers the gateway's paths.

    Args:
        service: the gateway.
        access: who may.
        key: makes the sessions of joins with an idempotency key, alike at every gateway.
        journal: counts and logs the answers.
    """

    def __init__(
        self, service: GatewayService, access: ClientAccess, key: bytes, journal: Journal
    ) -> None:
        self._service, self._access, self._key, self._journal = service, access, key, journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; its path begins with /v1/groups or /v1/sessions."""
        if scope["method"] == "GET" and scope["path"].endswith("/events"):
            await self._events(scope, receive, send)
            return
        begun = time.monotonic()
        route, answer = self._route(scope)
        if answer is None:
            principal, reply = "", Reply(0, _unknown_path(scope["path"]))
        else:
            answered = await self._answer(answer, scope, receive)
            if answered is None:
                return
            principal, reply = answered
        status, body = _result(reply.body)
        self._journal.request(route, status, time.monotonic() - begun)
        named = "" if route == "unknown" else scope["path"].split("/")[3]
        group, session = (named, "") if route == "join" else ("", named)
        self._journal.replied(route, Asker(principal, session, group), reply)
        headers = _PROBLEM if isinstance(reply.body, Refusal) else _JSON
        if isinstance(reply.body, Refusal):
            headers = [*headers, *_retry_after(reply.body), *_elsewhere(reply.body)]
        if body:
            # Else the server sends it in chunks, which costs both sides more.
            headers = [*headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _route(self, scope: Scope) -> tuple[str, _Answer | None]:
        answers = {"join": self._join, "poll": self._poll, "leave": self._leave}
        found = route_of(scope["method"], scope["path"])
        if found is None or found.route.name not in answers:
            return "unknown", None
        return found.route.name, answers[found.route.name]

    async def _answer(
        self,
        answer: _Answer,
        scope: Scope,
        receive: Receive,
    ) -> tuple[str, Reply] | None:
        """Return who asks, and the reply; None: the caller has gone."""
        caller = self._access.caller(scope)
        if isinstance(caller, Refusal):
            return "", Reply(0, caller)
        data = await body_of_request(receive)
        if data is None:
            return None
        reply = await unless_gone(
            answer(caller, scope, data), receive, look_first=self._service.stood_still
        )
        return None if reply is None else (caller.name, reply)

    async def _join(self, caller: Client, scope: Scope, data: bytes) -> Reply:
        group = scope["path"].split("/")[3]
        if not GROUP.allows(group):
            detail = f"group: {group[:80]!r} is not {GROUP.words}."
            return Reply(0, Refusal(422, "bad_field", detail, "Correct the path.", "group"))
        if not caller.may("consume", group):
            return Reply(0, forbidden(caller.name, "consume", group))
        body = body_of(JoinBody, data)
        refusal = body if isinstance(body, Refusal) else checked_join(body)
        if isinstance(body, Refusal) or refusal is not None:
            assert refusal is not None
            return Reply(0, refusal)
        wall_ms = time.time_ns() // 1_000_000
        process, joins = Process(wall_ms, str(uuid4())), 1
        if body.process is not None:
            process, joins = Process(body.process.start_ms, body.process.uuid), body.process.joins
        peer = scope.get("client")
        profile = MemberProfile(
            principal=caller.name,
            group=group,
            client_id=body.client_id,
            process=process,
            joins=joins,
            consume_from=body.consume_from,
            consume_timestamp_ms=body.consume_timestamp_ms,
            capacity=body.capacity,
            zone=body.zone,
            ordered=body.ordered,
            consume_type=body.consume_type,
            language=body.language,
            version=body.version,
            address="" if peer is None else peer[0],
            data_plane=None if body.data_plane is None else DataPlane(*body.data_plane.named),
            follows=None if body.standby is None else body.standby.follows,
        )
        session = self._session(caller, scope, group, body.client_id)
        topics = subscriptions_of(body.topics, wall_ms)
        return await self._service.join(session, profile, topics, caller.refused_session)

    def _session(self, caller: Client, scope: Scope, group: str, client_id: str) -> str:
        """Return the session of a join: the same one if the same join comes twice."""
        key = dict(scope["headers"]).get(b"idempotency-key")
        if key is None:
            return incarnation_of_session()
        named = orjson.dumps([caller.name, group, client_id, key.decode("latin-1")])
        digest = hmac.digest(self._key, b"session\0" + named, hashlib.sha256)
        return incarnation_of_session(int.from_bytes(digest[:16]))

    async def _poll(self, caller: Client, scope: Scope, data: bytes) -> Reply:
        body = body_of(PollBody, data)
        refusal = body if isinstance(body, Refusal) else checked_topics(body.topics)
        if isinstance(body, Refusal) or refusal is not None:
            assert refusal is not None
            return Reply(0, refusal)
        session = scope["path"].split("/")[3]
        words = body.poll(time.time_ns() // 1_000_000)
        may = partial(caller.may, "consume")
        asked = PollRequest(session, caller.name, body.state, words, body.wait_ms, may_consume=may)
        return await self._service.poll(asked)

    async def _events(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say when the session should poll, for clients that prefer a stream to long polls."""
        parts = scope["path"].split("/")
        caller = self._access.caller(scope)
        if isinstance(caller, Refusal):
            await _send_problem(send, caller)
            return
        leave = caller.enter_stream()
        if isinstance(leave, Refusal):
            await _send_problem(send, leave)
            return
        watching = self._service.watch(parts[3], caller.name)
        gone = asyncio.ensure_future(caller_gone(receive))
        try:
            begun = False
            while True:
                step = asyncio.ensure_future(anext(watching, None))
                if not await _comes(step, gone, caller):
                    if begun and not gone.done():
                        await send({"type": "http.response.body", "body": b""})
                    return
                told = step.result()
                if told is None and not begun:
                    await _send_problem(send, _UNKNOWN_SESSION)
                    return
                if not begun:
                    await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
                    begun = True
                if told is None:
                    await send({"type": "http.response.body", "body": b""})
                    return
                line = b"event: news\ndata: {}\n\n" if told else b": alive\n\n"
                await send({"type": "http.response.body", "body": line, "more_body": True})
        finally:
            leave()
            gone.cancel()
            await watching.aclose()

    async def _leave(self, caller: Client, scope: Scope, data: bytes) -> Reply:
        body = body_of(LeaveBody, data)
        if isinstance(body, Refusal):
            return Reply(0, body)
        session = scope["path"].split("/")[3]
        words = Poll(body.sequence, stopped=stopped_of(body), leaving=True, ending=True)
        asked = PollRequest(session, caller.name, body.state, words, 60_000, ending=True)
        return await self._service.poll(asked)


async def _comes(
    step: "asyncio.Future[bool | None]", gone: "asyncio.Future[None]", caller: Client
) -> bool:
    """Wait for the next step of a stream; tell whether its caller is still there, and still may."""
    try:
        while not step.done() and not gone.done() and caller.still_stands:
            await asyncio.wait((step, gone), timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not step.done():
            step.cancel()
            # What watches ends before somebody closes it.
            await asyncio.wait((step,))
    return not step.cancelled()


async def _send_problem(send: Send, refusal: Refusal) -> None:
    headers = [*_PROBLEM, *_retry_after(refusal)]
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": problem(refusal)})


def _retry_after(refusal: Refusal) -> list[tuple[bytes, bytes]]:
    return [(b"retry-after", b"%d" % refusal.retry_s)] if refusal.retry_s else []


def _elsewhere(refusal: Refusal) -> list[tuple[bytes, bytes]]:
    """End the connection of one that is not ready: a balancer may lead the next one elsewhere."""
    return [(b"connection", b"close")] if refusal.kind == NOT_READY.kind else []


def _result(body: Body) -> tuple[int, bytes]:
    match body:
        case Joined():
            return 201, joined_json(body)
        case PollAnswer():
            return 200, polled_json(body)
        case Left():
            return 204, b""
        case Refusal():
            return body.status, problem(body)


def problem(refusal: Refusal) -> bytes:
    """Return a refusal as the body of an answer."""
    return orjson.dumps(problem_of_refusal(refusal).to_json())


def problem_of_refusal(refusal: Refusal) -> Problem:
    """Return a refusal as a problem."""
    return Problem(
        refusal.status,
        refusal.kind,
        refusal.detail,
        refusal.remedy,
        refusal.field or None,
        headers={"retry-after": str(refusal.retry_s)} if refusal.retry_s else {},
        more={"reason": refusal.reason} if refusal.reason else {},
    )


def _unknown_path(path: str) -> Refusal:
    detail = f"There is no {path[:100]} with this method."
    return Refusal(404, "unknown_path", detail, "openapi.json at /v1/openapi.json has all paths.")
