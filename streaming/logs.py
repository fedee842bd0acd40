"""How the driver writes its log: one line per event on the standard error, in UTC."""

import logging
import sys

import structlog


def configure_logs() -> None:
    """Set up the log of this process; colours only on a terminal."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # It warns of its own slow moments, and of everything that is retried.
    logging.getLogger("kafka").setLevel(logging.ERROR)
