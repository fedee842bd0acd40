"""Sets up the log of a process: its own lines and the libraries' lines in the same form."""

import contextlib
import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TextIO

import orjson
import structlog
from structlog.typing import Processor

from fairlead.logs.tidying import RateLimit, Secrets, escape_ids

__all__ = ["configure_logs", "log_form", "logs_configured"]

Form = Literal["auto", "console", "json"]
"""The forms of lines; ``auto``: console on a terminal, JSON otherwise."""

_QUIET: Final = {
    # It warns about its own slow moments, and about every retry.
    "kafka": logging.ERROR,
    "uvicorn.access": logging.ERROR,
    # It warns about each invalid request, and anybody can send those.
    "uvicorn.error": logging.ERROR,
}


def log_form(wanted: str, stream: TextIO | None = None) -> Literal["console", "json"]:
    """Return the form of a stream's lines; by default the standard error's.

    Raises:
        ValueError: there is no such form.
    """
    if wanted == "auto":
        return "console" if (stream or sys.stderr).isatty() else "json"
    if wanted not in ("console", "json"):
        raise ValueError(f"unknown form of a log: {wanted!r}")
    return "json" if wanted == "json" else "console"


def configure_logs(
    form: str = "auto",
    *,
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
    more: Iterable[Processor] = (),
) -> logging.Handler:
    """Write the log of this process to a stream, by default the standard error.

    Args:
        form: ``console``, ``json`` or ``auto``.
        secrets: texts that must never appear in it.
        stream: the stream.
        more: further processors of each line, before the removal of secrets.

    Returns:
        The handler of the libraries' lines; it is on the standard library's root logger.
    """
    stream = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        *more,
        Secrets(secrets),
        escape_ids,
    ]
    renderer = _renderer(log_form(form, stream), stream)
    structlog.configure(
        processors=[RateLimit(), *shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    handler.addFilter(_says_something)
    root = logging.getLogger()
    for former in [each for each in root.handlers if getattr(each, "is_fairleads", False)]:
        root.removeHandler(former)
    handler.is_fairleads = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(level)
    return handler


@contextlib.contextmanager
def logs_configured(form: str = "auto", *, secrets: Iterable[str] = ()) -> Iterator[None]:
    """Write the log as `configure_logs` does within the context; restore the old log after it."""
    before = structlog.get_config()
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    configure_logs(form, secrets=secrets)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.configure(**before)


def _says_something(record: logging.LogRecord) -> bool:
    """Tell whether a library's line matters; a refresh that a close interrupts does not."""
    if record.name != "kafka.cluster" or not isinstance(record.args, tuple):
        return True
    return all(type(each).__name__ != "Cancelled" for each in record.args)


def _renderer(form: Literal["console", "json"], stream: TextIO) -> Processor:
    if form == "console":
        return structlog.dev.ConsoleRenderer(
            colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    return _json


def _json(_logger: object, _method: str, fields: Any) -> str:
    """Return a line as JSON: timestamp, level and event first, then the rest."""
    first = {name: fields.pop(name) for name in ("timestamp", "level", "event") if name in fields}
    return orjson.dumps({**first, **fields}, default=str).decode()
