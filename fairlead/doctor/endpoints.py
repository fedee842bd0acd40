"""Checks the ports of this machine, and what answers there: the engine and `fairlead serve`."""

import socket
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import orjson

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext

__all__ = ["engine_answers", "engine_port", "serve", "serve_port"]

_SECONDS_MAX: Final = 2.0
_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - asked, not bound
_SHOWN_MAX: Final = 300
_READ_MAX: Final = 4_096
_STARTS_SECONDS_MAX: Final = 60.0
"""A start takes 6 to 13 s, longer on a busy machine; after this time it is stuck."""
_OK: Final = 200
_NOT_FOUND: Final = 404


class _Heard(NamedTuple):
    """What an address answered: the status, 0 if nothing listens; and the text.

    ``starts_seconds``: how long the program has been starting; None: it is not starting.
    """

    status: int
    text: str
    starts_seconds: float | None = None


def engine_port(context: CheckContext) -> Iterator[Answer]:
    """Ask the engine on this machine whether it is ready; else check whether its port is free."""
    settings = context.settings.metrics
    yield from _port(settings.host, settings.port, "engine", "metrics.port")


def engine_answers(context: CheckContext) -> str | None:
    """Return where an engine on this machine answers, as host:port; None: none does."""
    settings = context.settings.metrics
    if settings.port == 0:
        return None
    address = _WILDCARDS.get(settings.host, settings.host)
    heard = _ask(f"http://{_literal(address)}:{settings.port}/readyz")
    # Another program on that port has no such page.
    return None if heard.status in (0, _NOT_FOUND) else f"{address}:{settings.port}"


def serve_port(context: CheckContext) -> Iterator[Answer]:
    """Ask `fairlead serve` on this machine; else check whether its port is free."""
    settings = context.settings.serve
    yield from _port(settings.host, settings.port, "view", "serve.port")


def serve(context: CheckContext) -> Iterator[Answer]:
    """Ask the address at which commands ask `fairlead serve`."""
    url = context.settings.serve.url
    if not url:
        yield ok("serve.url is empty: commands read the topics")
        return
    heard = _ask(f"{url}/readyz")
    if heard.status == _OK:
        yield ok(f"{url} is ready")
    elif heard.status == 0:
        yield warn(
            f"nothing answers at {url} ({heard.text}): commands read the topics, which takes "
            "longer",
            "start fairlead serve, set serve.url to its address, or leave serve.url empty",
        )
    else:
        yield fail(
            f"{url}/readyz answers {heard.status}: {heard.text}",
            "wait if it has just started; else read its log, or find what else listens there",
        )


def _port(host: str, port: int, program: str, key: str) -> Iterator[Answer]:
    if port == 0:
        yield unknown(f"{key} is 0: the {program} takes any free port and logs it", f"set {key}")
        return
    address = _WILDCARDS.get(host, host)
    heard = _ask(f"http://{_literal(address)}:{port}/readyz")
    at = f"{address}:{port}"
    if heard.status == _OK:
        yield ok(f"the {program} at {at} is ready")
    elif heard.status == 0 and _is_free(host, port):
        yield ok(f"nothing listens at {at}: no {program} uses this port, and one may start")
    elif heard.status in (0, _NOT_FOUND):
        yield fail(
            f"another program uses {at} ({heard.text or heard.status})",
            f"stop it, or set {key} to another port",
        )
    elif heard.starts_seconds is not None and heard.starts_seconds <= _STARTS_SECONDS_MAX:
        yield warn(
            f"the {program} at {at} is starting: it started {heard.starts_seconds:.0f} s ago",
            "run the doctor again in a minute",
        )
    else:
        yield fail(
            f"the {program} at {at} is not ready: {heard.text}",
            "read its log; docs/running.md has the causes",
        )


def _ask(url: str) -> _Heard:
    """Fetch a page without any proxy: these addresses are ours."""
    host = urlsplit(url).hostname
    if host is None:
        return _Heard(0, "this is no address")
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=_SECONDS_MAX) as answer:
            return _Heard(answer.status, "")
    except HTTPError as error:
        with error:
            body = error.read(_READ_MAX)
        text = body.decode("utf-8", "replace")
        return _Heard(error.code, " ".join(text.split())[:_SHOWN_MAX], _starts_seconds(body))
    except URLError as error:
        return _Heard(0, f"{error.reason}")
    except (OSError, ValueError) as error:
        return _Heard(0, f"{error}")


def _starts_seconds(body: bytes) -> float | None:
    """Return how long the program has been starting, by its answer; None: it is not starting."""
    try:
        answer: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(answer, dict) or answer.get("state") != "starting":
        return None
    seconds = answer.get("started_seconds")
    return seconds if isinstance(seconds, float | int) else None


def _is_free(host: str, port: int) -> bool:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As servers do: a port that a program left a minute ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError:
        return False
    return True


def _literal(address: str) -> str:
    return f"[{address}]" if ":" in address else address
