"""The page of the console and the files that it loads: text, without any data of the cluster.

Every file is one of the folder ``pages``; its name has letters, digits, ``_``, ``-`` and single
dots, so no name leads out of that folder. All URLs in the page are relative: it works under any
path at which a proxy puts it.
"""

import gzip
import hashlib
import re
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from fairlead.http.problems import Problem

__all__ = ["PAGE_HEADERS", "Assets", "wants_page"]

PAGE_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}
"""A browser loads and asks nothing but this server, runs no script that stands in a page, and shows
the page in no frame."""

_PAGES: Final = Path(__file__).parent / "pages"
_PART: Final = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
_NAME: Final = re.compile(rf"(?:{_PART}/){{0,4}}{_PART}")
_NAME_MAX: Final = 200
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_PACKED: Final = (".css", ".html", ".js", ".json", ".svg", ".txt")
_HTML: Final = ("text/html", "application/xhtml+xml")


class _File(NamedTuple):
    changed: tuple[int, int]
    content: bytes
    packed: bytes | None
    tag: str


class Assets:
    """The files, each read when it is first asked for and again when it has changed.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path = _PAGES) -> None:
        self._folder = folder
        self._known: dict[str, _File] = {}

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        return self._answer(request, "index.html")

    async def file(self, request: Request) -> Response:
        """Answer with a file that the page loads."""
        return self._answer(request, request.path_params["file"])

    def _answer(self, request: Request, name: str) -> Response:
        file = self._file(name)
        if file is None:
            return Problem(
                404,
                "unknown_path",
                f"path: the console has no file {name[:80]}.",
                "Ask for / with Accept: text/html.",
            ).answer()
        headers = {**PAGE_HEADERS, "etag": file.tag, "vary": "accept, accept-encoding"}
        if _is_held(request.headers.get("if-none-match", ""), file.tag):
            return Response(None, 304, headers=headers)
        takes_packed = "gzip" in request.headers.get("accept-encoding", "")
        content = file.content
        if file.packed is not None and takes_packed:
            content = file.packed
            headers["content-encoding"] = "gzip"
        headers["content-type"] = _KINDS[Path(name).suffix]
        return Response(content, headers=headers)

    def _file(self, name: str) -> _File | None:
        if len(name) > _NAME_MAX or _NAME.fullmatch(name) is None:
            return None
        path = self._folder / name
        if path.suffix not in _KINDS:
            return None
        try:
            found = path.stat()
            changed = (found.st_mtime_ns, found.st_size)
            known = self._known.get(name)
            if known is None or known.changed != changed:
                known = self._known[name] = _read(path, changed)
        except OSError:
            return None
        return known


def _read(path: Path, changed: tuple[int, int]) -> _File:
    content = path.read_bytes()
    packed = gzip.compress(content, mtime=0) if path.suffix in _PACKED else None
    # Weak: packed or not, it is the same text.
    return _File(changed, content, packed, f'W/"{hashlib.sha256(content).hexdigest()[:32]}"')


def _is_held(told: str, tag: str) -> bool:
    """Tell whether a browser holds this content, as If-None-Match tells."""
    return tag in [each.strip() for each in told.split(",")]


def wants_page(request: Request) -> bool:
    """Tell whether whoever sends a request names a page among what it accepts.

    A browser does. A program that takes anything (``*/*``) gets JSON.
    """
    for each in request.headers.get("accept", "").split(","):
        kind, *parameters = (part.strip().lower() for part in each.split(";"))
        if kind in _HTML:
            return not any(re.fullmatch(r"q=0(\.0*)?", part) for part in parameters)
    return False
