"""Whom a request may ask for."""

import http.client
import socket

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.http.hosts import is_allowed_host
from tests.http.raw_callers import running

LOOPBACK = ("127.0.0.1", "::1", "localhost")
NAMES = ("fairlead.example.com", "*.svc.cluster.local")


@pytest.mark.parametrize("bound", [*LOOPBACK, "0.0.0.0", "10.0.0.7", "metrics.example.com"])  # noqa: S104 - compared, not bound
@pytest.mark.parametrize("allowed", [(), NAMES])
def test_addresses_and_own_names_are_allowed(bound: str, allowed: tuple[str, ...]) -> None:
    """Addresses, as probes and Prometheus ask for, and the server's own names are always right."""
    own = ["127.0.0.1:9464", "10.1.2.3:9464", "[::1]:9464", "localhost", "LOCALHOST:9464"]
    own += [socket.gethostname(), f"{socket.gethostname()}.:9464", "localhost."]
    own.append(f"[{bound}]" if ":" in bound else bound)
    assert [each for each in own if not is_allowed_host(each, bound, allowed)] == []


@pytest.mark.parametrize("bound", LOOPBACK)
@pytest.mark.parametrize(
    "asked",
    [
        "evil.example",
        "evil.example:9464",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "[x",
        "a b",
        "[::1]evil.example",
        "127.0.0.1:evil.example",
    ],
)
def test_on_loopback_no_foreign_name_is_allowed(asked: str, bound: str) -> None:
    """On loopback no name of somebody else is right, whatever it begins with."""
    assert not is_allowed_host(asked, bound, ())
    assert not is_allowed_host(asked, bound, NAMES)


def test_the_names_of_the_settings_are_allowed() -> None:
    """Names of the settings are right, and where there are any, no others beyond loopback."""
    for bound in ("127.0.0.1", "10.0.0.7"):
        assert is_allowed_host("fairlead.example.com:80", bound, NAMES)
        assert is_allowed_host("engine.ns.SVC.cluster.local", bound, NAMES)
        assert not is_allowed_host("svc.cluster.local", bound, NAMES)
        assert not is_allowed_host("evilsvc.cluster.local", bound, NAMES)
        assert is_allowed_host("evil.example", bound, ("*",))
    assert is_allowed_host("engine.example.com", "10.0.0.7", ())


@pytest.mark.parametrize(
    "origin, method, status",
    [
        ("http://evil.example", "POST", 403),
        ("null", "DELETE", 403),
        ("https://127.0.0.1:9", "POST", 403),
        ("http://evil.example", "GET", 200),
        ("http://127.0.0.1:{port}", "POST", 200),
        (None, "POST", 200),
    ],
)
def test_no_page_of_another_site_changes_anything(
    origin: str | None, method: str, status: int
) -> None:
    """A page of another site may change nothing here, whatever its visitor's rights are."""

    async def page(request: Request) -> Response:
        del request
        return Response()

    routes = [Route("/v1/change", page, methods=["GET", "POST", "DELETE"])]
    with running(Starlette(routes=routes), bodies_under=["/v1/"]) as server:
        headers = {} if origin is None else {"Origin": origin.format(port=server.url[17:])}
        asked = http.client.HTTPConnection(server.url[7:], timeout=20)
        asked.request(method, "/v1/change", headers=headers)
        assert asked.getresponse().status == status
        asked.close()
