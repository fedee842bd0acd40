"""The files of the console: whole, of this origin, without inline code, small."""

import re
from pathlib import Path

import pytest

from tests.console.page_files import (
    INDEX,
    PAGES,
    VENDORED,
    first_load,
    imports,
    named,
    own_files,
)

SCRIPTS = own_files(".js")
FIRST_LOAD_MAX = 200_000
"""Bytes of a first load, not compressed; docs/console.md promises at most 300 KB for a page."""
ALL_MAX = 600_000
FILE_LINES_MAX = 400

ADDRESS = re.compile(r"""\b(?:https?|wss?|ftp)://[^\s"'`<>)]+|(?<=["'`(])//\w[^\s"'`]*""")
NO_ADDRESS = frozenset(("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"))
"""Names of XML, which nobody fetches."""
ROOTED = re.compile(
    r"""\b(?:href|src|action)="/|\b(?:fetch|get|post|follow|EventSource|import)\(["'`]/"""
)
DANGEROUS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\b|javascript:"
)
IN_HTML = re.compile(r"\son[a-z]+=|\sstyle=|<style|<script(?![^>]*\ssrc=)", re.IGNORECASE)
STYLE_TEXT = re.compile(r"""\sstyle=["']""")
EXPORTED = re.compile(
    r"^export (?:default |async )?(?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE
)
FROM = re.compile(r"""import \{([^}]*)\} from "(\.[^"]+)";""")
ROUTE = re.compile(r"""route\("([\w-]+)", "[^"]+", \(\) => import\("\./views/([\w-]+)\.js"\)\)""")


def test_there_is_a_page() -> None:
    """The tests below look at something."""
    assert INDEX in own_files(".html")
    assert len(SCRIPTS) > 20


def test_every_file_that_the_page_names_is_there() -> None:
    """Neither the document nor a module asks for a file that does not exist."""
    asked = {*first_load("groups")}
    for script in SCRIPTS:
        asked |= {*imports(script), *imports(script, later=True)}
    assert sorted(named(path) for path in asked if not path.is_file()) == []


def test_the_document_names_what_it_will_need() -> None:
    """The browser asks at once for each module that the shell imports, not one after another."""
    main = PAGES / "js" / "main.js"
    needed: set[Path] = set()
    waiting = [main]
    while waiting:
        new = set(imports(waiting.pop())) - needed
        needed |= new
        waiting += [each for each in new if not each.is_relative_to(VENDORED)]
    preloaded = re.findall(r'"modulepreload" href="console/([^"]+)"', INDEX.read_text("utf-8"))
    assert preloaded == sorted(named(each) for each in needed)


def test_every_imported_name_is_exported() -> None:
    """A module exports what others take from it: a browser would show an empty page."""
    missing = []
    for script in SCRIPTS:
        for names, where in FROM.findall(script.read_text(encoding="utf-8")):
            module = (script.parent / where).resolve()
            wanted = {name.split(" as ")[0].strip() for name in names.split(",")} - {""}
            missing += [f"{named(script)}: {each}" for each in sorted(wanted - exports(module))]
    assert missing == []


def exports(module: Path) -> set[str]:
    """Return the names that a module exports."""
    text = module.read_text(encoding="utf-8")
    listed = re.findall(r"export\s*\{([^}]*)\}", text)
    names = {each.split(" as ")[-1].strip() for part in listed for each in part.split(",")}
    return {*EXPORTED.findall(text), *names}


def test_every_route_has_a_page() -> None:
    """Each view of the table of routes has a title and a component."""
    routes = dict(ROUTE.findall((PAGES / "js" / "routes.js").read_text(encoding="utf-8")))
    assert len(routes) == 9
    for view in routes.values():
        text = (PAGES / "js" / "views" / f"{view}.js").read_text(encoding="utf-8")
        assert "export default function" in text, view
        assert "title" in exports(PAGES / "js" / "views" / f"{view}.js"), view


@pytest.mark.parametrize("path", own_files(".html", ".css", ".js", ".svg"), ids=named)
def test_nothing_leaves_the_origin(path: Path) -> None:
    """No file names an address elsewhere, nor one that is wrong below a path of a proxy."""
    text = path.read_text(encoding="utf-8")
    assert set(ADDRESS.findall(text)) - NO_ADDRESS == set()
    assert ROOTED.findall(text) == []
    assert not re.search(r"@import|url\(\s*['\"]?(?!data:|#)", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=named)
def test_a_name_is_never_code(path: Path) -> None:
    """No script makes elements or code of a text, nor a style attribute of one."""
    text = path.read_text(encoding="utf-8")
    assert DANGEROUS.findall(text) == []
    assert STYLE_TEXT.findall(text) == []


def test_the_document_has_no_inline_code() -> None:
    """The document obeys a policy without inline scripts, styles and handlers."""
    assert IN_HTML.findall(INDEX.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", ['<p onclick="x()">', '<p style="top:0">', "<style>p{}</style>", "<script>x()</script>"]
)
def test_inline_code_is_found(text: str) -> None:
    """The search finds each way to write code into a document."""
    assert IN_HTML.search(text)


def test_the_first_load_is_small() -> None:
    """A first load fits well into what one second of a slow line brings."""
    sizes = {named(path): path.stat().st_size for path in first_load("groups")}
    assert sum(sizes.values()) <= FIRST_LOAD_MAX, sorted(sizes.items(), key=lambda each: -each[1])


def test_all_files_together_are_small() -> None:
    """What a person gets who opens every page is small too."""
    assert sum(path.stat().st_size for path in PAGES.rglob("*") if path.is_file()) <= ALL_MAX


@pytest.mark.parametrize("path", own_files(".html", ".css", ".js"), ids=named)
def test_a_file_can_be_read(path: Path) -> None:
    """No file is too long but those of words."""
    if path.parent.name != "words":
        assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES_MAX
