"""Login by a cookie: who gets in, who stays out, and what no page of another site can do."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.access.access_edits import remove_token
from fairlead.access.cookies import TOKEN_BYTES_MAX, LoginCookie, csrf_of
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord
from tests.access.access_files import made_token, principal_text
from tests.answers.schema import assert_answer
from tests.kit.awaiting import await_seen
from tests.kit.decision_bodies import encoded_decision
from tests.kit.memory_topics import NAMES
from tests.kit.served_view import Answered, ServedView, serving_view

GROUPS = ("orders", "orders-7", "billing")
OPERATOR, OBSERVER = made_token(), made_token()
FAILURES = 3
KAFKA = load_settings().kafka
NAME = LoginCookie.of_cluster(KAFKA.bootstrap, KAFKA.topic_prefix).name
ME = "/api/v1/me"
LOGIN, LOGOUT = "/api/v1/login", "/api/v1/logout"


def _rows() -> list[RawRecord]:
    made = json.loads(encoded_decision(1, []))
    now_ms = time.time_ns() // 1_000_000
    return [
        RawRecord(
            *(NAMES.name("decisions"), 0, offset, now_ms),
            append_time_is_log=True,
            key=name.encode(),
            value=json.dumps({**made, "group": name}).encode(),
        )
        for offset, name in enumerate(GROUPS)
    ]


@pytest.fixture
def access(tmp_path: Path) -> Path:
    """Return an access file with one who operates orders, and one who observes them."""
    path = tmp_path / "access.toml"
    path.write_text(
        principal_text("olga", 'observe = ["*"]', 'operate = ["orders*"]', token=OPERATOR[1])
        + principal_text("otto", 'observe = ["orders*"]', token=OBSERVER[1])
    )
    return path


@pytest.fixture
def served(access: Path) -> Iterator[ServedView]:
    """Return a server with that file, on which few logins may fail."""
    few: dict[str, Any] = {"access.failures": FAILURES}
    with serving_view(_rows(), access, **few) as served:
        yield served


def _cookie(token: str) -> dict[str, str]:
    return {"Cookie": f"theme=dark; {NAME}={token}; other=1"}


def _kind(answered: Answered) -> tuple[int, str]:
    return answered.status, str(answered.document["type"]).removeprefix("urn:fairlead:")


def test_a_login_is_a_cookie_that_no_script_and_no_other_site_sees(served: ServedView) -> None:
    """A right token becomes a cookie for this server's own pages, and that is a login."""
    answered = served.ask("POST", LOGIN, {"token": OPERATOR[0]})
    assert (answered.status, answered.body) == (204, b"")
    value, *attributes = answered.headers["set-cookie"].split("; ")
    assert value == f"{NAME}={OPERATOR[0]}"
    assert attributes == ["HttpOnly", "SameSite=Strict"]
    told = served.ask("GET", ME, headers={"Cookie": value})
    assert_answer("Me", told.document)
    assert told.document["principal"] == "olga"
    assert told.document["via"] == "cookie"
    assert told.document["may_observe_all"]
    assert told.document["operate"] == ["orders*"]
    assert told.document["csrf"] == csrf_of(OPERATOR[0])
    assert told.headers["cache-control"] == "no-store"


def test_a_cookie_is_secure_where_the_browser_speaks_tls(served: ServedView) -> None:
    """A proxy speaks TLS for the server: the page's origin says so."""
    host = f"127.0.0.1:{served.port}"
    body = {"token": OPERATOR[0]}
    secure = served.ask("POST", LOGIN, body, {"Origin": f"https://{host}"})
    plain = served.ask("POST", LOGIN, body, {"Origin": f"http://{host}"})
    assert secure.headers["set-cookie"].endswith("; Secure")
    assert "Secure" not in plain.headers["set-cookie"]


def test_a_wrong_token_gets_no_cookie(served: ServedView) -> None:
    """A wrong token is 401 without a cookie, and the answer repeats nothing of it."""
    wrong = made_token()[0]
    answered = served.ask("POST", LOGIN, {"token": wrong})
    assert _kind(answered) == (401, "bad_credentials")
    assert "set-cookie" not in answered.headers
    assert wrong not in answered.body.decode()


@pytest.mark.parametrize(
    "body",
    [
        *({}, [], "x", {"token": None}, {"token": ""}, {"token": 7}, {"token": "a b"}),
        *({"token": "a;b"}, {"token": "a\r\nset-cookie: x=1"}),
        {"token": "x" * (TOKEN_BYTES_MAX + 1)},
    ],
)
def test_a_login_without_a_token_names_the_field(served: ServedView, body: object) -> None:
    """What is no token is refused by its field, and never gets into a header."""
    answered = served.ask("POST", LOGIN, body)
    assert _kind(answered) == (422, "bad_field")
    assert answered.document["field"] == "token"
    assert "set-cookie" not in answered.headers


def test_nobody_tries_many_tokens(served: ServedView) -> None:
    """Failed logins count with failed headers and cookies of the address, and in the metric."""
    tries = [
        served.ask("POST", LOGIN, {"token": made_token()[0]}),
        served.ask("GET", ME, headers=_cookie(made_token()[0])),
        served.ask("GET", ME, headers={"Authorization": f"Bearer {made_token()[0]}"}),
        served.ask("POST", LOGIN, {"token": OPERATOR[0]}),
    ]
    assert [each.status for each in tries] == [401, 401, 401, 429]
    assert int(tries[-1].headers["retry-after"]) > 0
    counted = served.metrics.registry.get_sample_value
    name = "fairlead_access_refusals_total"
    assert counted(name, {"reason": "bad_credentials"}) == 3
    assert counted(name, {"reason": "too_many_failures"}) == 1


def test_a_header_wins_over_a_cookie(served: ServedView) -> None:
    """Who sends a header means it: a right one counts, and a wrong one is no way to the cookie."""
    both = {**_cookie(OPERATOR[0]), "Authorization": f"Bearer {OBSERVER[0]}"}
    told = served.ask("GET", ME, headers=both).document
    assert (told["principal"], told["via"], told["csrf"]) == ("otto", "header", None)
    for header in ("Bearer wrong", "Basic b2xnYTp4", "Bearer"):
        wrong = {**_cookie(OPERATOR[0]), "Authorization": header}
        answered = served.ask("GET", ME, headers=wrong)
        assert _kind(answered) == (401, "bad_credentials"), header
        assert "set-cookie" not in answered.headers


def test_two_cookies_of_the_name_are_refused(served: ServedView) -> None:
    """Another server of the domain may have set one of them: nobody knows which is the login."""
    two = {"Cookie": f"{NAME}={OPERATOR[0]}; {NAME}={OBSERVER[0]}"}
    assert _kind(served.ask("GET", ME, headers=two)) == (401, "bad_credentials")


@pytest.mark.parametrize(
    "cookie",
    [NAME, f"{NAME}=", f"{NAME.title()}={{}}", f"x{NAME}={{}}", "={}", "{}"],
)
def test_a_cookie_of_another_name_is_no_login(served: ServedView, cookie: str) -> None:
    """Only the one name counts."""
    answered = served.ask("GET", ME, headers={"Cookie": cookie.format(OPERATOR[0])})
    assert _kind(answered) == (401, "no_credentials")


def test_who_is_revoked_is_logged_out(served: ServedView, access: Path) -> None:
    """A revoked token is refused within a second, and its answer lets the browser forget it."""
    headers = _cookie(OBSERVER[0])
    assert served.ask("GET", ME, headers=headers).status == 200
    remove_token(access, OBSERVER[1].id)

    def refused() -> bool:
        return served.ask("GET", ME, headers=headers).status == 401

    await_seen(refused, what="the revocation")
    answered = served.ask("GET", ME, headers=headers)
    assert answered.headers["set-cookie"].startswith(f"{NAME}=; Max-Age=0")
    assert "Log in again" in answered.document["remedy"]


def test_a_right_that_is_taken_away_is_gone_at_once(served: ServedView, access: Path) -> None:
    """Each request asks anew what its principal may: a login keeps no right."""
    headers = _cookie(OBSERVER[0])
    assert served.ask("GET", "/api/v1/groups/orders", headers=headers).status == 200
    access.write_text(principal_text("otto", 'observe = ["billing"]', token=OBSERVER[1]))

    def refused() -> bool:
        return served.ask("GET", "/api/v1/groups/orders", headers=headers).status == 403

    await_seen(refused, what="the change")
    assert served.ask("GET", "/api/v1/groups/billing", headers=headers).status == 200


def test_a_change_by_cookie_repeats_what_me_tells(served: ServedView) -> None:
    """Without the keyed hash of its own token no cookie changes anything, here or at a gateway."""
    # With it the request gets on: to the gateway, which does not run, or to what is not there.
    csrf = served.ask("GET", ME, headers=_cookie(OPERATOR[0])).document["csrf"]
    for method, path, status in (
        ("POST", "/v1/groups/orders/pause", 404),
        ("PUT", "/v1/groups/orders/rules", 404),
        ("DELETE", "/v1/groups/orders/rules/strategy", 404),
        ("POST", "/api/v1/groups/orders", 405),
    ):
        for wrong in ({}, {"x-fairlead-csrf": ""}, {"x-fairlead-csrf": csrf_of(OBSERVER[0])}):
            answered = served.ask(method, path, {}, {**_cookie(OPERATOR[0]), **wrong})
            assert _kind(answered) == (403, "csrf_missing"), (path, wrong)
        right = {**_cookie(OPERATOR[0]), "x-fairlead-csrf": csrf}
        assert served.ask(method, path, {}, right).status == status, path
        by_header = {"Authorization": f"Bearer {OPERATOR[0]}"}
        assert served.ask(method, path, {}, by_header).status == status, path


def test_reading_needs_no_proof(served: ServedView) -> None:
    """GET and HEAD change nothing, so a cookie is enough for them."""
    headers = _cookie(OPERATOR[0])
    assert served.ask("GET", "/api/v1/groups", headers=headers).status == 200
    head = served.ask("HEAD", "/api/v1/groups/orders", headers=headers)
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "Same-Origin"},
    ],
)
@pytest.mark.parametrize("path", [LOGIN, LOGOUT, "/v1/groups/orders/pause"])
def test_no_page_of_another_site_changes_anything(
    served: ServedView, headers: dict[str, str], path: str
) -> None:
    """A browser says where a request comes from; even the right proof does not help then."""
    proof = {**_cookie(OPERATOR[0]), "x-fairlead-csrf": csrf_of(OPERATOR[0])}
    body = {"token": OPERATOR[0]} if path == LOGIN else {}
    answered = served.ask("POST", path, body, {**proof, **headers})
    assert _kind(answered) == (403, "foreign_page")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_what_a_form_can_send_changes_nothing(served: ServedView, kind: str | None) -> None:
    """A form of another page sends text, fields or nothing: the console takes JSON alone."""
    given = {"Cookie": "", **({} if kind is None else {"Content-Type": kind})}
    assert _kind(served.ask("POST", LOGOUT, headers=given)) == (415, "unsupported_media_type")


def test_a_logout_lets_the_browser_forget(served: ServedView) -> None:
    """A logout ends the cookie, also when its token counts no more; it needs the proof as well."""
    right = {**_cookie(OPERATOR[0]), "x-fairlead-csrf": csrf_of(OPERATOR[0])}
    answered = served.ask("POST", LOGOUT, {}, right)
    assert answered.status == 204
    assert answered.headers["set-cookie"].startswith(f"{NAME}=; Max-Age=0; HttpOnly")
    assert _kind(served.ask("POST", LOGOUT, {}, _cookie(OPERATOR[0]))) == (403, "csrf_missing")
    assert served.ask("POST", LOGOUT, {}).status == 204


def test_tokens_in_urls_stay_refused(served: ServedView) -> None:
    """Neither the page nor a login takes a token from the URL, which stands in logs."""
    for method, path in (("POST", LOGIN), ("POST", LOGOUT), ("GET", ME)):
        answered = served.ask(
            method, f"{path}?token={OPERATOR[0]}", None if method == "GET" else {}
        )
        assert _kind(answered) == (400, "token_in_url"), path


def test_where_nobody_has_said_who_may_call_there_is_no_login() -> None:
    """Everybody is the same principal then, and a login would promise what is not so."""
    with serving_view(_rows()) as served:
        told = served.ask("GET", ME, headers=_cookie(OPERATOR[0])).document
        assert_answer("Me", told)
        assert (told["principal"], told["via"], told["csrf"]) == ("anonymous", "nobody", None)
        assert _kind(served.ask("POST", LOGIN, {"token": OPERATOR[0]})) == (409, "no_login")


def test_a_csrf_proof_is_no_token() -> None:
    """Each token has its own proof, and the proof holds nothing of the token."""
    proofs = {csrf_of(token) for token in (OPERATOR[0], OBSERVER[0])}
    assert len(proofs) == 2
    assert all(len(each) == 64 and "flt_" not in each for each in proofs)
