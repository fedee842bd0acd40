"""A proxy that puts a server under a path of its own: it strips that path, as nginx does."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tests.kit.awaiting import LONGEST_SECONDS, ended

__all__ = ["under_a_path"]

_PART_BYTES: Final = 65_536
_OF_THE_CONNECTION: Final = {"connection", "transfer-encoding", "content-length"}


@contextlib.contextmanager
def under_a_path(url: str, path: str) -> Iterator[str]:
    """Answer below a path what a server answers at its root; yield the address with that path.

    Args:
        url: the address of the server, without a slash at the end.
        path: begins and ends with a slash.
    """
    where = url.partition("//")[2]

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not self.path.startswith(path):
                self.send_error(404)
                return
            asked = http.client.HTTPConnection(where, timeout=LONGEST_SECONDS)
            with contextlib.closing(asked):
                body = self.rfile.read(int(self.headers.get("content-length", 0))) or None
                asked.request(self.command, self.path[len(path) - 1 :], body, dict(self.headers))
                self._pass_on(asked.getresponse())

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def _pass_on(self, answer: http.client.HTTPResponse) -> None:
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            # Its end ends the answer: events are passed on as they come.
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                while part := answer.read1(_PART_BYTES):
                    self.wfile.write(part)

        def log_message(self, *said: object) -> None:
            del said

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{path}"
    finally:
        server.shutdown()
        ended(thread)
        server.server_close()
