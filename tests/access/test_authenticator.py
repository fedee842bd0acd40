"""Who calls: tokens and their ends, and what nobody learns from a refusal."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.access.authenticator import Authenticator, Presented, presented
from fairlead.access.cookies import LoginCookie
from fairlead.access.principals import RIGHTS
from fairlead.access.refusals import AccessError
from fairlead.access.tokens import TokenRecord, matches
from fairlead.http.problems import Problem
from fairlead.http.watched_files import WatchedFiles
from tests.access.access_files import (
    Clock,
    access_settings,
    authenticator,
    made_token,
    principal_text,
)
from tests.kit.awaiting import await_seen

HOME = "192.0.2.1"
AWAY = "192.0.2.2"


def _refused(who: Authenticator, token: str | None, address: str = HOME) -> Problem:
    with pytest.raises(AccessError) as refused:
        who.authenticate(Presented(address, token))
    return refused.value.problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the access file is to be."""
    return tmp_path / "access.toml"


def test_a_token_is_its_principal(path: Path) -> None:
    """A token proves its principal; without one there is 401 and how to log in."""
    token, record = made_token()
    path.write_text(principal_text("team", token=record) + principal_text("other"))
    who = authenticator(path)
    assert who.authenticate(Presented(HOME, token)).name == "team"
    problem = _refused(who, None)
    assert (problem.status, problem.kind) == (401, "no_credentials")
    assert problem.headers["www-authenticate"] == 'Bearer realm="fairlead"'


def test_all_wrong_tokens_get_one_answer(path: Path) -> None:
    """Unknown, wrong, expired and malformed tokens get one answer, and it repeats nothing."""
    token, record = made_token()
    old, ended = made_token(-1)
    path.write_text(principal_text("team", token=record) + principal_text("old", token=ended))
    who = authenticator(path)
    wrong = [made_token()[0], token[:-1] + "x", token[:-1], old, "flt_", "x.y.z", "", token + "\n"]
    wrong.append(f"flt_{record.id}_{record.hash}")
    problems = [_refused(who, each) for each in wrong]
    assert {problem.answer().body for problem in problems} == {problems[0].answer().body}
    assert problems[0].status == 401
    assert 'error="invalid_token"' in problems[0].headers["www-authenticate"]
    text = str(problems[0].to_json())
    assert not any(each in text for each in wrong if len(each) > 6)


def test_a_token_ends(path: Path) -> None:
    """A token with an end is refused from that moment on."""
    token, record = made_token(60)
    path.write_text(principal_text("team", token=record))
    clock = Clock()
    who = authenticator(path, clock)
    clock.now_s += 59.9
    assert who.authenticate(Presented(HOME, token)).name == "team"
    clock.now_s += 0.1
    assert _refused(who, token).kind == "bad_credentials"


def test_the_time_of_a_comparison_tells_nothing() -> None:
    """A wrong secret takes as long as an unknown id: nobody finds ids by the clock."""
    _, record = made_token()

    def took(known: TokenRecord | None) -> float:
        begun = time.perf_counter()
        for _ in range(500):
            assert not matches(known, "x" * 43)
        return time.perf_counter() - begun

    ratios = [took(record) / took(None) for _ in range(41)]
    assert 0.6 < statistics.median(ratios) < 1.6


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "",
        lambda text: text.partition("[[principal.token]]")[0],
        lambda _: principal_text("other"),
    ],
    ids=["emptied", "token", "principal"],
)
def test_who_is_removed_is_refused_soon(path: Path, change: Callable[[str], str]) -> None:
    """Who is removed from the file is refused within about a second, without a restart."""
    token, record = made_token()
    path.write_text(principal_text("team", token=record))
    who = authenticator(path)
    team = who.authenticate(Presented(HOME, token))
    assert who.still_stands(team)
    path.write_text(change(path.read_text()))
    begun = time.monotonic()
    await_seen(lambda: not _is_known(who, token), what="the refusal", pause=0.02)
    assert time.monotonic() - begun < 1.5


def _is_known(who: Authenticator, token: str) -> bool:
    try:
        who.authenticate(Presented(HOME, token))
    except AccessError:
        return False
    return True


def test_changed_rights_are_noticed(path: Path) -> None:
    """Whoever holds a principal learns that it has changed, and that it is gone."""
    token, record = made_token()
    path.write_text(principal_text("team", 'consume = ["a"]', token=record))
    who = authenticator(path)
    team = who.authenticate(Presented(HOME, token))
    path.write_text(principal_text("team", 'consume = ["b"]', token=record))
    await_seen(lambda: not who.still_stands(team), what="the change")
    assert who.authenticate(Presented(HOME, token)).may("consume", "b")


@pytest.mark.parametrize("bad", ["[[principal]\n", "x = 1\n", None])
def test_a_bad_file_leaves_the_former_in_force(path: Path, bad: str | None) -> None:
    """A bad new file is counted, and the former one stays in force; a good one replaces it."""
    token, record = made_token()
    path.write_text(principal_text("team", token=record))
    told: list[str] = []
    who = Authenticator(access_settings(path), told=told.append, clock=Clock())
    if bad is None:
        path.unlink()
    else:
        path.write_text(bad)
    await_seen(lambda: _is_known(who, token) and told, what="the word of it")
    assert told == ["access"]
    later, its = made_token()
    path.write_text(principal_text("team", token=its))
    await_seen(lambda: _is_known(who, later), what="the new token")
    assert not _is_known(who, token)


def test_a_file_of_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    """A file that is replaced by one of the same size and time is read again."""
    path, new = tmp_path / "one", tmp_path / "two"
    for each, text in ((path, "old"), (new, "new")):
        each.write_text(text)
        os.utime(each, ns=(1, 1))
    now = [0.0]
    kept = WatchedFiles("x", [path], path.read_text, clock=lambda: now[0])
    new.rename(path)
    assert kept.current() == "old"
    now[0] += 1
    assert kept.current() == "new"


def test_guessing_is_slowed(path: Path) -> None:
    """After so many failures an address waits; others and credentials that succeeded do not."""
    token, record = made_token()
    later, its = made_token()
    path.write_text(principal_text("team", token=record) + principal_text("late", token=its))
    clock = Clock()
    who = authenticator(path, clock, failures=3, failure_window_ms=60_000)
    who.authenticate(Presented(HOME, token))
    for _ in range(3):
        assert _refused(who, made_token()[0]).status == 401
        clock.now_s += 10
    problem = _refused(who, later)
    assert (problem.status, problem.kind) == (429, "too_many_failures")
    assert problem.headers["retry-after"] == "30"
    assert who.authenticate(Presented(HOME, token)).name == "team"
    assert who.authenticate(Presented(AWAY, later)).name == "late"
    clock.now_s += 30
    assert who.authenticate(Presented(HOME, later)).name == "late"


def test_a_revoked_token_does_not_go_on(path: Path) -> None:
    """That a token succeeded once opens nothing: it is checked each time."""
    token, record = made_token()
    path.write_text(principal_text("team", token=record))
    who = authenticator(path, failures=1)
    who.authenticate(Presented(HOME, token))
    path.write_text("")
    await_seen(lambda: not _is_known(who, token), what="the refusal")
    assert _refused(who, token).status == 401


def test_without_access_everybody_may_do_everything() -> None:
    """Where nobody has said who may call, every caller is one principal with all rights."""
    who = authenticator()
    anybody = who.authenticate(Presented(HOME))
    assert anybody.name == "anonymous"
    assert all(anybody.may(right, "*") for right in RIGHTS)


def _scope(
    *headers: tuple[bytes, bytes], query: bytes = b"", path: bytes = b"/v1/groups"
) -> object:
    return {
        "client": (HOME, 1),
        "headers": list(headers),
        "raw_path": path,
        "query_string": query,
    }


@pytest.mark.parametrize("name", [b"authorization"])
def test_the_header_of_a_request(name: bytes) -> None:
    """A request shows the one token behind Bearer; other or several such headers are refused."""
    for value in (b"Bearer abc", b"bearer  abc "):
        assert presented(_scope((name, value))).token == "".join("abc")
    assert presented(_scope()).token is None
    for headers in ([(name, b"Basic abc")], [(name, b"Bearer a"), (name, b"Bearer a")]):
        shown = presented(_scope(*headers))
        assert (shown.token, shown.is_malformed) == (None, True)


def test_servers_of_other_topics_keep_other_cookies() -> None:
    """A browser sends a cookie to every port of a host; a server looks at its own alone."""
    own = LoginCookie.of_cluster("kafka-1:9092", "fairlead.")
    others = [
        LoginCookie.of_cluster("kafka-1:9092", "trial."),
        LoginCookie.of_cluster("kafka-2:9092", "fairlead."),
    ]
    sent = "; ".join(
        each.kept(token, is_secure=False).partition(";")[0]
        for each, token in zip([*others, own], ["b", "c", "a"], strict=True)
    )
    shown = presented(_scope((b"cookie", sent.encode())), own)
    assert (shown.token, shown.is_by_cookie, shown.is_malformed) == ("a", True, False)
    assert own == LoginCookie.of_cluster("kafka-1:9092", "fairlead.")


@pytest.mark.parametrize(
    "query, path",
    [
        (b"token=abc", b"/"),
        (b"a=1&access_token=abc", b"/"),
        (b"x=flt_abc_def", b"/"),
        (b"", b"/v1/flt_abc_def"),
    ],
)
def test_a_token_in_a_url_is_refused(path: bytes, query: bytes) -> None:
    """A token in a URL is refused, on loopback too: URLs stand in logs."""
    with pytest.raises(AccessError) as refused:
        authenticator().authenticate(presented(_scope(path=path, query=query)))
    assert refused.value.problem.status == 400
    assert "token revoke" in refused.value.problem.remedy
    assert presented(_scope(query=b"tokens=1&since_ms=3")).url_has_token is False
