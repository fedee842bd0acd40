"""The answers of `fairlead serve`, over HTTP with the standard library alone.

`fairlead group list` runs often and must start at once: this file imports nothing heavy.
"""

import http.client
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

import orjson

from fairlead.errors import EnvironmentMissingError, UsageError

if TYPE_CHECKING:
    from fairlead.settings import KafkaSettings

__all__ = ["LOOPBACK", "NobodyServesError", "ask_serve", "group_path", "other_topics"]

_CONNECT_S: Final = 0.5
"""Nobody serves if no connection stands after this time."""
_ANSWER_S: Final = 10.0
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_THIS_MACHINE: Final = re.compile(r"^(127\.0\.0\.1|\[::1\])(?=:|$)")
_OK: Final = 200
_REDIRECTS: Final = 300
_NOT_LET_IN: Final = (401, 403)


class NobodyServesError(Exception):
    """Nobody answers at the address; the message says why, in a few words."""


def other_topics(answer: Mapping[str, Any], kafka: "KafkaSettings") -> str | None:
    """Return the topics of an answer in words, unless they are those of the settings.

    Brokers have several addresses: two lists that share none may be of one cluster.
    """
    bootstrap, prefix = answer.get("bootstrap"), answer.get("topic_prefix")
    if prefix == kafka.topic_prefix and _brokers(str(bootstrap)) & _brokers(kafka.bootstrap):
        return None
    return f"{bootstrap}, topics {prefix}…"


def _brokers(bootstrap: str) -> set[str]:
    """Return the brokers of a list, those of this machine under one name."""
    return {_THIS_MACHINE.sub("localhost", each.strip()) for each in bootstrap.split(",")}


def _shown(token_file: Path | None) -> dict[str, str]:
    if token_file is None:
        return {}
    try:
        token = token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"serve.token_file: {token_file} cannot be read.",
            remedy="Write a token there that `fairlead token new` has shown.",
        ) from error
    return {"Authorization": f"Bearer {token}"}


def group_path(group: str, tail: str = "") -> str:
    """Return the path of a group; ``%`` and ``|`` may stand in its name."""
    return f"/api/v1/groups/{quote(group, safe='')}{tail}"


def ask_serve(url: str, path: str, token_file: Path | None = None) -> dict[str, Any]:
    """Return the answer to a GET.

    Args:
        url: the address: ``http://host:port``.
        path: the path.
        token_file: ``serve.token_file``.

    Raises:
        NobodyServesError: nothing listens there, it is no `fairlead serve`, or it does not let this
            caller in.
        UsageError: the file with the token cannot be read.
        EnvironmentMissingError: it answers with an error.
    """
    where, headers = urlsplit(url), {"Accept": "application/json", **_shown(token_file)}
    secure = where.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(where.hostname or "", where.port, timeout=_CONNECT_S)
    try:
        connection.connect()
        if isinstance(connection.sock, socket.socket):
            connection.sock.settimeout(_ANSWER_S)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        status, body = response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise NobodyServesError(f"nobody answers at {url} ({error})") from error
    finally:
        connection.close()
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NobodyServesError(f"what answers at {url} is no fairlead serve") from error
    if not isinstance(answer, dict):
        raise NobodyServesError(f"what answers at {url} is no fairlead serve")
    if status in _NOT_LET_IN:
        raise NobodyServesError(f"{url} does not let this command in; set serve.token_file")
    if not _OK <= status < _REDIRECTS:
        raise EnvironmentMissingError(
            f"{url}: {answer.get('detail') or answer.get('error', f'status {status}')}",
            remedy=str(answer.get("remedy", "")),
        )
    return answer
