"""Keeps credentials out of the logs of kafka-python.

At level DEBUG it logs every request, even the authentication, and every byte sent. As soon as the
process has a client with SASL credentials, this hides both; other debug lines stay.
"""

import logging
from typing import Final

REDACTED: Final = "<redacted>"
LOGGERS: Final = ("kafka.net.connection", "kafka.protocol.parser")


class CredentialFilter(logging.Filter):
    """Replaces arguments of a log record that may hold credentials; lets every record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record's arguments."""
        if isinstance(record.args, tuple):
            record.args = tuple(
                REDACTED if _may_hold_credentials(value) else value for value in record.args
            )
        return True


def _may_hold_credentials(value: object) -> bool:
    return isinstance(value, bytes | bytearray) or type(value).__name__.startswith("Sasl")


def redact_credentials() -> None:
    """Add the filter to the loggers that need it, once."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, CredentialFilter) for known in logger.filters):
            logger.addFilter(CredentialFilter())
