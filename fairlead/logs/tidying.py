"""Processes lines before they are written: removes secrets, escapes, and limits repetitions.

Each class is a processor of structlog: it gets a line's fields and returns them.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Final

import structlog

__all__ = ["REPEATING", "RateLimit", "Secrets", "escape_ids"]

Fields = MutableMapping[str, Any]

MASK: Final = "***"
_SECRET_NAME: Final = re.compile(r"(?i)pass(word|phrase|wd)|secret|credential|jaas|api_?key|token")
_NO_SECRET: Final = re.compile(r"(?i)[_-]file$|^passed")
_IN_TEXT: Final = re.compile(
    r"""(?ix) ( [\w.-]* (?: password | passwd | passphrase | secret )
            (?: ["']? \s* [=:] \s* | ["'] \s* , \s* (?= b?["'] ) ) )
        ( b?"(?: \\. | [^"\\] )*" | b?'(?: \\. | [^'\\] )*' | [^\s,;"')\]}]+ )"""
)
"""A secret after its name in a text: in a JAAS configuration, a dict or a pair."""
_IN_OPTION: Final = re.compile(
    r"""(?ix) ( (?<![\w-]) --? [\w.-]* (?: password | passwd | passphrase | secret ) \s+ )
        ( "[^"]*" | '[^']*' | \S+ )"""
)
"""A secret after a flag, as on a command line."""
_IN_URL: Final = re.compile(r"(?i)([a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/]+(?=@)")
"""The password in a URL."""
_KEY: Final = re.compile(r"[\w.-]+")
_FLAG: Final = re.compile(r"--?[\w.-]+")
_PAIR: Final = 2
_SECRET_LENGTH_MIN: Final = 4
"""A shorter secret could occur in any text."""

_STEERING: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]"
)
"""Control characters, and characters that reverse or hide text."""
_TRACES: Final = frozenset({"exception", "traceback", "stack"})
"""Fields with several lines."""

REPEATING: Final[Mapping[str, tuple[str, ...]]] = {
    "a group's step failed; the group keeps its state from before the batch": ("group", "error"),
    "records could not be published; Spark tries the batch again": (),
    "a batch's report cannot be read; its numbers are lost": (),
    "look_up_failed": ("group", "topic", "error"),
    "look_up_refused": ("error",),
    "write_failed": ("topic",),
    "http_connections_full": (),
    "requests_dropped": (),
    "requests_not_reached": (),
    "append_failed": ("topic", "reason"),
    "generations_unknown": ("reason",),
    "request_refused": ("kind", "principal", "group"),
    "session_joined": ("group", "client_id", "principal"),
    "session_lost": ("session", "reason"),
}
"""Events that may come with each batch or poll -> the fields by which two of them are equal."""


def _deeply(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with every text in it changed; other objects become texts."""
    if isinstance(value, str):
        return change(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {change(str(key)): _deeply(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_deeply(each, change) for each in value]
    return change(str(value))


class Secrets:
    """Removes secrets from lines: fields by their names, and known values anywhere.

    Args:
        known: secrets of this process, such as the password for the brokers.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        texts = {
            form
            for each in known
            if len(each) >= _SECRET_LENGTH_MIN
            for form in _written_forms(each)
        }
        # The longest first: one secret may be the beginning of another.
        self._known = sorted(texts, key=len, reverse=True)

    def __call__(self, _logger: object, _method: str, fields: Fields) -> Fields:
        """Return the fields of a line without secrets."""
        return {
            name: MASK if _names_secret(name) else self._masked(value)
            for name, value in fields.items()
        }

    def _masked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                self.mask(str(key)): MASK if _names_secret(str(key)) else self._masked(each)
                for key, each in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return self._masked_items(list(value))
        return _deeply(value, self.mask)

    def _masked_items(self, items: list[Any]) -> list[Any]:
        """Mask the value after a secret's name: the second of a pair, or a flag's argument."""
        name = _KEY if len(items) == _PAIR else _FLAG
        return [
            MASK
            if isinstance(before, str) and name.fullmatch(before) and _names_secret(before)
            else self._masked(each)
            for before, each in zip([None, *items], items, strict=False)
        ]

    def mask(self, text: str) -> str:
        """Return a text without secrets."""
        for secret in self._known:
            text = text.replace(secret, MASK)
        for pattern in (_IN_URL, _IN_OPTION, _IN_TEXT):
            text = pattern.sub(rf"\1{MASK}", text)
        return text


def _names_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and _NO_SECRET.search(name) is None


def _written_forms(secret: str) -> Iterator[str]:
    """Yield a secret plain, and in the forms of repr and JSON within their quotes."""
    yield secret
    plain = repr(secret)[1:-1]
    yield plain
    # Which quotes repr escapes depends on the rest of the text.
    yield plain.replace("\\'", "'")
    yield plain.replace("\\'", "'").replace("'", "\\'")
    yield repr(plain)[1:-1]
    yield json.dumps(plain)[1:-1]
    for ascii_only in (True, False):
        written = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield written
        yield repr(written)[1:-1]
        yield json.dumps(written)[1:-1]


def escape_ids(_logger: object, _method: str, fields: Fields) -> Fields:
    """Escape control characters, so that no id controls a terminal or ends a line.

    A traceback keeps its lines, with a prefix so that none looks like a line of the log.
    """
    return {
        name: _escape_lines(value)
        if name in _TRACES and isinstance(value, str)
        else _deeply(value, _escape)
        for name, value in fields.items()
    }


def _escape(text: str) -> str:
    return _STEERING.sub(_code, text)


def _escape_lines(text: str) -> str:
    return "\n".join(f"  | {_escape(line)}" for line in text.rstrip("\n").split("\n"))


def _code(match: "re.Match[str]") -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    code = ord(match[0])
    return short.get(match[0]) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")  # noqa: PLR2004 - the last code of two digits


class RateLimit:
    """Drops repeated lines.

    It writes the first line at once, and the next one after a while, with the number of dropped
    ones.

    Args:
        repeating: events that may repeat -> the fields by which two of them are equal.
        seconds: the least time between two such lines.
        clock: monotonic seconds.
    """

    KEYS_MAX: Final = 10_000

    def __init__(
        self,
        repeating: Mapping[str, tuple[str, ...]] = REPEATING,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._repeating = repeating
        self._seconds = seconds
        self._clock = clock
        self._written: dict[tuple[str, str], float] = {}
        self._left_out: dict[tuple[str, str], int] = {}

    def __call__(self, _logger: object, _method: str, fields: Fields) -> Fields:
        """Return the fields.

        Raises:
            structlog.DropEvent: the line is dropped.
        """
        event = str(fields.get("event"))
        if event not in self._repeating:
            return fields
        key = event, str([fields.get(name) for name in self._repeating[event]])
        now = self._clock()
        if now - self._written.get(key, -self._seconds) < self._seconds:
            self._left_out[key] = self._left_out.get(key, 0) + 1
            raise structlog.DropEvent
        if len(self._written) >= self.KEYS_MAX:
            self._written.clear()
        self._written[key] = now
        left_out = self._left_out.pop(key, 0)
        if left_out:
            fields["left_out"] = left_out
        return fields
