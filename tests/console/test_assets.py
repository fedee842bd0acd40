"""The page and its files over HTTP: who gets which, with which headers, and nothing else."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

import fairlead.console
from fairlead.console.assets import Assets
from tests.kit.served_view import ServedView, serving_view

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGES = Path(fairlead.console.__file__).parent / "pages"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedView]:
    """Return a server on which nobody has a right: the page needs none."""
    path = tmp_path_factory.mktemp("access") / "access.toml"
    path.write_text("")
    with serving_view([], path) as served:
        yield served


@pytest.mark.parametrize(
    "accept", [BROWSER, "text/html", "TEXT/HTML;q=0.1", "application/json, text/html"]
)
def test_a_browser_gets_the_page(served: ServedView, accept: str) -> None:
    """Whoever names HTML among what it accepts gets the page."""
    answered = served.ask("GET", "/", headers={"Accept": accept})
    assert answered.status == 200
    assert answered.headers["content-type"] == "text/html; charset=utf-8"
    assert answered.body == (PAGES / "index.html").read_bytes()
    assert "accept" in answered.headers["vary"].lower()


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/*", "text/html;q=0", ""])
def test_a_program_gets_json(served: ServedView, accept: str | None) -> None:
    """Programs, which take anything, get the index of paths as before."""
    answered = served.ask("GET", "/", headers={} if accept is None else {"Accept": accept})
    assert answered.status == 200
    assert answered.document["program"] == "fairlead serve"
    assert "accept" in answered.headers["vary"].lower()


def test_every_file_has_a_strict_policy_and_its_kind(served: ServedView) -> None:
    """Each file of the page is served as what it is, under the policy that lets nothing else in."""
    files = [each for each in PAGES.rglob("*") if each.suffix in {".js", ".css", ".svg", ".html"}]
    assert len(files) > 10
    for file in files:
        answered = served.ask("GET", f"/console/{file.relative_to(PAGES).as_posix()}")
        assert answered.status == 200, file
        assert answered.body == file.read_bytes()
        policy = answered.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert not any("unsafe" in each or "*" in each for each in policy)
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert answered.headers["referrer-policy"] == "no-referrer"
        assert answered.headers["cache-control"] == "no-cache"


def test_a_browser_that_holds_a_file_gets_it_once(served: ServedView) -> None:
    """The tag of a file's content spares the second download, and HEAD brings no body."""
    first = served.ask("GET", "/console/js/main.js")
    tag = {"If-None-Match": f'"other", {first.headers["etag"]}'}
    again = served.ask("GET", "/console/js/main.js", headers=tag)
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    head = served.ask("HEAD", "/console/js/main.js")
    assert (head.status, head.body) == (200, b"")
    assert served.ask("HEAD", "/", headers={"Accept": BROWSER}).status == 200


def test_a_file_is_packed_for_those_who_take_that(served: ServedView) -> None:
    """A browser gets the same text with fewer bytes."""
    packed = served.ask("GET", "/console/words/zh.js", headers={"Accept-Encoding": "br, gzip"})
    plain = served.ask("GET", "/console/words/zh.js")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 2


@pytest.mark.parametrize(
    "name",
    [
        "../routes.py",
        "..%2froutes.py",
        "%2e%2e/routes.py",
        "%2e%2e%2f%2e%2e%2f__init__.py",
        "js/../../routes.py",
        "js/..",
        "./index.html",
        ".",
        "..",
        "",
        "/",
        "//etc/passwd",
        "%2fetc%2fpasswd",
        "js",
        "js/",
        "js/main.js/",
        "js\\main.js",
        "js/main.js%3f",
        "INDEX.HTML%20",
        "vendor/LICENSE",
        ".gitignore",
        "nothing.js",
        "x" * 8_000 + ".js",
        "a/" * 3_000 + "b.js",
        "%F0%9F%92%A9.js",
        "%FF.js",
    ],
)
def test_no_name_leads_out_of_the_folder(served: ServedView, name: str) -> None:
    """Whatever is no file of the page is 404, without a word of the machine's folders."""
    answered = served.ask("GET", f"/console/{name}")
    assert answered.status == 404
    assert answered.headers["content-type"] == "application/problem+json"
    assert len(answered.body) < 1_000
    assert str(PAGES) not in answered.body.decode()


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """A file that changes has other content and another tag at once, and one that goes is gone."""
    assets, file = Assets(tmp_path), tmp_path / "a.js"

    def asked() -> Response:
        scope = {"type": "http", "headers": [], "path_params": {"file": "a.js"}}
        return asyncio.run(assets.file(Request(scope)))

    file.write_text("one")
    first = asked()
    assert first.body == b"one"
    file.write_text("three")
    assert asked().body == b"three"
    assert asked().headers["etag"] != first.headers["etag"]
    file.unlink()
    assert asked().status_code == 404


def test_nothing_but_reading_is_open(served: ServedView) -> None:
    """Without a login the page is there to read, and its paths take nothing else."""
    for path in ("/", "/console/js/main.js", "/console/nothing"):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            assert served.ask(method, path).status in {401, 403, 413}, (method, path)


def test_all_the_rest_needs_a_login(served: ServedView) -> None:
    """What begins like the page and is not it stays closed."""
    for path in ("/console", "/consolex", "/CONSOLE", "/index.html", "/api/v1/me", "/x"):
        assert served.ask("GET", path, headers={"Accept": BROWSER}).status == 401, path


def test_behind_a_proxy_that_takes_a_prefix_away_every_url_leads_back(served: ServedView) -> None:
    """No answer of the page names a path of the server: each URL in it is relative."""
    page = served.ask("GET", "/", headers={"Accept": BROWSER})
    text = page.body.decode()
    for attribute in ('href="', 'src="'):
        for each in text.split(attribute)[1:]:
            assert each.startswith("console/"), each[:40]
    assert "location" not in page.headers
    assert "<base" not in text
    assert "style=" not in text
