"""Sends a request with a body of JSON, and reads the answer."""

import contextlib
import http.client
from typing import Any, NamedTuple

import orjson

__all__ = ["Answer", "Asking"]

_WAIT_S = 60


class Answer(NamedTuple):
    """An answer; ``notes``: what a command would write beside its document."""

    status: int
    document: Any
    notes: list[str]


class Asking:
    """Asks one server, with the same headers each time."""

    def __init__(self, port: int, **headers: str) -> None:
        self._port = port
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def __call__(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request and return the answer."""
        headers = {
            **self._headers,
            **({} if body is None else {"content-type": "application/json"}),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_WAIT_S)
        with contextlib.closing(connection):
            sent = None if body is None else orjson.dumps(body)
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            content = answer.read()
            notes = orjson.loads(answer.headers.get("fairlead-notes", "[]"))
            return Answer(answer.status, orjson.loads(content) if content else None, notes)
