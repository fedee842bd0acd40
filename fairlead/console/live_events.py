"""The bytes of server-sent events."""

from typing import Any, Final

import orjson

__all__ = ["ALIVE", "GONE", "RETRY", "event_bytes"]

ALIVE: Final = b": alive\n\n"
"""A comment that keeps proxies from closing a stream."""
RETRY: Final = b"retry: 2000\n\n"
"""How long a page waits until it connects again, in milliseconds."""


def event_bytes(kind: str, number: int, document: Any) -> bytes:
    """Return an event; ``number``: its id, with which a page that connects again begins."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), orjson.dumps(document))


GONE: Final = b"event: gone\ndata: {}\n\n"
"""The group of a stream is forgotten; if it comes back, a snapshot follows."""
