"""The door: it puts the gateway in front of what ``fairlead serve`` answers without it."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import orjson
import structlog
from prometheus_client import CollectorRegistry
from starlette.responses import Response

from fairlead.access.guard import Admitted, admitted
from fairlead.access.refusals import AccessError
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.gateway.api import GatewayApi
from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.gateway_metrics import GatewayMetrics, StateMetrics
from fairlead.gateway.gateway_times import GatewayTimes
from fairlead.gateway.journal import Journal
from fairlead.gateway.key_file import is_open_to_others, read_key
from fairlead.gateway.openapi import OPENAPI_FILE
from fairlead.gateway.operations import Operations
from fairlead.gateway.operator_api import OperatorApi
from fairlead.gateway.outputs import Refusal
from fairlead.gateway.routes import route_of
from fairlead.gateway.service import GatewayService
from fairlead.settings import Settings

__all__ = ["Door"]

log = structlog.get_logger(__name__)


class _Caller:
    """Who sends a request, as the guard says."""

    def __init__(self, known: Admitted) -> None:
        self._known = known
        self.name = known.principal.name

    def may(self, right: str, group: str) -> bool:
        return self._known.principal.may(right, group)

    def refused_session(self, open_now: int) -> Refusal | None:
        try:
            self._known.open_session(open_now)
        except AccessError as error:
            return _refusal(error)
        return None

    @property
    def still_stands(self) -> bool:
        return self._known.still_stands

    def enter_stream(self) -> Callable[[], None] | Refusal:
        try:
            return self._known.enter_stream()
        except AccessError as error:
            return _refusal(error)


def _refusal(error: AccessError) -> Refusal:
    problem = error.problem
    retry_s = int(problem.headers.get("retry-after", "0"))
    return Refusal(problem.status, problem.kind, problem.detail, problem.remedy, retry_s=retry_s)


class _Guarded:
    """Takes from the guard who sends a request."""

    def caller(self, scope: dict[str, Any]) -> _Caller:
        return _Caller(admitted(scope))


class Door:
    """An ASGI application: the gateway's paths, and all others.

    Args:
        settings: the settings.
        others: answers the other paths.
        data: the cluster with the messages.
        registry: where its metrics are registered.

    Attributes:
        service: the gateway behind it.
        limits: the limits for callers: each client of the gateway holds a connection.

    Raises:
        EnvironmentMissingError: the key file cannot be read, or is too short.
    """

    def __init__(
        self, settings: Settings, others: Any, data: DataCluster, registry: CollectorRegistry
    ) -> None:
        gateway = settings.gateway
        key = read_key(gateway.key_file)
        times = GatewayTimes(
            gateway.name or f"{socket.gethostname()}:{settings.serve.port}",
            gateway.lease_ms,
            gateway.poll_ms,
            gateway.drain_ms,
            gateway.sessions,
        )
        if gateway.key_file and is_open_to_others(gateway.key_file):
            log.warning("gateway_key_open", file=gateway.key_file)
        journal, access = Journal(GatewayMetrics(registry)), _Guarded()
        self.service = GatewayService(times, settings.kafka, StateSeal([key]), journal)
        registry.register(StateMetrics(self.service))
        self._api = GatewayApi(self.service, access, key, journal)
        operations = Operations(settings, lambda: contextlib.closing(data.again()))
        self._operator_api = OperatorApi(access, operations, others, journal.request)
        self._others = others
        self._contract = OPENAPI_FILE.read_bytes()
        self.limits = settings.http.model_copy(
            update={"connections": settings.http.connections + gateway.sessions}
        )

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to serve on this loop."""
        self.service.start(loop)

    def stop(self) -> None:
        """Stop."""
        self.service.stop()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._others(scope, receive, send)
            return
        method, path = scope["method"], scope["path"]
        if _is_of_gateway(method, path):
            await self._api(scope, receive, send)
        elif path == "/v1/groups" or path.startswith("/v1/groups/"):
            await self._operator_api(scope, receive, send)
        elif path == "/v1/openapi.json" and method == "GET":
            await Response(self._contract, media_type="application/json")(scope, receive, send)
        elif path == "/readyz" and self.service.trouble:
            await self._answer_not_ready(send)
        else:
            await self._others(scope, receive, send)

    async def _answer_not_ready(self, send: Any) -> None:
        """Answer with the same document as the rest of the process, about the gateway."""
        following = self.service.following
        document = {
            "ready": False,
            "reason": self.service.trouble,
            "records_behind": sum(each.behind for each in following.topics.values()),
            "records_read": following.read,
            "records_at_start": following.wanted,
        }
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": orjson.dumps(document)})


def _is_of_gateway(method: str, path: str) -> bool:
    if path.startswith("/v1/sessions/"):
        return True
    found = route_of(method, path)
    return found is not None and found.route.name == "join"
