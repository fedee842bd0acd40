"""Who may call `fairlead serve`: the view behind its guard, over real sockets."""

import contextlib
import http.client
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.access.guard import AccessGuard, guarded, right_for
from fairlead.errors import EnvironmentMissingError, ExitCode
from fairlead.gateway.routes import ROUTES
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import HttpServer, start_server
from fairlead.http.tls import tls_contexts
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import Settings, SettingsError, load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.access.access_files import made_token, principal_text
from tests.access.certificates import Authority
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.kit.decision_bodies import encoded_decision
from tests.kit.memory_topics import NAMES, PARTITIONS

GROUPS = ("orders", "orders-7", "billing")
OBSERVER, OF_ORDERS, SCRAPER, NOBODY = (made_token() for _ in range(4))


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)


def _view(settings: Settings) -> tuple[AccessGuard, ServeMetrics]:
    held = SharedView(settings.serve, 1_000, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    made = json.loads(encoded_decision(1, []))
    now_ms = time.time_ns() // 1_000_000
    held.apply(
        [
            RawRecord(
                *(NAMES.name("decisions"), 0, offset, now_ms),
                append_time_is_log=True,
                key=name.encode(),
                value=json.dumps({**made, "group": name}).encode(),
            )
            for offset, name in enumerate(GROUPS)
        ]
    )
    metrics = ServeMetrics(_following)
    streams = EventStreams(settings.http.connections, metrics.streams)
    view = application(held, _following, metrics, streams, settings)
    told = {"told_file": metrics.file_refused, "told_refusal": metrics.caller_refused}
    return guarded(view, settings, **told), metrics


@contextlib.contextmanager
def _serving(path: Path | None, **other: Any) -> Iterator[HttpServer]:
    overrides = {"access.file": None if path is None else str(path), "serve.port": 0, **other}
    settings = load_settings(overrides=overrides)
    guard, _ = _view(settings)
    server = start_server(guard, settings.serve, "serve", settings.http)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return an access file with four principals."""
    path = tmp_path / "access.toml"
    path.write_text(
        principal_text("observer", 'observe = ["orders*", "billing"]', token=OBSERVER[1])
        + principal_text("orders", 'observe = ["orders*"]', token=OF_ORDERS[1])
        + principal_text("scraper", 'observe = ["*"]', token=SCRAPER[1])
        + principal_text("nobody", 'consume = ["*"]', 'operate = ["*"]', token=NOBODY[1])
    )
    return path


def _ask(
    server: HttpServer, path: str, token: str | None = None, method: str = "GET"
) -> tuple[int, Any, Any]:
    asked = http.client.HTTPConnection(server.url.partition("//")[2], timeout=20)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        asked.request(method, path, headers=headers)
        answer = asked.getresponse()
        body = answer.read()
    finally:
        asked.close()
    kind = answer.headers.get("content-type", "")
    return answer.status, json.loads(body) if "json" in kind else body, answer.headers


def test_without_a_token_only_health_and_the_page_are_told(path: Path) -> None:
    """Without a token nothing but health and the page answers, whether or not a path exists."""
    with _serving(path) as server:
        assert _ask(server, "/healthz")[0] == 200
        assert _ask(server, "/readyz")[0] == 200
        for each in ("/metrics", "/api/v1/groups", "/api/v1/groups/orders", "/v1/x", "/x"):
            status, problem, headers = _ask(server, each)
            assert status == 401, each
            assert headers["www-authenticate"].startswith("Bearer")
            assert headers["content-type"] == "application/problem+json"
            assert problem["type"] == "urn:fairlead:no_credentials"
            assert "fairlead token new" in problem["remedy"]


def test_a_list_has_the_groups_that_one_may_observe(path: Path) -> None:
    """A list has the groups that its caller may observe, and others are refused by name."""
    with _serving(path) as server:
        shown = {
            name: {each["group"] for each in _ask(server, "/api/v1/groups", token)[1]["groups"]}
            for name, (token, _) in (("observer", OBSERVER), ("orders", OF_ORDERS), ("no", NOBODY))
        }
        assert shown == {"observer": {*GROUPS}, "orders": {"orders", "orders-7"}, "no": set()}
        for tail in ("", "/decisions", "/events"):
            status, problem, _ = _ask(server, f"/api/v1/groups/billing{tail}", OF_ORDERS[0])
            assert status == 403
            assert problem["detail"] == "orders lacks the right to observe group billing."
            assert problem["field"] == "group"
        assert _ask(server, "/api/v1/groups/orders-7", OF_ORDERS[0])[0] == 200


def test_no_refusal_tells_of_other_groups(path: Path) -> None:
    """Whether a group exists, only those learn who may observe it, and no remedy names others."""
    with _serving(path) as server:
        there = _ask(server, "/api/v1/groups/billing", OF_ORDERS[0])
        absent = _ask(server, "/api/v1/groups/billin", OF_ORDERS[0])
        assert there[0] == absent[0] == 403
        assert "billing" not in json.dumps(absent[1])
        status, problem, _ = _ask(server, "/api/v1/groups/orders-8", OF_ORDERS[0])
        assert status == 404
        assert "orders-7" in problem["remedy"]


def test_metrics_need_the_right_to_observe_all(path: Path) -> None:
    """Metrics name every group: they need the right to observe all, unless a setting opens them."""
    with _serving(path) as server:
        assert _ask(server, "/metrics", SCRAPER[0])[0] == 200
        status, problem, _ = _ask(server, "/metrics", OBSERVER[0])
        assert (status, problem["detail"]) == (
            403,
            "observer lacks the right to observe all groups.",
        )
    with _serving(path, **{"access.open_metrics": True}) as server:
        assert _ask(server, "/metrics")[0] == 200
        assert _ask(server, "/api/v1/groups")[0] == 401


def test_refusals_are_counted_and_no_token_is_told(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refusals are counted by reason; no token stands in an answer, a metric or a log."""
    wrong = made_token()[0]
    with _serving(path) as server:
        shown = [_ask(server, "/api/v1/groups", wrong)[1], _ask(server, f"/x?token={wrong}")[1]]
        shown += [_ask(server, f"/{OBSERVER[0]}", OBSERVER[0])[1]]
        assert shown[1]["type"] == shown[2]["type"] == "urn:fairlead:token_in_url"
        metrics = _ask(server, "/metrics", SCRAPER[0])[1].decode()
    assert 'fairlead_access_refusals_total{reason="bad_credentials"} 1.0' in metrics
    assert 'fairlead_access_refusals_total{reason="token_in_url"} 2.0' in metrics
    told = capsys.readouterr()
    for token in (wrong, OBSERVER[0]):
        for text in (json.dumps(shown), metrics, told.out, told.err):
            assert token not in text


def test_a_stream_ends_with_its_principal(path: Path) -> None:
    """A stream of events ends when its principal is removed, and has a limit of its own."""
    with _serving(path, **{"access.limits.streams": 1}) as server:
        stream = http.client.HTTPConnection(server.url.partition("//")[2], timeout=20)
        headers = {"Authorization": f"Bearer {OF_ORDERS[0]}"}
        stream.request("GET", "/api/v1/groups/orders/events", headers=headers)
        events = stream.getresponse()
        assert events.readline() == b": connected\n"
        status, problem, answered = _ask(server, "/api/v1/groups/orders/events", OF_ORDERS[0])
        assert (status, problem["type"]) == (429, "urn:fairlead:too_many_streams")
        assert int(answered["retry-after"]) > 0
        path.write_text(principal_text("other", 'observe = ["*"]', token=OBSERVER[1]))
        assert events.read() == b"\n"
        stream.close()

        def asked() -> bool:
            other = http.client.HTTPConnection(server.url.partition("//")[2], timeout=20)
            other.request(
                "GET",
                "/api/v1/groups/orders/events",
                headers={"Authorization": f"Bearer {OBSERVER[0]}"},
            )
            status = other.getresponse().status
            other.close()
            return status == 200

        assert await_seen(asked, what="a place for another stream")


def test_requests_have_a_rate(path: Path) -> None:
    """A principal above its rate has to wait; others go on."""
    limits = {"access.limits.requests_per_second": 1, "access.limits.requests_at_once": 2}
    with _serving(path, **limits) as server:
        found = [_ask(server, "/api/v1/groups", OBSERVER[0])[0] for _ in range(6)]
        assert found[:2] == [200, 200]
        assert 429 in found
        assert _ask(server, "/api/v1/groups", SCRAPER[0])[0] == 200


def test_a_certificate_is_its_principal(tmp_path: Path) -> None:
    """A certificate of the callers' authority is the principal that the file gives its name."""
    path, ca = tmp_path / "access.toml", Authority(tmp_path)
    path.write_text(principal_text("team", 'subjects = ["O=X,CN=team"]', 'observe = ["orders"]'))
    pair = ca.server()
    own, stranger = ca.pair("own", "O=X,CN=team"), ca.pair("stranger", "CN=stranger")
    given = {"access.file": path, "serve.port": "0", "tls.client_cafile": ca.file}
    given |= {"tls.certfile": pair.certificate, "tls.keyfile": pair.key}
    settings = load_settings(overrides={key: str(value) for key, value in given.items()})
    server = start_server(
        _view(settings)[0], settings.serve, "serve", settings.http, tls=tls_contexts(settings.tls)
    )
    try:
        statuses = []
        for shown in (own, stranger, None):
            context = ssl.create_default_context(cafile=str(ca.file))
            if shown is not None:
                context.load_cert_chain(shown.certificate, shown.key)
            where = server.url.partition("//")[2]
            asked = http.client.HTTPSConnection(where, timeout=20, context=context)
            asked.request("GET", "/api/v1/groups/orders")
            statuses.append(asked.getresponse().status)
            asked.close()
        assert statuses == [200, 401, 401]
    finally:
        server.stop()


def test_nobody_gives_himself_another_address(path: Path) -> None:
    """Failed logins count for the address of the connection, whatever a header says."""
    with _serving(path, **{"access.failures": 3}) as server:
        found = []
        for number in range(5):
            asked = http.client.HTTPConnection(server.url.partition("//")[2], timeout=20)
            headers = {"Authorization": "Bearer x", "X-Forwarded-For": f"192.0.2.{number}"}
            asked.request("GET", "/x", headers=headers)
            found.append(asked.getresponse().status)
            asked.close()
    assert found == [401, 401, 401, 429, 429]


def test_on_loopback_without_access_all_may_observe() -> None:
    """On loopback, where nobody has said who may call, everybody may."""
    with _serving(None) as server:
        assert len(_ask(server, "/api/v1/groups")[1]["groups"]) == 3
        assert _ask(server, "/metrics")[0] == 200
        assert _ask(server, "/x?token=abc")[0] == 400


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "fairlead.example"])  # noqa: S104 - refused
def test_off_loopback_access_is_demanded(host: str, path: Path) -> None:
    """A server that others reach does not start before somebody has said who may call."""
    with pytest.raises(EnvironmentMissingError, match="fairlead token new"):
        _view(load_settings(overrides={"serve.host": host}))
    _view(load_settings(overrides={"serve.host": host, "access.file": str(path)}))


def test_the_command_ends_with_its_remedy() -> None:
    """`fairlead serve` ends at once and says what to do, before it listens or asks a broker."""
    command = [sys.executable, "-m", "fairlead", "serve", "--host", "0.0.0.0", "--port", "0"]  # noqa: S104 - refused
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "fairlead token new" in done.stderr


@pytest.mark.parametrize(
    "given, key",
    [
        ({"access.jwt.jwks_file": "x"}, "access.jwt.issuer"),
        ({"access.jwt.jwks_file": "x", "access.jwt.issuer": "x"}, "access.jwt.audience"),
        ({"access.jwt.algorithms": ["HS256"]}, "access.jwt.algorithms"),
        ({"access.jwt.algorithms": ["none"]}, "access.jwt.algorithms"),
        ({"tls.certfile": "x"}, "tls.keyfile"),
        ({"tls.keyfile": "x"}, "tls.certfile"),
        ({"tls.client_cafile": "x"}, "tls.client_cafile"),
        ({"tls.client_certificate_required": True}, "tls.client_certificate_required"),
    ],
)
def test_settings_that_leave_a_gap_are_refused(given: dict[str, Any], key: str) -> None:
    """Settings that would check less than they seem to are refused by name."""
    with pytest.raises(SettingsError) as refused:
        load_settings(overrides=given)
    assert key in [problem.key for problem in refused.value.problems]


@pytest.mark.parametrize(
    "method, path, needed",
    [
        ("GET", "/api/v1/groups/a", ("observe", "a")),
        ("HEAD", "/v1/groups/a/events", ("observe", "a")),
        ("POST", "/v1/groups/a/members", ("consume", "a")),
        ("POST", "/v1/groups/a/members/", ("operate", "a")),
        ("POST", "/v1/groups/a", ("operate", "a")),
        ("POST", "/v1/groups/a/plan", ("observe", "a")),
        ("DELETE", "/v1/groups/a/members", ("consume", "a")),
        ("PATCH", "/v1/groups/a/rules", ("operate", "a")),
        ("GET", "/v1/groups/%RETRY%a", ("observe", "%RETRY%a")),
        ("GET", "/metrics", ("observe", "*")),
        ("GET", "/v1/groups", None),
        ("POST", "/v1/sessions/x/poll", None),
    ],
)
def test_each_path_needs_its_right(method: str, path: str, needed: tuple[str, str] | None) -> None:
    """Reading needs observe, joining needs consume, and whatever else there may be operate."""
    assert right_for(method, path) == needed


def test_the_guard_asks_for_the_right_of_each_route() -> None:
    """What the guard asks for is what the route asks for: neither more nor less."""
    asked = {
        (route.method, route.path): right_for(route.method, route.path.replace("{group}", "a"))
        for route in ROUTES
    }
    of_a_group = {key: found for key, found in asked.items() if "{group}" in key[1]}
    assert of_a_group
    wanted = {(each.method, each.path): (each.right, "a") for each in ROUTES}
    assert of_a_group == {key: wanted[key] for key in of_a_group}
