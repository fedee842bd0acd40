"""A small Maven repository on loopback, which can be made to fail in the ways real ones do."""

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar

from fairlead.jars import Jar
from tests.kit.awaiting import ended

_POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version></project>"""
_SETTINGS = """<ivysettings><settings defaultResolver="local"/><resolvers>
<ibiblio name="local" m2compatible="true" root="http://127.0.0.1:{0}/"/>
</resolvers></ivysettings>"""


@dataclass
class Repository:
    """What is served, and what befalls a request before it is.

    Attributes:
        files: path → content.
        requests: the paths asked for so far, in order.
        befall: called with each path; may block, or return a status to answer with instead.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    befall: Callable[[str], HTTPStatus | None] = lambda _path: None

    def add(self, jar: Jar, content: bytes) -> None:
        """Serve a jar and the description that belongs to it."""
        folder = f"/{jar.organisation.replace('.', '/')}/{jar.module}/{jar.revision}/"
        pom = _POM.format(jar.organisation, jar.module, jar.revision)
        self.files[f"{folder}{jar.module}-{jar.revision}.pom"] = pom.encode()
        self.files[folder + jar.file_name] = content

    def downloads(self, jar: Jar) -> int:
        """How often the jar itself was sent."""
        return sum(path.endswith("/" + jar.file_name) for path in self.requests)

    @contextmanager
    def serve(self, settings_file: Path) -> Iterator[None]:
        """Serve while the context is open; write the Ivy settings that name this repository."""
        handler = type("Handler", (_Handler,), {"repository": self})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            settings_file.write_text(_SETTINGS.format(server.server_port), encoding="utf-8")
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                ended(thread)


class _Handler(http.server.BaseHTTPRequestHandler):
    repository: ClassVar[Repository]

    def do_HEAD(self) -> None:
        """Answer without the content."""
        self._answer(with_content=False)

    def do_GET(self) -> None:
        """Answer with the content."""
        self._answer(with_content=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""

    def _answer(self, *, with_content: bool) -> None:
        if with_content:
            self.repository.requests.append(self.path)
        status = self.repository.befall(self.path)
        content = self.repository.files.get(self.path)
        if status is None and content is None:
            status = HTTPStatus.NOT_FOUND
        self.send_response(status or HTTPStatus.OK)
        body = content if status is None and content is not None else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_content:
            self.wfile.write(body)
